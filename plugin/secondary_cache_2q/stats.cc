// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <string>

#include "plugin/secondary_cache_2q/cache.h"
#include "plugin/secondary_cache_2q/caches.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

std::string TwoQSecondaryCacheStats::ToString() const {
  std::string text;
#define X(name, type, unit, description) \
  text += "    " #name " : " + std::to_string(name) + " " #unit "\n";
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
  return text;
}

std::string TwoQSecondaryCacheStats::ToJson() const {
  std::string json;
#define X(name, type, unit, description) \
  json += (json.empty() ? "{\"" : ",\"") + std::string(#name "\":") + std::to_string(name);
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
  return json + "}";
}

TwoQSecondaryCacheStats TwoQSecondaryCache::Stats() const {
  TwoQSecondaryCacheStats stats;
  stats.smallest_shard = UINT64_MAX;
  for (const auto& shard : shards_) {
    shard->AddStats(&stats);
  }
  stats.memory += dead_.MemoryUsage();
  if (shards_.empty()) {
    stats.smallest_shard = 0;
  }
  if (carrier_ != nullptr) {
    const Carrier::Counts counts = carrier_->counts();
    stats.carry_dropped += counts.dropped;
    stats.carry_failed = counts.failed;
    stats.carry_read_bytes = counts.read_bytes;
  }
  stats.recovered = recovered_;
  stats.io_errors = store_ != nullptr ? store_->io_errors() : 0;
  return stats;
}

Status GetTwoQSecondaryCacheStats(const SecondaryCache* cache, TwoQSecondaryCacheStats* stats) {
  const auto* ours = cache != nullptr ? cache->CheckedCast<TwoQSecondaryCache>() : nullptr;
  if (ours == nullptr) {
    return Status::InvalidArgument(
        cache == nullptr ? "no secondary cache" : std::string("secondary cache ") + cache->Name(),
        "is not a TwoQSecondaryCache");
  }
  *stats = ours->Stats();
  return Status::OK();
}

void AddMetrics(const TwoQSecondaryCacheStats& stats, const MetricsPage::Labels& labels,
                MetricsPage* page) {
#define X(name, type, unit, description) \
  page->Add({#name, #type, #unit, description}, stats.name, labels);
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
}

bool GetTwoQSecondaryCacheProperty(const SecondaryCache* cache, const std::string& property,
                                   std::string* value) {
  MetricsPage page;
  if (cache == nullptr) {
    ForEachCache([&](TwoQSecondaryCache* one) {
      AddMetrics(one->Stats(), {{"cache", one->name()}}, &page);
    });
    return page.Find(property, value);
  }
  const auto* ours = cache->CheckedCast<TwoQSecondaryCache>();
  if (ours != nullptr) {
    AddMetrics(ours->Stats(), {}, &page);
  }
  return page.Find(property, value);
}

std::string TwoQSecondaryCacheMetricsText(const SecondaryCache* cache) {
  MetricsPage page;
  if (cache == nullptr) {
    ForEachCache([&](TwoQSecondaryCache* one) {
      AddMetrics(one->Stats(), {{"cache", one->name()}}, &page);
    });
    return page.Text();
  }
  const auto* ours = cache->CheckedCast<TwoQSecondaryCache>();
  if (ours == nullptr) {
    return "";
  }
  const MetricsPage::Labels labels = {{"cache", ours->name()}};
  AddMetrics(ours->Stats(), labels, &page);
  return page.Text(labels);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
