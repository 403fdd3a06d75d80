// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Checks the records of a log or MANIFEST of the store, as far as log::Reader uses them.
// Corruption: a record has an impossible type or a wrong checksum. A file that ends within a record
// is fine: a crash leaves such files.
//
// RocksDB's reader must not see some of the damage that this finds. At a record of a recycled log,
// in a file that did not begin with such a record, it stays forever: ReadPhysicalRecord() returns
// kBadRecord and consumes nothing. One flipped bit of the type makes such a record.
Status CheckLog(const Slice& contents);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
