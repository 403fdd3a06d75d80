// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/metrics.h"

#include <cmath>
#include <cstdlib>

#include "plugin/tiered_env/files/names.h"
namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr char kEnd[] = "# EOF\n";

// The value that the first sample of a metric has in a text, which is in base units there. 0 if
// there is none.
uint64_t ValueIn(const std::string& text, const Metric& metric) {
  const size_t begin = text.find("\n" + MetricsPage::NameInText(metric) + "{");
  const size_t end = begin == std::string::npos ? begin : text.find('\n', begin + 1);
  if (end == std::string::npos) {
    return 0;
  }
  const size_t blank = text.rfind(' ', end);
  const std::string value = blank > begin ? text.substr(blank + 1, end - blank - 1) : "";
  if (metric.unit != "microseconds") {
    return strtoull(value.c_str(), nullptr, 10);
  }
  const double micros = strtod(value.c_str(), nullptr) * 1e6;
  return micros > 0 && micros < 1e15 ? static_cast<uint64_t>(std::llround(micros)) : 0;
}

}  // namespace

void AddMetrics(const TieredStats& stats, bool has_memory, const MetricsPage::Labels& owner,
                MetricsPage* page) {
  for (const TieredTierStats& tier : stats.tiers) {
    MetricsPage::Labels labels = owner;
    labels.emplace_back("tier", tier.name);
#define X(name, type, unit, description) \
  page->Add({"tier_" #name, #type, unit, description}, tier.name, labels);
    TIERED_TIER_STATS(X)
#undef X
  }
  for (const TieredFamilyStats& family : stats.families) {
    MetricsPage::Labels labels = owner;
    labels.emplace_back("tier", family.tier);
    labels.emplace_back("cf", family.family);
#define X(name, type, unit, description) \
  page->Add({"family_" #name, #type, unit, description}, family.name, labels);
    TIERED_FAMILY_STATS(X)
#undef X
  }
  if (!has_memory) {
    return;
  }
  const VolatileStats& memory = stats.in_memory;
#define X(name, type, unit, description) \
  page->Add({"memory_" #name, #type, unit, description}, memory.name, owner);
  TIERED_VOLATILE_STATS(X)
#undef X
  page->Add({"memory_wal_amplification", "gauge", "ratio",
             "bytes of logs that recipes need, for each byte in memory"},
            memory.wal_amplification(), owner);
  page->Add(
      {"memory_literal", "gauge", "ratio", "share of the entries that recipes have themselves"},
      memory.literal_ratio(), owner);
  page->Add({"memory_saved_bytes", "gauge", "bytes",
             "bytes not written to durable storage; below 0: more was written"},
            static_cast<double>(memory.saved_bytes()), owner);
}

bool ReadMemoryMetrics(const std::string& text, VolatileStats* stats) {
  *stats = VolatileStats();
  if (!EndsWith(text, kEnd)) {
    return false;
  }
#define X(name, type, unit, description) \
  stats->name = ValueIn(text, {"memory_" #name, #type, unit, description});
  TIERED_VOLATILE_STATS(X)
#undef X
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
