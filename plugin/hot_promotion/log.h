// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Looks at the records of a log or MANIFEST of the store, as far as they are of use to log::Reader. Corruption: one has
// a type or a checksum that it cannot have. A file that ends in a record is fine: a crash leaves such ones.
//
// RocksDB's reader must not see some of what this finds: at a record of a recycled log in a file that did not begin with
// one (one bit of the type makes one) it stays forever (ReadPhysicalRecord() returns kBadRecord and consumes nothing).
Status CheckLog(const Slice& contents);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
