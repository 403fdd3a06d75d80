// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "plugin/tiered_env/metrics_page.h"
#include "plugin/tiered_env/tiered_env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Adds all figures: those of tiers as tier_NAME, with the label `tier`, those of column families
// that have a budget as family_NAME, with the label `cf` besides, those of tiers in memory as
// memory_NAME, if there are such tiers. All have the labels of `owner`.
void AddMetrics(const TieredStats& stats, bool has_memory, const MetricsPage::Labels& owner,
                MetricsPage* page);

// Reads the figures of tiers in memory from a statistics file; false if it is not complete.
bool ReadMemoryMetrics(const std::string& text, VolatileStats* stats);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
