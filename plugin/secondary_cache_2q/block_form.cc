// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/block_form.h"

#include <algorithm>

#include "plugin/secondary_cache_2q/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// The last word of a block: flags, and the number of restart points.
constexpr uint32_t kHashIndex = 1u << 31;

// A bucket of the hash index is the number of a restart point, or one of these: several, or none.
constexpr uint8_t kCollision = 254;
constexpr uint8_t kNoEntry = 255;

// Takes the hash index off the end: buckets of a byte each, and their number in 16 bits, as are
// offsets in such a block. False if there is none, or a bucket names no restart point: RocksDB
// looks there without a check.
bool TakeHashIndex(uint32_t restarts, Slice* bytes) {
  if (bytes->size() < sizeof(uint16_t) || bytes->size() > UINT16_MAX) {
    return false;
  }
  const char* const end = bytes->data() + bytes->size() - sizeof(uint16_t);
  const uint64_t buckets = DecodeFixed16(end);
  if (buckets == 0 || buckets + sizeof(uint16_t) > bytes->size()) {
    return false;
  }
  bytes->remove_suffix(sizeof(uint16_t) + buckets);
  return std::all_of(end - buckets, end, [restarts](char c) {
    const auto bucket = static_cast<uint8_t>(c);
    return bucket < restarts || bucket == kCollision || bucket == kNoEntry;
  });
}

}  // namespace

bool FindRestarts(Slice bytes, Restarts* result) {
  if (bytes.size() < 2 * sizeof(uint32_t) || bytes.size() > UINT32_MAX) {
    return false;
  }
  const uint32_t footer = DecodeFixed32(bytes.data() + bytes.size() - sizeof(uint32_t));
  bytes.remove_suffix(sizeof(uint32_t));
  result->separate_values = (footer & kSeparateValues) != 0;
  if (result->separate_values) {
    if (bytes.size() < sizeof(uint32_t)) {
      return false;
    }
    result->keys = DecodeFixed32(bytes.data() + bytes.size() - sizeof(uint32_t));
    bytes.remove_suffix(sizeof(uint32_t));
  }
  result->count = footer & ~(kHashIndex | kUniformKeys | kSeparateValues);
  if ((footer & kHashIndex) != 0 && !TakeHashIndex(result->count, &bytes)) {
    return false;
  }
  const uint64_t size = uint64_t{result->count} * sizeof(uint32_t);
  if (result->count == 0 || size > bytes.size()) {
    return false;
  }
  bytes.remove_suffix(size);
  result->points = bytes.data() + bytes.size();
  result->entries = static_cast<uint32_t>(bytes.size());
  if (!result->separate_values) {
    result->keys = result->entries;
  }
  return result->keys <= result->entries;
}

bool TakeNumber(Slice* bytes, uint64_t* number) {
  *number = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>((*bytes)[0]);
    bytes->remove_prefix(1);
    *number |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return false;
}

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

DataBlockEntries::DataBlockEntries(const Slice& bytes) {
  if (FindRestarts(bytes, &restarts_)) {
    begin_ = bytes.data();
    left_ = Slice(begin_, restarts_.keys);
  }
}

// An entry has three lengths: the bytes of the key that it shares with the entry before, its own
// bytes of the key, and the bytes of the value. Its own bytes of the key and the value follow. With
// separate values an entry at a restart point has a fourth number, the place of the value, and no
// value follows.
bool DataBlockEntries::Next() {
  if (left_.empty()) {
    return false;
  }
  const auto at = static_cast<uint32_t>(left_.data() - begin_);
  const bool restart = next_restart_ < restarts_.count && restarts_.Point(next_restart_) == at;
  uint32_t shared;
  uint32_t own;
  uint32_t value;
  if (!TakeLength(&left_, &shared) || !TakeLength(&left_, &own) || !TakeLength(&left_, &value)) {
    return false;
  }
  uint32_t place;
  if (restarts_.separate_values && restart && !TakeLength(&left_, &place)) {
    return false;
  }
  const uint64_t follows = uint64_t{own} + (restarts_.separate_values ? 0 : value);
  if (shared > key_.size() || follows > left_.size() || uint64_t{shared} + own < kKeyTrailer) {
    return false;
  }
  next_restart_ += restart ? 1 : 0;
  key_.resize(shared);
  key_.append(left_.data(), own);
  left_.remove_prefix(follows);
  bytes_ = uint64_t{own} + value;
  return true;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
