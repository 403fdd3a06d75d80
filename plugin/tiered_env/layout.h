// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Where the data blocks of a finished SST are.

#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

struct BlockBounds {
  uint64_t offset = 0;
  uint64_t size = 0;         // as stored, without the trailer
  bool compressed = false;
};

// Finds the data blocks of `sst`, a whole file, by its index. Knows RocksDB's block-based tables: format
// versions 2 to the latest, every index type. The bounds ascend, do not overlap, and are within the file.
// NotSupported: another kind of table. Corruption: damaged, or written by a RocksDB that does it another way.
// In both cases there are no blocks. Checksums of blocks are not looked at. Thread-safe.
Status FindDataBlocks(const Slice& sst, std::vector<BlockBounds>* blocks);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
