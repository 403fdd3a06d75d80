// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Where the data blocks of a finished SST are.

#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Each block has a trailer: a byte for the compression and four for the checksum.
constexpr size_t kBlockTrailerSize = 5;

struct BlockBounds {
  uint64_t offset = 0;
  uint64_t size = 0;  // as stored, without the trailer
  bool compressed = false;
};

struct DataBlocks {
  ChecksumType checksum = kNoChecksum;  // of blocks
  uint32_t context = 0;             // what their checksums depend on beside the bytes, 0: nothing
  std::vector<BlockBounds> blocks;  // of data
};

// Finds the data blocks of `sst`, a whole file, by its index. Knows RocksDB's block-based tables:
// format versions 2 to the latest, every index type. The bounds ascend, do not overlap, and are
// within the file, trailers too. NotSupported: another kind of table, or a compressed index that
// this RocksDB cannot read. Corruption: damaged, or written by a RocksDB that does it another way.
// There are no blocks then. Checksums are looked at where a block is compressed. Thread-safe.
Status FindDataBlocks(const Slice& sst, DataBlocks* data_blocks);

// What stands behind `block`, which is at `offset` of its file: the trailer of a block that is not
// compressed.
void EncodeBlockTrailer(const Slice& block, uint64_t offset, ChecksumType checksum,
                        uint32_t context, char* out);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
