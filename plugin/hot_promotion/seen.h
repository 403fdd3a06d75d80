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

// Which records were asked for of late, by a mark of 16 bits each: of a record that is read for the second time. Marks are
// in groups of four, in the order of their coming; a new one pushes the oldest one of its group out.
//
// Thread-safe, without locks: of marks that come to one group at the same moment some may be lost.
class Seen {
 public:
  // Of memory: about the records that were asked for last, one for each two bytes.
  explicit Seen(uint64_t bytes) : groups_(std::max<size_t>(256, bytes / sizeof(Group))) {}

  // Whether a record with this hash was asked for before. It is from now on. One in 8,000 that was not is said to be.
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
