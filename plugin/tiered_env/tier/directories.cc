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

Tier* Directories::For(Tier* tier, uint64_t number) const {
  const auto first = static_cast<size_t>(tier->first());
  size_t end = first;
  double sum = 0;
  while (end < free_.size() && policy_.tiers[end]->first() == tier->first()) {
    sum += free_[end++];
  }
  const double turn = static_cast<double>(number * kGolden) /
                      static_cast<double>(std::numeric_limits<uint64_t>::max());
  double left = turn * sum;
  size_t chosen = first;
  for (size_t i = first; i < end; i++) {
    if (free_[i] > 0) {
      chosen = i;
      if (left < free_[i]) {
        break;
      }
      left -= free_[i];
    }
  }
  return policy_.tiers[chosen].get();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
