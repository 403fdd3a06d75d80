// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/advanced_cache.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Whether RocksDB can read the block that `helper` makes of these uncompressed bytes. Its callback makes an
// object of any bytes: that they are no block it finds out when it reads that object, each time anew, or not at
// all, for it takes it for granted that the entries of a data block lie within it. Checked are data blocks and
// range deletions, entry by entry; of index blocks the restart points. Other objects are not checked.
bool ReadableBlock(const Cache::CacheItemHelper* helper, const Slice& bytes);

// The same for a block of data or range deletions (`entries`), or of an index.
bool SoundBlock(const Slice& bytes, bool entries);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
