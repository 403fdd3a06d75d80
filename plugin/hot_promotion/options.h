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

// Checks all options. InvalidArgument, with the option's name.
Status Validate(const HotPromotionOptions& options);

// Checks a change while a database is open. InvalidArgument with the name of an option that may not
// change then.
Status ValidateChange(const HotPromotionOptions& before, const HotPromotionOptions& after);

// Returns how many files the store may have open: what `store_open_files` says. If it is 0: a
// quarter of this max_open_files, or of what the process may open, whichever is less.
int StoreOpenFiles(const HotPromotionOptions& options, int max_open_files);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
