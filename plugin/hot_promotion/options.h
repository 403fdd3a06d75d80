// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>
#include <unordered_map>

#include "plugin/hot_promotion/hot_promotion.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Names and types of HotPromotionOptions.
const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes();

// InvalidArgument, with the option's name.
Status Validate(const HotPromotionOptions& options);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
