// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>

#include "plugin/secondary_cache_2q/coding.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The hash of a key. That of a 16-byte key, as all of RocksDB's are, decides in which shard of a
// cache file the block is, and must not change: it is what the preview of XXH3 that RocksDB has
// makes of 16 bytes. libxxhash's XXH3 differs.
inline uint64_t KeyHash(const Slice& key) {
  if (key.size() != 16) {
    return std::hash<std::string_view>()(std::string_view(key.data(), key.size()));
  }
  const uint64_t low = DecodeFixed64(key.data()) ^ 0xbe4ba423396cfeb8;
  const uint64_t high = DecodeFixed64(key.data() + 8) ^ 0x1cad21f72c81017c;
  const auto product = static_cast<unsigned __int128>(low) * high;
  uint64_t hash = 16 + low + high;
  hash += static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  hash = (hash ^ hash >> 37) * 0x165667b19e3779f9;
  return hash ^ hash >> 32;
}

// The shard of a key: the top bits of its hash; the index of a shard uses the low ones.
inline uint32_t ShardOf(uint64_t hash, int shard_bits) {
  return shard_bits == 0 ? 0 : static_cast<uint32_t>(hash >> (64 - shard_bits));
}

// The half of a cache key that is behind the file: which block of it.
inline uint64_t BlockOfKey(const Slice& key) {
  uint64_t block = 0;
  if (key.size() == 16) {
    memcpy(&block, key.data() + sizeof(block), sizeof(block));
  }
  return block;
}

// The SST or blob file that a cache key belongs to. All keys of a file have the same first eight
// bytes, and keys of two files never do. 0 for a key that is not of a file.
inline uint64_t FileOfKey(const Slice& key) {
  uint64_t file = 0;
  if (key.size() == 16) {
    memcpy(&file, key.data(), sizeof(file));
  }
  return file;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
