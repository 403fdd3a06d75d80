// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/directories.h"

#include <algorithm>
#include <limits>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// 2^64 by the golden ratio: its multiples divide the circle of numbers more evenly than chance.
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

bool HasSeveral(const Policy& policy, const Tier& tier) {
  const auto next = static_cast<size_t>(tier.first()) + 1;
  return next < policy.tiers.size() && policy.tiers[next]->first() == tier.first();
}

// What can still be put there, in bytes.
double FreeIn(const Tier& tier) {
  uint64_t free = 0;
  if (!tier.usable() ||
      !tier.fs()->GetFreeSpace(tier.options().path, IOOptions(), &free, nullptr).ok()) {
    return 0;
  }
  const uint64_t budget = tier.options().budget;
  return static_cast<double>(budget == 0 ? free
                                         : std::min(free, budget - std::min(budget, tier.used())));
}

}  // namespace

Directories::Directories(const Policy& policy, const Tier* leaving)
    : policy_(policy), free_(policy.tiers.size(), 0) {
  for (const auto& tier : policy.tiers) {
    if (tier.get() != leaving && HasSeveral(policy, *tier)) {
      free_[static_cast<size_t>(tier->index())] = FreeIn(*tier);
    }
  }
}

Directories::Range Directories::DirectoriesOf(const Tier& tier) const {
  Range range{static_cast<size_t>(tier.first()), static_cast<size_t>(tier.first())};
  while (range.end < free_.size() && policy_.tiers[range.end]->first() == tier.first()) {
    range.end++;
  }
  return range;
}

Tier* Directories::For(Tier* tier, uint64_t number) const {
  return Choose(DirectoriesOf(*tier), free_, number);
}

// With k files being written, a directory's share of k + 1 is by its free space. It weighs what it
// lacks of that.
Tier* Directories::ForNew(Tier* tier, uint64_t number) const {
  const Range range = DirectoriesOf(*tier);
  double free = 0;
  double files = 1;
  for (size_t i = range.first; i < range.end; i++) {
    if (free_[i] > 0) {
      free += free_[i];
      files += policy_.tiers[i]->writers();
    }
  }
  std::vector<double> lacks(free_.size(), 0);
  for (size_t i = range.first; i < range.end; i++) {
    if (free_[i] > 0) {
      lacks[i] = std::max(0.0, files * free_[i] / free - policy_.tiers[i]->writers());
    }
  }
  return Choose(range, lacks, number);
}

Tier* Directories::Choose(const Range& range, const std::vector<double>& weights,
                          uint64_t number) const {
  double sum = 0;
  for (size_t i = range.first; i < range.end; i++) {
    sum += weights[i];
  }
  const double turn = static_cast<double>(number * kGolden) /
                      static_cast<double>(std::numeric_limits<uint64_t>::max());
  double left = turn * sum;
  size_t chosen = range.first;
  for (size_t i = range.first; i < range.end; i++) {
    if (weights[i] > 0) {
      chosen = i;
      if (left < weights[i]) {
        break;
      }
      left -= weights[i];
    }
  }
  return policy_.tiers[chosen].get();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
