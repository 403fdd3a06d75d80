// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "rocksdb/compression_type.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Uncompresses what a block of an SST (format version 2 or later) holds, without a dictionary.
// NotSupported: this RocksDB was built without the method, or it is not one of RocksDB's own.
// Corruption: damaged.
Status UncompressBlock(CompressionType type, const Slice& data, std::string* result);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
