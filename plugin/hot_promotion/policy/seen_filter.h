// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rocksdb/rocksdb_namespace.h"
#include "util/fastrange.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Remembers which records were asked for of late, so that a second read is known as one. Each has a
// mark of 16 bits. Marks are in groups of four, in the order of their coming; a new mark pushes the
// oldest one of its group out.
//
// Thread-safe, without locks: of marks that come to one group at the same moment some may be lost.
class SeenFilter {
 public:
  // `bytes` of memory remember one record for each two bytes, about those that were asked for last.
  explicit SeenFilter(uint64_t bytes) : groups_(std::max<size_t>(256, bytes / sizeof(Group))) {}

  // Whether a record with this hash was asked for before; marks it as asked for. One in 8,000
  // records that were not asked for is said to be.
  bool Before(uint64_t hash) {
    Group& group = groups_[FastRange64(hash, groups_.size())];
    const uint64_t mark = (hash & kMask) | 1;  // 0 is a free place
    const uint64_t marks = group.load(std::memory_order_relaxed);
    for (uint64_t rest = marks; rest != 0; rest >>= kBits) {
      if ((rest & kMask) == mark) {
        return true;
      }
    }
    group.store(marks << kBits | mark, std::memory_order_relaxed);
    return false;
  }

 private:
  using Group = std::atomic<uint64_t>;
  static constexpr int kBits = 16;
  static constexpr uint64_t kMask = (1 << kBits) - 1;

  std::vector<Group> groups_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
