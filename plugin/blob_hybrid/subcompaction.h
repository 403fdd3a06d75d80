// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is known of the compaction that the calling thread is running. Nothing but the time of
// merging depends on it.

#pragma once

#include <cstdint>

#include "rocksdb/slice.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Begins a compaction whose filter is being made: nothing is known of it.
void ForgetCompaction();

// The output level. RocksDB tells it to listeners, after it has made the filter, and does not
// always tell it.
void SetOutputLevel(uint32_t family, int level);
// The level of a family's compaction. -1: not known.
int OutputLevel(uint32_t family);

// Notes that an entry has a large value: the filter has read it. By its reference alone it may look
// like a medium one, for that has the size after compression.
void NoteLarge(const Slice& user_key, SequenceNumber sequence);
// Tells whether an entry is the one that was noted last. RocksDB may have set its sequence number
// to 0.
bool IsNotedLarge(const Slice& user_key, SequenceNumber sequence);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
