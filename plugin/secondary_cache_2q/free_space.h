// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugin/secondary_cache_2q/chunked_array.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The free space of one shard's part of the data area, in allocation units. A block's bytes are one
// extent, and so one read. First fit.
//
// A bit for each unit, up to the highest one that was ever used. Over groups of these a tree, whose
// nodes know the longest run of free units below them. Not thread-safe.
class FreeSpace {
 public:
  explicit FreeSpace(uint64_t units) : units_(units) {}

  // The first unit of an extent of `units`; false if no free one is long enough.
  bool Allocate(uint64_t units, uint64_t* start);
  // Takes a given extent out of the free space; false, with no effect, unless all of it is free.
  bool Reserve(uint64_t start, uint64_t units);
  // Requires that all of the extent is taken.
  void Free(uint64_t start, uint64_t units);

  size_t MemoryUsage() const { return used_.MemoryUsage() + tree_.capacity() * sizeof(Runs); }

 private:
  static constexpr uint64_t kGroup = 4096;  // units
  static constexpr uint64_t kWord = 64;

  // Free units: at the begin of a stretch, at its end, and in its longest run.
  struct Runs {
    uint32_t first = 0;
    uint32_t last = 0;
    uint32_t longest = 0;
  };

  uint64_t Groups() const { return used_.size() * kWord / kGroup; }
  bool Grow();
  void Mark(uint64_t start, uint64_t units, bool used);
  uint64_t Next(uint64_t from, uint64_t end, bool used) const;
  Runs Scan(uint64_t group) const;
  static Runs Join(const Runs& a, const Runs& b, uint64_t length);
  void Update(uint64_t group);
  void BuildTree();
  uint64_t FindRun(uint64_t units) const;

  const uint64_t units_;
  ChunkedArray<uint64_t> used_;  // bits; whole groups
  size_t leaves_ = 0;            // of the tree, 2^n
  std::vector<Runs> tree_;       // the root is 1, the children of i are 2i and 2i + 1
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
