// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>
#include <unordered_map>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/file_system.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Returns the options that can be set by name.
const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes();

// Checks each option. InvalidArgument names the option, its value and the rule.
Status Validate(const RawWalOptions& options);

// Checks that a target can have the stubs of logs. InvalidArgument: one with SSTs in memory, which
// must see the logs, would see their stubs.
Status CheckTarget(const FileSystem& target);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
