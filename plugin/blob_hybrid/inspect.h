// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Opens a database for reading, with the options that it was opened with last, and hands each of
// its families to `look`, until one fails. Errors: those of LoadLatestOptions(),
// DB::OpenForReadOnly() and `look`.
Status LookAtFamilies(const std::string& path,
                      const std::function<Status(const Options&, DB*, ColumnFamilyHandle*)>& look);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
