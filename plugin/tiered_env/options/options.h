// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>
#include <unordered_map>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Names and types of TieredOptions.
const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes();

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
