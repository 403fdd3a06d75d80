// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <string>

#include "plugin/tiered_env/tiered_env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Shows all figures, also those that follow from others: names, values as text, units.
void ForEachFigure(const VolatileStats& stats,
                   const std::function<void(const std::string& name, const std::string& value,
                                            const std::string& unit)>& show);

// Returns what a process writes to TIERS-STATS, for tools that look at the database meanwhile or
// later.
std::string EncodeStatistics(const VolatileStats& stats);
// Returns false if it was not written to its end.
bool DecodeStatistics(const std::string& text, VolatileStats* stats);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
