// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// How long syncs took, in microseconds. Times below 16 are counted one by one, longer ones in
// buckets an eighth of their size wide. Thread-safe.
class SyncTimes {
 public:
  void Add(uint64_t micros) {
    counts_[BucketOf(micros)].fetch_add(1, std::memory_order_relaxed);
    uint64_t max = max_.load(std::memory_order_relaxed);
    while (max < micros && !max_.compare_exchange_weak(max, micros, std::memory_order_relaxed)) {
    }
  }

  uint64_t max() const { return max_.load(std::memory_order_relaxed); }

  // Returns the time that so many percent of the syncs did not exceed, within a bucket's width;
  // 0 if there were none.
  uint64_t Percentile(double percent) const {
    uint64_t all = 0;
    for (const auto& count : counts_) {
      all += count.load(std::memory_order_relaxed);
    }
    const double rank = static_cast<double>(all) * percent / 100;
    double below = 0;
    for (size_t i = 0; i < kBuckets && all > 0; i++) {
      const auto count = static_cast<double>(counts_[i].load(std::memory_order_relaxed));
      if (count > 0 && below + count >= rank) {
        const auto width = static_cast<double>(LeastOf(i + 1) - LeastOf(i));
        const auto part = static_cast<uint64_t>((rank - below) / count * (width - 1));
        return std::min(LeastOf(i) + part, max());
      }
      below += count;
    }
    return max();  // some were counted meanwhile
  }

 private:
  static constexpr size_t kParts = 8;  // of a power of two
  static constexpr size_t kBuckets = kParts * 62;

  static size_t BucketOf(uint64_t micros) {
    if (micros < kParts) {
      return micros;
    }
    const int shift = 60 - __builtin_clzll(micros);
    return kParts * static_cast<size_t>(shift) + (micros >> shift);
  }
  // The least time of a bucket.
  static uint64_t LeastOf(size_t bucket) {
    if (bucket < 2 * kParts) {
      return bucket;
    }
    const size_t shift = bucket / kParts - 1;
    return (kParts + bucket % kParts) << shift;
  }

  std::array<std::atomic<uint64_t>, kBuckets> counts_{};
  std::atomic<uint64_t> max_{0};
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
