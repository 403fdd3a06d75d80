// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "test/bench/common/store.h"

namespace rocktier_bench {

// The versions that a run has written, so that no read may find an older one. Those of a later run
// are higher. Thread-safe.
class Versions {
 public:
  // Of so many records; 0: of none, and every version that was ever written is right.
  explicit Versions(uint64_t records)
      : base_(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                    std::chrono::microseconds(1))),
        latest_(records) {}

  // Writes the record of this number and key.
  ROCKSDB_NAMESPACE::Status Put(ROCKSDB_NAMESPACE::DB* db, uint64_t record, uint64_t key,
                                size_t value_size) {
    if (record >= latest_.size()) return PutRecord(db, key, base_, value_size);
    std::lock_guard<std::mutex> lock(mutexes_[record % mutexes_.size()]);
    const uint32_t next = latest_[record].load(std::memory_order_relaxed) + 1;
    const ROCKSDB_NAMESPACE::Status s = PutRecord(db, key, base_ + next, value_size);
    if (s.ok()) latest_[record].store(next, std::memory_order_release);
    return s;
  }

  // Reads it. Corruption: it is not what was written last, or is being written.
  ROCKSDB_NAMESPACE::Status Get(ROCKSDB_NAMESPACE::DB* db, uint64_t record, uint64_t key,
                                size_t value_size) const {
    const uint32_t latest =
        record < latest_.size() ? latest_[record].load(std::memory_order_acquire) : 0;
    return GetRecord(db, key, value_size, latest == 0 ? 0 : base_ + latest);
  }

 private:
  const uint64_t base_;
  std::vector<std::atomic<uint32_t>> latest_;
  std::array<std::mutex, 1024> mutexes_;
};

}  // namespace rocktier_bench
