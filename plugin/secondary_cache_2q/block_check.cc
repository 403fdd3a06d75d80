// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/block_check.h"

#include <cstdint>

#include "plugin/secondary_cache_2q/coding.h"
#include "plugin/secondary_cache_2q/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// The last word of a block: flags, and the number of restart points.
constexpr uint32_t kHashIndex = 1u << 31;

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

// Takes a length off the beginning of the bytes: seven bits in each byte, the lower ones first, and
// the top bit in all but the last one.
bool TakeLength(Slice* bytes, uint32_t* length) {
  *length = 0;
  for (int shift = 0; shift < 35 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>((*bytes)[0]);
    bytes->remove_prefix(1);
    *length |= (byte & 0x7fu) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
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
    if (!TakeLength(&left, &shared) || !TakeLength(&left, &own) || !TakeLength(&left, &value) ||
        shared > key || uint64_t{own} + value > left.size() || uint64_t{shared} + own < kLeastKey) {
      return false;
    }
    key = uint64_t{shared} + own;
    left.remove_prefix(own + value);
  }
  return next == restarts.count || restarts.entries == 0;
}

Status NoBlock() {
  return Status::Corruption("TwoQSecondaryCache", "what a block holds cannot be read");
}

}  // namespace

bool SoundBlock(const Slice& bytes, bool entries) {
  Restarts restarts;
  return FindRestarts(bytes, &restarts) && InOrder(restarts) &&
         (!entries || restarts.separate_values || EntriesFit(bytes.data(), restarts));
}

Status CheckBlock(CacheEntryRole role, const Slice& bytes) {
  switch (role) {
    case CacheEntryRole::kDataBlock:
      return SoundBlock(bytes, /*entries=*/true) ? Status::OK() : NoBlock();
    case CacheEntryRole::kIndexBlock:
    case CacheEntryRole::kFilterMetaBlock:
      return SoundBlock(bytes, /*entries=*/false) ? Status::OK() : NoBlock();
    case CacheEntryRole::kOtherBlock:
      return SoundBlock(bytes, /*entries=*/true)
                 ? Status::OK()
                 : Status::Incomplete("TwoQSecondaryCache", "what a block is cannot be told");
    default:
      return Status::OK();
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
