// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Estimates how many blocks the primary cache holds, from what the secondary cache sees. A block is
// looked up here, enters the primary cache, and is offered here when it leaves. In between, about
// as many look-ups pass as the primary cache holds blocks. More pass if the block was used again
// there, so the first quartile is tracked. Looks at one key in sixteen. Not thread-safe.
class Residency {
 public:
  void OnLookup(uint64_t hash) {
    clock_++;
    if (Sampled(hash)) {
      samples_[Bucket(hash)] = {hash, clock_};
    }
  }

  void OnOffer(uint64_t hash) {
    if (!Sampled(hash)) {
      return;
    }
    Sample& sample = samples_[Bucket(hash)];
    if (sample.hash != hash) {
      return;
    }
    const uint64_t seen = clock_ - sample.clock;
    sample.hash = 0;
    const uint64_t step = quartile_ / 64 + 1;
    if (seen > quartile_) {
      quartile_ += std::min(step, seen - quartile_);
    } else {
      quartile_ -= std::min(3 * step, quartile_ - seen);
    }
  }

  // Blocks in the primary cache, as far as they belong to this shard.
  uint64_t blocks() const { return quartile_; }
  // Goes on from an earlier estimate.
  void Restore(uint64_t blocks) { quartile_ = blocks; }

 private:
  struct Sample {
    uint64_t hash = 0;
    uint64_t clock = 0;
  };
  static bool Sampled(uint64_t hash) { return (hash >> 24 & 15) == 0; }
  static size_t Bucket(uint64_t hash) { return hash >> 28 & 63; }

  std::array<Sample, 64> samples_;
  uint64_t clock_ = 0;
  uint64_t quartile_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
