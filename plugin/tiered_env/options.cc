// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/options.h"

#include <cstddef>

#include "plugin/tiered_env/grammar.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  using Options = TieredOptions;
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"tiers", NestedText(offsetof(Options, tiers))},
      {"placement", NestedText(offsetof(Options, placement))},
      {"mover_bytes_per_second", {offsetof(Options, mover_bytes_per_second), OptionType::kUInt64T}},
      {"mover", {offsetof(Options, mover), OptionType::kBoolean}},
  };
  return types;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
