// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Names and types of BlobHybridOptions.
const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes();

// Checks the ranges of options. InvalidArgument, with the option's name.
Status Validate(const BlobHybridOptions& options);

// Tells whether a family with these options can have the plugin. InvalidArgument, with the name of
// RocksDB's option that is wrong or missing.
Status ValidateFamily(const BlobHybridOptions& options, const DBOptions& db,
                      const ColumnFamilyOptions& family);

// Tells whether a family's SSTs are written by a BlobHybridTable.
bool HasTable(const ColumnFamilyOptions& family);

bool HasListener(const std::vector<std::shared_ptr<EventListener>>& listeners);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
