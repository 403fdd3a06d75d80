// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/advanced_cache.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Whether RocksDB can read the block that `helper` makes of these uncompressed bytes. RocksDB's
// callback makes an object of any bytes. RocksDB finds out that they are no block only when it
// reads that object, each time anew. Or it never finds out: it takes for granted that the entries
// of a data block lie within it.
// Checks data blocks and range deletions entry by entry, and the restart points of index blocks.
// Other objects are not checked.
bool ReadableBlock(const Cache::CacheItemHelper* helper, const Slice& bytes);

// Whether the bytes have the form of a block of data or range deletions (`entries`), or of an
// index.
bool SoundBlock(const Slice& bytes, bool entries);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
