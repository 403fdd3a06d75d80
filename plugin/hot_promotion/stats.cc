// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <sstream>

#include "plugin/hot_promotion/engine/engine.h"
#include "plugin/hot_promotion/factory.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

using Named = std::map<std::string, uint64_t>;

Named AllOf(const HotPromotionStats& stats) {
  Named all;
#define X(name, unit, description) all[#name] = stats.name;
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

HotPromotionStats Engine::Stats() const {
  HotPromotionStats stats;
#define X(name, unit, description) stats.name = counters_.Sum(Counter::name);
  HOT_PROMOTION_STATS(X)
#undef X
  stats.sampling = static_cast<uint64_t>(accesses_.one_in());
  stats.cache_bytes = cache_.Bytes();
  stats.store_budget = options_.budget;
  stats.store_files = catalog_.Count();
  stats.store_written_bytes = past_.written;
  stats.dropped_dead = past_.dead;
  stats.dropped_cold = past_.cold;
  stats.dropped_forced = past_.forced;
  const Guarded<Store>::Use store(store_);
  if (store) {
    stats.store_bytes = store->Bytes();
    stats.store_records = store->Records();
    stats.store_memory = store->MemoryBytes();
    stats.store_written_bytes += store->WrittenBytes();
    const Dropped& dropped = store->dropped();
    stats.dropped_dead += dropped.dead.load(std::memory_order_relaxed);
    stats.dropped_cold += dropped.cold.load(std::memory_order_relaxed);
    stats.dropped_forced += dropped.forced.load(std::memory_order_relaxed);
  }
  const RaltStats ralt = open_.load(std::memory_order_acquire) ? ralt_->Stats() : RaltStats();
#define X(name, unit, description) stats.access_table[#name] = ralt.name;
  RALT_STATS(X)
#undef X
  return stats;
}

Status GetHotPromotionStats(const TableFactory* factory, HotPromotionStats* stats) {
  std::shared_ptr<Engine> engine;
  const Status s = EngineOf(factory, &engine);
  if (s.ok()) {
    *stats = engine->Stats();
  }
  return s;
}

Status SettleHotPromotion(const TableFactory* factory) {
  std::shared_ptr<Engine> engine;
  const Status s = EngineOf(factory, &engine);
  return s.ok() ? engine->Settle() : s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
