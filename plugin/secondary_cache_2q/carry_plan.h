// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/sst_index.h"
#include "rocksdb/comparator.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The user keys of a block that the cache held: above `below`, up to `last`.
struct HeldRange {
  std::string below;
  std::string last;
  uint64_t age = 0;  // of its last use, in uses of others
};

// Puts ranges into the order in which CarryPlan wants them.
void SortRanges(const Comparator& comparator, std::vector<HeldRange>* ranges);

// Decides which blocks of an SST that a compaction made take the places of blocks that the cache
// held of the SSTs it was made of.
//
// A held block is one block's worth of what is asked for, and nobody knows which of its records. It
// is divided among the blocks into which its records may have gone, by their bytes in its range. A
// block that gets a third of a block's worth is carried. So not many more blocks are carried than
// were held, whatever has come between their records, and what is next to hot records does not
// become hot by itself from one compaction to the next. Where a range is cut by the bounds of a few
// blocks only, these are looked into; beyond that a half is as good as what is in them.
//
// Does no I/O. Not thread-safe.
class CarryPlan {
 public:
  // Tells which share of a block's bytes has keys up to this one. Below 0: no more is wanted.
  using Share = std::function<double(size_t block, const Slice& key)>;
  // Told of each block to be carried, in order. False: no more is wanted.
  using Take = std::function<bool(size_t block, uint64_t age)>;

  // `index` is that of the new SST. Both must outlive the plan.
  CarryPlan(const Comparator& comparator, const SstIndex& index, Share share, Take take);

  // `ranges` in order. False: no more was wanted.
  bool Run(const std::vector<HeldRange>& ranges);

 private:
  struct Worth {
    float blocks = 0;
    uint64_t age = UINT64_MAX;
  };

  bool Less(const Slice& a, const Slice& b) const { return comparator_.Compare(a, b) < 0; }
  size_t FirstAbove(const Slice& key) const;
  size_t LastWith(const Slice& key, size_t first) const;
  bool Divide(const HeldRange& range, size_t first);
  double ShareUpTo(size_t block, const Slice& key, bool look);
  void Give(size_t block, double blocks, uint64_t age);
  bool Decide(size_t end);

  const Comparator& comparator_;
  const SstIndex& index_;
  const Share share_;
  const Take take_;
  std::vector<Worth> worth_;
  size_t decided_ = 0;  // blocks
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
