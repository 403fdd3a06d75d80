// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <sstream>

#include "plugin/hot_promotion/engine/engine.h"
#include "plugin/hot_promotion/factory.h"
#include "plugin/hot_promotion/metrics.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

using Named = std::map<std::string, uint64_t>;

Named AllOf(const HotPromotionStats& stats) {
  Named all;
#define X(name, type, unit, description) all[#name] = stats.name;
  HOT_PROMOTION_STATS(X)
#undef X
  return all;
}

std::string Json(const Named& values, const std::string& last) {
  std::ostringstream out;
  out << "{";
  for (const auto& [name, value] : values) {
    out << "\"" << name << "\": " << value << (&name == &values.rbegin()->first ? "" : ", ");
  }
  out << last << "}";
  return out.str();
}

}  // namespace

std::string HotPromotionStats::ToString() const {
  std::ostringstream out;
  for (const auto& [name, value] : AllOf(*this)) {
    out << name << ": " << value << "\n";
  }
  for (const auto& [name, value] : access_table) {
    out << "access_table." << name << ": " << value << "\n";
  }
  return out.str();
}

std::string HotPromotionStats::ToJson() const {
  return Json(AllOf(*this), ", \"access_table\": " + Json(access_table, ""));
}

Status GetHotPromotionStats(const TableFactory* factory, HotPromotionStats* stats) {
  std::shared_ptr<Engine> engine;
  const Status s = EngineOf(factory, &engine);
  if (s.ok()) {
    *stats = engine->Stats();
  }
  return s;
}

bool GetHotPromotionProperty(const TableFactory* factory, const std::string& property,
                             std::string* value) {
  HotPromotionStats stats;
  MetricsPage page;
  if (GetHotPromotionStats(factory, &stats).ok()) {
    AddMetrics(stats, {}, &page);
  }
  return page.Find(property, value);
}

std::string HotPromotionMetricsText(const TableFactory* factory) {
  std::shared_ptr<Engine> engine;
  return EngineOf(factory, &engine).ok() ? engine->MetricsText() : "";
}

Status SettleHotPromotion(const TableFactory* factory) {
  std::shared_ptr<Engine> engine;
  const Status s = EngineOf(factory, &engine);
  return s.ok() ? engine->Settle() : s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
