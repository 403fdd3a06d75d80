// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/options/options.h"

#include <cstddef>

#include "plugin/tiered_env/options/tier_options.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  using Options = TieredOptions;
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"tiers", NestedText(offsetof(Options, tiers))},
      {"placement", NestedText(offsetof(Options, placement))},
      {"mover_bytes_per_second", {offsetof(Options, mover_bytes_per_second), OptionType::kUInt64T}},
      {"mover_limiter", {offsetof(Options, mover_limiter), OptionType::kString}},
      {"mover_hours", {offsetof(Options, mover_hours), OptionType::kString}},
      {"mover", {offsetof(Options, mover), OptionType::kBoolean}},
      {"wal_amplification_high", {offsetof(Options, wal_amplification_high), OptionType::kDouble}},
      {"wal_amplification_low", {offsetof(Options, wal_amplification_low), OptionType::kDouble}},
      {"wal_budget", {offsetof(Options, wal_budget), OptionType::kUInt64T}},
      {"wal_compression", {offsetof(Options, wal_compression), OptionType::kString}},
      {"on_close", {offsetof(Options, on_close), OptionType::kString}},
      {"orphan_retention", {offsetof(Options, orphan_retention), OptionType::kUInt64T}},
      {"orphan_budget", {offsetof(Options, orphan_budget), OptionType::kUInt64T}},
      {"db_paths", {offsetof(Options, db_paths), OptionType::kString}},
      {"checkpoints", {offsetof(Options, checkpoints), OptionType::kString}},
      {"metrics_interval", {offsetof(Options, metrics_interval), OptionType::kUInt64T}},
      {"metrics_file", {offsetof(Options, metrics_file), OptionType::kString}},
      {"recovery_threads", {offsetof(Options, recovery_threads), OptionType::kUInt32T}},
  };
  return types;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
