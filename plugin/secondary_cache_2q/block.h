// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The number of a block in its shard, from 0 on. A number is used again when its block is gone.
using BlockId = uint32_t;
constexpr BlockId kNoBlock = UINT32_MAX;
// Blocks that a shard may hold: an id fits into 27 bits, with one value to spare.
constexpr BlockId kMostBlocks = (1u << 27) - 1;

// How the bytes of a block are to be read back.
struct Encoding {
  uint32_t raw_size = 0;  // bytes after our own decompression; the stored size if codec is 0
  uint8_t codec = 0;      // our own compression, a CompressionType
  uint8_t type = 0;       // compression that RocksDB itself undoes, a CompressionType
  uint8_t source = 0;     // who it came from, a CacheTier
};

// A block that somebody works with: one that is being stored, read or evicted. What is known of all
// others is their shard's and the Store's affair, by id. In DRAM each block has such an object for
// life; one in a file has it for as long as it is used.
//
// Ownership: counted. Each reader and the writer of the cache file hold a reference, in DRAM AM
// does, too. The Store deletes it with the last one.
// Thread safety: the shard's mutex guards `id` in DRAM, and `next`. The Store guards `refs`. All
// else is constant once the block is in AM.
struct Block {
  Block* next = nullptr;  // in a list of victims
  const char* key_data = nullptr;
  uint64_t hash = 0;  // in a file that of one who asked: its tag and shard are those of the block
  uint64_t file = 0;  // as FileOfKey() finds it, of a block that is being stored
  size_t charge = 0;  // bytes against the capacity
  std::atomic<uint32_t> refs{1};
  uint32_t shard = 0;
  BlockId id = kNoBlock;
  uint32_t size = 0;       // stored bytes; of a block in a file known while it is being stored
  uint16_t key_size = 0;   // 0: the key is not known
  bool lasting = true;     // its key means the same after a reopen of the database
  bool recovered = false;  // found in the cache file: another process may have made its bytes
  Encoding encoding;       // known as `size` is

  Slice Key() const { return Slice(key_data, key_size); }
  // Whether it is the block of this key, as far as is known before it is read.
  bool MayBe(const Slice& key) const { return key_size == 0 || Key() == key; }
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
