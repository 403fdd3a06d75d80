// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The free space of one shard's part of the data area, in allocation units. A block's bytes are one
// extent, and so one read. Best fit, with coalescing of neighbours. Thread-safe.
class Extents {
 public:
  explicit Extents(uint64_t units) {
    if (units > 0) {
      Insert(0, units);
    }
  }

  // The first unit of an extent of `units`; false if no free one is long enough.
  bool Allocate(uint64_t units, uint64_t* start) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = by_size_.lower_bound({units, 0});
    if (it == by_size_.end()) {
      return false;
    }
    const auto [length, first] = *it;
    Remove(first, length);
    if (length > units) {
      Insert(first + units, length - units);
    }
    *start = first;
    return true;
  }

  // Takes a given extent out of the free space; false, with no effect, unless all of it is free.
  bool Reserve(uint64_t start, uint64_t units) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = by_start_.upper_bound(start);
    if (it == by_start_.begin()) {
      return false;
    }
    --it;
    const auto [first, length] = *it;
    if (units == 0 || units > length || start - first > length - units) {
      return false;
    }
    Remove(first, length);
    if (start > first) {
      Insert(first, start - first);
    }
    if (start + units < first + length) {
      Insert(start + units, first + length - (start + units));
    }
    return true;
  }

  void Free(uint64_t start, uint64_t units) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto next = by_start_.lower_bound(start);
    if (next != by_start_.end() && next->first == start + units) {
      const uint64_t length = next->second;
      Remove(start + units, length);
      units += length;
    }
    auto previous = by_start_.lower_bound(start);
    if (previous != by_start_.begin()) {
      --previous;
      const auto [first, length] = *previous;
      if (first + length == start) {
        Remove(first, length);
        start = first;
        units += length;
      }
    }
    Insert(start, units);
  }

 private:
  void Insert(uint64_t start, uint64_t units) {
    by_start_.emplace(start, units);
    by_size_.emplace(units, start);
  }
  void Remove(uint64_t start, uint64_t units) {
    by_start_.erase(start);
    by_size_.erase({units, start});
  }

  std::mutex mutex_;
  // Guarded by mutex_; the same extents in both.
  std::map<uint64_t, uint64_t> by_start_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
