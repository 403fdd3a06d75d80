// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/carry_plan.h"

#include <algorithm>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// What a block must be worth, in held blocks. With more, fewer of the records that are asked for
// are carried; with less, more of those that are not. Sums of shares are not exact.
constexpr double kEnough = 0.333;

// A range that goes over more blocks is not worth a look into those at its ends.
constexpr size_t kLooked = 4;

}  // namespace

void SortRanges(const Comparator& comparator, std::vector<HeldRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(), [&comparator](const HeldRange& a, const HeldRange& b) {
    return comparator.Compare(a.below, b.below) < 0;
  });
}

CarryPlan::CarryPlan(const Comparator& comparator, const SstIndex& index, Share share, Take take)
    : comparator_(comparator),
      index_(index),
      share_(std::move(share)),
      take_(std::move(take)),
      worth_(index.size()) {}

bool CarryPlan::Run(const std::vector<HeldRange>& ranges) {
  for (const HeldRange& range : ranges) {
    const size_t first = FirstAbove(range.below);
    if (first == index_.size()) {
      break;
    }
    // Ranges begin in order: no further one gives anything to a block below this.
    if (!Decide(first)) {
      return false;
    }
    if (!Less(range.last, index_.FirstKey()) && !Divide(range, first)) {
      return false;
    }
  }
  return Decide(index_.size());
}

// The first block that may have a key above this one.
size_t CarryPlan::FirstAbove(const Slice& key) const {
  size_t begin = decided_;
  size_t end = index_.size();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (Less(key, index_.Separator(middle))) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// The last block from `first` on that may have this key or one below it.
size_t CarryPlan::LastWith(const Slice& key, size_t first) const {
  size_t begin = first;
  size_t end = index_.size() - 1;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (Less(index_.Separator(middle), key)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

bool CarryPlan::Divide(const HeldRange& range, size_t first) {
  const size_t last = LastWith(range.last, first);
  if (first == last) {
    Give(first, 1, range.age);
    return true;
  }
  const bool look = last - first < kLooked;
  const double before = ShareUpTo(first, range.below, look);
  const double within = ShareUpTo(last, range.last, look);
  if (before < 0 || within < 0) {
    return false;
  }
  const double of_first = static_cast<double>(index_.Bytes(first)) * (1 - before);
  const double of_last = static_cast<double>(index_.Bytes(last)) * within;
  double all = of_first + of_last;
  for (size_t block = first + 1; block < last; block++) {
    all += static_cast<double>(index_.Bytes(block));
  }
  if (all <= 0) {
    return true;
  }
  Give(first, of_first / all, range.age);
  for (size_t block = first + 1; block < last; block++) {
    Give(block, static_cast<double>(index_.Bytes(block)) / all, range.age);
  }
  Give(last, of_last / all, range.age);
  return true;
}

// Needs no look where the key is a bound of the block.
double CarryPlan::ShareUpTo(size_t block, const Slice& key, bool look) {
  const Slice below = index_.Below(block);
  if (Less(key, below) || (block > 0 && !Less(below, key))) {
    return 0;
  }
  if (!Less(key, index_.Separator(block))) {
    return 1;
  }
  return look ? share_(block, key) : 0.5;
}

void CarryPlan::Give(size_t block, double blocks, uint64_t age) {
  if (blocks > 0) {
    worth_[block].blocks += static_cast<float>(blocks);
    worth_[block].age = std::min(worth_[block].age, age);
  }
}

bool CarryPlan::Decide(size_t end) {
  for (; decided_ < end; decided_++) {
    const Worth& worth = worth_[decided_];
    if (static_cast<double>(worth.blocks) >= kEnough && !take_(decided_, worth.age)) {
      return false;
    }
  }
  return true;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
