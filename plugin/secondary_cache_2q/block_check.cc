// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/block_check.h"

#include <cstdint>

#include "rocksdb/version.h"
#include "table/block_based/block_cache.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// The last word of a block: flags, and the number of restart points.
constexpr uint32_t kHashIndex = 1u << 31;
#if ROCKSDB_MAJOR >= 11
constexpr uint32_t kUniformKeys = 1u << 29;
constexpr uint32_t kSeparateValues = 1u << 28;
#else
constexpr uint32_t kUniformKeys = 0;
constexpr uint32_t kSeparateValues = 0;
#endif

// Keys of data blocks are internal keys: their last bytes are sequence number and type.
constexpr uint64_t kLeastKey = 8;

// The end of a block: what follows its entries.
struct Restarts {
  const char* points = nullptr;  // 32 bits each, right behind the entries
  uint32_t count = 0;
  uint32_t entries = 0;  // bytes
  bool separate_values = false;
  uint32_t Point(uint32_t i) const { return DecodeFixed32(points + i * sizeof(uint32_t)); }
};

bool FindRestarts(Slice bytes, Restarts* result) {
  if (bytes.size() < 2 * sizeof(uint32_t) || bytes.size() > UINT32_MAX) {
    return false;
  }
  const uint32_t footer = DecodeFixed32(bytes.data() + bytes.size() - sizeof(uint32_t));
  bytes.remove_suffix(sizeof(uint32_t));
  result->separate_values = (footer & kSeparateValues) != 0;
  uint64_t keys = UINT64_MAX;  // bytes; then come the values
  if (result->separate_values) {
    if (bytes.size() < sizeof(uint32_t)) {
      return false;
    }
    keys = DecodeFixed32(bytes.data() + bytes.size() - sizeof(uint32_t));
    bytes.remove_suffix(sizeof(uint32_t));
  }
  if ((footer & kHashIndex) != 0) {
    // Buckets of a byte each, and their number in 16 bits, as are offsets in such a block.
    const uint64_t buckets = bytes.size() < sizeof(uint16_t) || bytes.size() > UINT16_MAX
                                 ? 0
                                 : DecodeFixed16(bytes.data() + bytes.size() - sizeof(uint16_t));
    if (buckets == 0 || buckets + sizeof(uint16_t) > bytes.size()) {
      return false;
    }
    bytes.remove_suffix(sizeof(uint16_t) + buckets);
  }
  result->count = footer & ~(kHashIndex | kUniformKeys | kSeparateValues);
  const uint64_t size = uint64_t{result->count} * sizeof(uint32_t);
  if (result->count == 0 || size > bytes.size()) {
    return false;
  }
  bytes.remove_suffix(size);
  result->points = bytes.data() + bytes.size();
  result->entries = static_cast<uint32_t>(bytes.size());
  return !result->separate_values || keys <= result->entries;
}

// The first restart point is at 0; the others come in order, each at an entry.
bool InOrder(const Restarts& restarts) {
  for (uint32_t i = 1; i < restarts.count; i++) {
    if (restarts.Point(i) <= restarts.Point(i - 1) || restarts.Point(i) >= restarts.entries) {
      return false;
    }
  }
  return restarts.Point(0) == 0;
}

// Whether the entries fill the block exactly. An entry has three lengths: the bytes of the key that
// it shares with the entry before, its own bytes of the key, and the bytes of the value. Its own
// bytes of the key and the value follow.
bool EntriesFit(const char* data, const Restarts& restarts) {
  Slice left(data, restarts.entries);
  uint64_t key = 0;
  uint32_t next = 0;  // restart point
  while (!left.empty()) {
    if (next < restarts.count &&
        restarts.Point(next) == static_cast<uint32_t>(left.data() - data)) {
      next++;
      key = 0;  // has all of its key
    }
    uint32_t shared;
    uint32_t own;
    uint32_t value;
    if (!GetVarint32(&left, &shared) || !GetVarint32(&left, &own) || !GetVarint32(&left, &value) ||
        shared > key || uint64_t{own} + value > left.size() || uint64_t{shared} + own < kLeastKey) {
      return false;
    }
    key = uint64_t{shared} + own;
    left.remove_prefix(own + value);
  }
  return next == restarts.count || restarts.entries == 0;
}

const Cache::CacheItemHelper* HelperOf(BlockType type) {
  return GetCacheItemHelper(type, CacheTier::kNonVolatileBlockTier);
}

}  // namespace

bool SoundBlock(const Slice& bytes, bool entries) {
  Restarts restarts;
  return FindRestarts(bytes, &restarts) && InOrder(restarts) &&
         (!entries || restarts.separate_values || EntriesFit(bytes.data(), restarts));
}

bool ReadableBlock(const Cache::CacheItemHelper* helper, const Slice& bytes) {
  if (helper == HelperOf(BlockType::kData) || helper == HelperOf(BlockType::kRangeDeletion)) {
    return SoundBlock(bytes, /*entries=*/true);
  }
  if (helper == HelperOf(BlockType::kIndex) ||
      helper == HelperOf(BlockType::kFilterPartitionIndex)) {
    return SoundBlock(bytes, /*entries=*/false);
  }
  return true;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
