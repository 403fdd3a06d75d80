// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "plugin/hot_promotion/hot_promotion.h"
#include "plugin/hot_promotion/metrics_page.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Adds all figures, those of the access table as access_table_NAME, with these labels.
void AddMetrics(const HotPromotionStats& stats, const MetricsPage::Labels& labels,
                MetricsPage* page);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
