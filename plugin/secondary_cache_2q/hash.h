// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstring>

#include "rocksdb/slice.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

inline uint64_t KeyHash(const Slice& key) { return Hash64(key.data(), key.size()); }

// The shard of a key: the top bits of its hash; the index of a shard uses the low ones.
inline uint32_t ShardOf(uint64_t hash, int shard_bits) {
  return shard_bits == 0 ? 0 : static_cast<uint32_t>(hash >> (64 - shard_bits));
}

// The SST or blob file that a cache key belongs to. By OffsetableCacheKey all keys of a file have
// the same first eight bytes, and keys of two files never do. 0 for a key that is not of a file.
inline uint64_t FileOfKey(const Slice& key) {
  uint64_t file = 0;
  if (key.size() == 16) {
    memcpy(&file, key.data(), sizeof(file));
  }
  return file;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
