// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/cache.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Checks whether RocksDB can read the block of this role that these uncompressed bytes are.
// RocksDB's callback makes an object of any bytes. RocksDB finds out that they are no block only
// when it reads that object, each time anew. Or it never finds out: it takes for granted that the
// entries of a data block lie within it.
//
// Corruption: they are no block. Checks data blocks entry by entry, and the restart points of
// indexes. Incomplete: they may be no block, or something else. The role kOtherBlock is that of
// range deletions, which are a block like one of data, and of dictionaries, which are any bytes.
// Other objects are not checked.
//
// Incomplete, too: a block of data with separate values. RocksDB counts entries to see which ones
// have the place of a value, by an interval that is a property of the SST, and does not check where
// that place is. No other block has separate values.
Status CheckBlock(CacheEntryRole role, const Slice& bytes);

// Whether the bytes have the form of a block of data or range deletions (`entries`), or of an
// index. Blocks with separate values do not count.
bool SoundBlock(const Slice& bytes, bool entries);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
