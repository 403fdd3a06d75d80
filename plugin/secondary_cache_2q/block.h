// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// How the bytes of a block are to be read back.
struct Encoding {
  uint32_t raw_size = 0;  // bytes after our own decompression; the stored size if codec is 0
  uint8_t codec = 0;      // our own compression, a CompressionType
  uint8_t type = 0;       // compression that RocksDB itself undoes, a CompressionType
  uint8_t source = 0;     // who it came from, a CacheTier
};

// A block held by the cache: the bookkeeping; where the bytes are is the Store's affair.
//
// Ownership: counted. AM holds one reference, each reader and the writer of the cache file one. Who
// drops the last one hands the block to Store::Destroy().
// Thread safety: the shard's mutex guards the list links, `used`, `promoted` and `carried`; refs is
// atomic; all else is constant once the block is in AM.
struct Block {
  // AM's LRU list. An evicted block uses `older` to hang in the list of victims.
  Block* newer = nullptr;
  Block* older = nullptr;
  // The blocks of the same SST, or the values of the same blob file, in this shard.
  Block* file_prev = nullptr;
  Block* file_next = nullptr;

  const char* key_data = nullptr;
  uint64_t hash = 0;
  uint64_t used = 0;  // grows with each use of any block; guarded by the shard's mutex
  size_t charge = 0;  // bytes against the capacity
  std::atomic<uint32_t> refs{1};
  uint32_t shard = 0;
  bool promoted = false;   // the primary cache has a copy; guarded by the shard's mutex
  bool carried = false;    // nobody has asked for it since; guarded by the shard's mutex
  bool lasting = true;     // its key means the same after a reopen of the database
  bool recovered = false;  // found in the cache file: another process may have made its bytes
  uint32_t size = 0;       // stored bytes
  uint16_t key_size = 0;
  Encoding encoding;

  Slice Key() const { return Slice(key_data, key_size); }
  void Ref() { refs.fetch_add(1, std::memory_order_relaxed); }
  // True if this was the last reference.
  bool Unref() { return refs.fetch_sub(1, std::memory_order_acq_rel) == 1; }
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
