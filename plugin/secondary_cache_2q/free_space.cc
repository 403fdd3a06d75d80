// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/free_space.h"

#include <algorithm>
#include <cassert>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

bool FreeSpace::Allocate(uint64_t units, uint64_t* start) {
  if (units == 0 || units > units_) {
    return false;
  }
  while (leaves_ == 0 || tree_[1].longest < units) {
    if (!Grow()) {
      return false;
    }
  }
  *start = FindRun(units);
  Mark(*start, units, /*used=*/true);
  return true;
}

bool FreeSpace::Reserve(uint64_t start, uint64_t units) {
  if (units == 0 || units > units_ || start > units_ - units) {
    return false;
  }
  while (Groups() * kGroup < start + units) {
    Grow();
  }
  if (Next(start, start + units, /*used=*/true) != start + units) {
    return false;
  }
  Mark(start, units, /*used=*/true);
  return true;
}

void FreeSpace::Free(uint64_t start, uint64_t units) {
  assert(Next(start, start + units, /*used=*/false) == start + units);
  Mark(start, units, /*used=*/false);
}

// Adds a group of free units; false if there are no more.
bool FreeSpace::Grow() {
  const uint64_t group = Groups();
  const uint64_t begin = group * kGroup;
  if (begin >= units_) {
    return false;
  }
  used_.Resize((group + 1) * kGroup / kWord);
  if (group >= leaves_) {
    BuildTree();
  }
  if (units_ - begin < kGroup) {
    Mark(units_, kGroup - (units_ - begin), /*used=*/true);  // not ours
  } else {
    Update(group);
  }
  return true;
}

void FreeSpace::BuildTree() {
  leaves_ = 1;
  while (leaves_ < Groups()) {
    leaves_ *= 2;
  }
  tree_ = std::vector<Runs>(leaves_ * 2);
  for (uint64_t group = 0; group < Groups(); group++) {
    Update(group);
  }
}

void FreeSpace::Mark(uint64_t start, uint64_t units, bool used) {
  const uint64_t end = start + units;
  for (uint64_t at = start; at < end;) {
    const uint64_t bit = at % kWord;
    const uint64_t n = std::min(kWord - bit, end - at);
    const uint64_t bits = (n == kWord ? UINT64_MAX : (uint64_t{1} << n) - 1) << bit;
    uint64_t& word = used_[at / kWord];
    word = used ? word | bits : word & ~bits;
    at += n;
  }
  for (uint64_t group = start / kGroup; group <= (end - 1) / kGroup; group++) {
    Update(group);
  }
}

// The first unit from `from` on that is used, or is free; `end` if there is none before.
uint64_t FreeSpace::Next(uint64_t from, uint64_t end, bool used) const {
  for (uint64_t at = from; at < end; at = (at / kWord + 1) * kWord) {
    const uint64_t word = used_[at / kWord];
    const uint64_t bits = (used ? word : ~word) >> at % kWord;
    if (bits != 0) {
      return std::min(end, at + static_cast<uint64_t>(__builtin_ctzll(bits)));
    }
  }
  return end;
}

FreeSpace::Runs FreeSpace::Scan(uint64_t group) const {
  const uint64_t begin = group * kGroup;
  const uint64_t end = begin + kGroup;
  Runs runs;
  for (uint64_t at = begin; at < end;) {
    const uint64_t first = Next(at, end, /*used=*/false);
    at = Next(first, end, /*used=*/true);
    const auto length = static_cast<uint32_t>(at - first);
    runs.first = first == begin ? length : runs.first;
    runs.last = at == end ? length : 0;
    runs.longest = std::max(runs.longest, length);
  }
  return runs;
}

// `length`: units of each of the two stretches.
FreeSpace::Runs FreeSpace::Join(const Runs& a, const Runs& b, uint64_t length) {
  Runs joined;
  joined.first = a.first == length ? a.first + b.first : a.first;
  joined.last = b.last == length ? b.last + a.last : b.last;
  joined.longest = std::max({a.longest, b.longest, a.last + b.first});
  return joined;
}

void FreeSpace::Update(uint64_t group) {
  size_t node = leaves_ + group;
  tree_[node] = Scan(group);
  for (uint64_t length = kGroup; node > 1; length *= 2) {
    node /= 2;
    tree_[node] = Join(tree_[node * 2], tree_[node * 2 + 1], length);
  }
}

// The first run of so many free units. Requires that there is one.
uint64_t FreeSpace::FindRun(uint64_t units) const {
  size_t node = 1;
  uint64_t begin = 0;
  uint64_t length = leaves_ * kGroup;
  while (node < leaves_) {
    const Runs& a = tree_[node * 2];
    const Runs& b = tree_[node * 2 + 1];
    length /= 2;
    node *= 2;
    if (a.longest < units) {
      if (a.last + b.first >= units) {
        return begin + length - a.last;
      }
      node++;
      begin += length;
    }
  }
  uint64_t at = begin;
  while (true) {
    const uint64_t first = Next(at, begin + kGroup, /*used=*/false);
    at = Next(first, begin + kGroup, /*used=*/true);
    if (at - first >= units) {
      return first;
    }
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
