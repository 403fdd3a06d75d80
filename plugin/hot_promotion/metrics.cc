// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/metrics.h"

#include "plugin/hot_promotion/ralt/stats.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

void AddMetrics(const HotPromotionStats& stats, const MetricsPage::Labels& labels,
                MetricsPage* page) {
#define X(name, type, unit, description) \
  page->Add({#name, #type, unit, description}, stats.name, labels);
  HOT_PROMOTION_STATS(X)
#undef X
  const auto of_table = [&](const char* name) {
    const auto it = stats.access_table.find(name);
    return it == stats.access_table.end() ? 0 : it->second;
  };
#define X(name, type, unit, description) \
  page->Add({"access_table_" #name, #type, #unit, description}, of_table(#name), labels);
  RALT_STATS(X)
#undef X
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
