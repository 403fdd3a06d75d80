// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/directories.h"

#include <algorithm>
#include <limits>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// 2^64 by the golden ratio: its multiples divide the circle of numbers more evenly than chance.
constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

// Bytes. A file counts as so many at least.
constexpr double kSmallest = 4096;
// A directory that got nothing for a while, or lost more than others, is not given more than so
// many bytes to make up for it, by its share.
constexpr double kMostBehind = 256 << 20;
// A directory is idle with fewer files than this part of its share.
constexpr double kMostOfShare = 0.9;

bool HasSeveral(const Policy& policy, const Tier& tier) {
  const auto next = static_cast<size_t>(tier.first()) + 1;
  return next < policy.tiers.size() && policy.tiers[next]->first() == tier.first();
}

// What can still be put there, in bytes.
double FreeIn(const Tier& tier, bool budgeted) {
  uint64_t free = 0;
  if (!tier.usable() ||
      !tier.fs()->GetFreeSpace(tier.options().path, IOOptions(), &free, nullptr).ok()) {
    return 0;
  }
  const uint64_t budget = budgeted ? tier.options().budget : 0;
  return static_cast<double>(budget == 0 ? free
                                         : std::min(free, budget - std::min(budget, tier.used())));
}

}  // namespace

Directories::Directories(const Policy& policy, const Tier* leaving, bool budgeted)
    : policy_(policy), budgeted_(budgeted), free_(policy.tiers.size(), 0) {
  for (const auto& tier : policy.tiers) {
    if (tier.get() != leaving && HasSeveral(policy, *tier)) {
      free_[static_cast<size_t>(tier->index())] = FreeIn(*tier, budgeted_);
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

// By chance, as likely as its share. The number is the chance.
Tier* Directories::For(Tier* tier, uint64_t number) const {
  const Range range = DirectoriesOf(*tier);
  double left = static_cast<double>(number * kGolden) /
                static_cast<double>(std::numeric_limits<uint64_t>::max());
  size_t chosen = range.first;
  for (size_t i = range.first; i < range.end; i++) {
    const double share = ShareOf(range, i);
    if (share > 0) {
      chosen = i;
      if (left < share) {
        break;
      }
      left -= share;
    }
  }
  return policy_.tiers[chosen].get();
}

double Directories::ShareOf(const Range& range, size_t index) const {
  double free = 0;
  for (size_t i = range.first; i < range.end; i++) {
    free += free_[i];
  }
  return free > 0 ? free_[index] / free : 0;
}

// A directory that is nearly full is idle, and got little, as a rule: a file that has no room
// there would be written twice.
Tier* Directories::ForNew(Tier* tier, uint64_t bytes) const {
  const Range range = DirectoriesOf(*tier);
  Count(range);
  int files = 1;  // that are written at once, with this one
  double most = 0;
  for (size_t i = range.first; i < range.end; i++) {
    files += policy_.tiers[i]->writers();
    most = std::max(most, free_[i]);
  }
  const double needed = std::min(static_cast<double>(bytes), most);
  Tier* chosen = nullptr;
  Turn* chosen_turn = nullptr;
  bool chosen_is_idle = false;
  double chosen_share = 0;
  for (size_t i = range.first; i < range.end; i++) {
    Tier* const one = policy_.tiers[i].get();
    const double share = ShareOf(range, i);
    const bool is_idle = one->writers() < kMostOfShare * share * files;
    if (share > 0 && free_[i] >= needed &&
        (chosen == nullptr || is_idle > chosen_is_idle ||
         (is_idle == chosen_is_idle && TurnOf(i)->has() < chosen_turn->has()))) {
      chosen = one;
      chosen_turn = TurnOf(i);
      chosen_is_idle = is_idle;
      chosen_share = share;
    }
  }
  if (chosen == nullptr) {
    return policy_.tiers[range.first].get();
  }
  const double least = budgeted_ ? kSmallest : std::max(kSmallest, static_cast<double>(bytes));
  chosen_turn->Give(least / chosen_share);
  return chosen;
}

Turn* Directories::TurnOf(size_t index) const { return policy_.tiers[index]->turn(budgeted_); }

void Directories::Count(const Range& range) const {
  double most = 0;
  for (size_t i = range.first; i < range.end; i++) {
    const double share = ShareOf(range, i);
    if (budgeted_) {
      TurnOf(i)->Count(policy_.tiers[i]->used(), share > 0 ? 1 / share : 1);
    }
    most = std::max(most, TurnOf(i)->has());
  }
  for (size_t i = range.first; i < range.end; i++) {
    TurnOf(i)->SkipTo(most - kMostBehind);
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
