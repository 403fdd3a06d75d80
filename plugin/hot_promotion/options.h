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

// InvalidArgument with the name of an option that has changed and may not while a database is open.
Status ValidateChange(const HotPromotionOptions& before, const HotPromotionOptions& after);

// How many files the store may have open: what `store_open_files` says, or else a quarter of what a database with this
// max_open_files, or the process, may.
int StoreOpenFiles(const HotPromotionOptions& options, int max_open_files);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
