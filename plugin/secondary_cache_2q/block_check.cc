// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/block_check.h"

#include <cstdint>

#include "plugin/secondary_cache_2q/block_form.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

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
    if (!TakeLength(&left, &shared) || !TakeLength(&left, &own) || !TakeLength(&left, &value) ||
        shared > key || uint64_t{own} + value > left.size() ||
        uint64_t{shared} + own < kKeyTrailer) {
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

Status CannotBeTold() {
  return Status::Incomplete("TwoQSecondaryCache", "what a block is cannot be told");
}

// Whether the block says that its values are apart from its keys.
bool HasSeparateValues(const Slice& bytes) {
  Restarts restarts;
  return FindRestarts(bytes, &restarts) && restarts.separate_values;
}

}  // namespace

bool SoundBlock(const Slice& bytes, bool entries) {
  Restarts restarts;
  return FindRestarts(bytes, &restarts) && !restarts.separate_values && InOrder(restarts) &&
         (!entries || EntriesFit(bytes.data(), restarts));
}

Status CheckBlock(CacheEntryRole role, const Slice& bytes) {
  switch (role) {
    case CacheEntryRole::kDataBlock:
      if (SoundBlock(bytes, /*entries=*/true)) {
        return Status::OK();
      }
      return HasSeparateValues(bytes) ? CannotBeTold() : NoBlock();
    case CacheEntryRole::kIndexBlock:
    case CacheEntryRole::kFilterMetaBlock:
      return SoundBlock(bytes, /*entries=*/false) ? Status::OK() : NoBlock();
    case CacheEntryRole::kOtherBlock:
      return SoundBlock(bytes, /*entries=*/true) ? Status::OK() : CannotBeTold();
    default:
      return Status::OK();
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
