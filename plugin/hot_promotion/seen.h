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

  // Whether a record with this hash was asked for. One in 8,000 that was not is said to be.
  bool Has(uint64_t hash) const {
    uint64_t marks = GroupOf(hash).load(std::memory_order_relaxed);
    for (; marks != 0; marks >>= kBits) {
      if ((marks & kMask) == MarkOf(hash)) {
        return true;
      }
    }
    return false;
  }

  // The same, and it is from now on.
  bool Before(uint64_t hash) {
    const bool before = Has(hash);
    if (!before) {
      Group& group = GroupOf(hash);
      group.store(group.load(std::memory_order_relaxed) << kBits | MarkOf(hash),
                  std::memory_order_relaxed);
    }
    return before;
  }

 private:
  using Group = std::atomic<uint64_t>;
  static constexpr int kBits = 16;
  static constexpr uint64_t kMask = (1 << kBits) - 1;

  static uint64_t MarkOf(uint64_t hash) { return (hash & kMask) | 1; }  // 0 is a free place
  Group& GroupOf(uint64_t hash) { return groups_[FastRange64(hash, groups_.size())]; }
  const Group& GroupOf(uint64_t hash) const { return groups_[FastRange64(hash, groups_.size())]; }

  std::vector<Group> groups_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
