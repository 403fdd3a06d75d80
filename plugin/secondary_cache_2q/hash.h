// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "rocksdb/slice.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

inline uint64_t KeyHash(const Slice& key) { return Hash64(key.data(), key.size()); }

// The shard of a key: the top bits of its hash; the index of a shard uses the low ones.
inline uint32_t ShardOf(uint64_t hash, int shard_bits) {
  return shard_bits == 0 ? 0 : static_cast<uint32_t>(hash >> (64 - shard_bits));
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
