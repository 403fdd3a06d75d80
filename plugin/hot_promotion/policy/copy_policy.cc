// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/policy/copy_policy.h"

#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

// Shares of the budget: memory.
constexpr uint64_t kSeenShare = 128;
constexpr uint64_t kClockShare = 1024;
// The access table can tell what is cold once so large a part of the budget is hot.
constexpr uint64_t kKnownShare = 10;
// Tenths of what is left after evictions. While the store has less than that, what is read once is
// copied too, until it is filled again. The share is no larger because there is room for a moment
// only where SSTs with retained records come and go.
constexpr uint64_t kFreeTenths = 5;
// A forced eviction drops one of so many records that are worth their place.
constexpr int kForcedShare = 5;

}  // namespace

CopyPolicy::CopyPolicy(uint64_t budget, HotFunction is_hot)
    : budget_(budget),
      is_hot_(std::move(is_hot)),
      seen_(budget / kSeenShare),
      clock_bits_(budget / kClockShare) {}

bool CopyPolicy::Admits(Space space, const Slice& user_key, uint64_t hash) {
  const bool before = seen_.Before(hash);
  return before || free_.load(std::memory_order_relaxed) || IsHot(space, user_key);
}

CopyPolicy::Fate CopyPolicy::AtEviction(bool promoted, Space space, const Slice& user_key,
                                        uint64_t hash, bool forced, Random* random) {
  const bool hot = promoted && (!TableTellsCold() || IsHot(space, user_key));
  if (!hot && !clock_bits_.Take(hash)) {
    return Fate::kCold;
  }
  return forced && random->OneIn(kForcedShare) ? Fate::kForced : Fate::kKept;
}

void CopyPolicy::SetRoom(uint64_t bytes, uint64_t low) {
  free_.store(bytes < (free_ ? low : low / 10 * kFreeTenths), std::memory_order_relaxed);
}

void CopyPolicy::OpenedTable(const RaltStats& stats) { tells_cold_ = stats.hot_keys > 0; }

void CopyPolicy::Learn(const RaltStats& stats) {
  if (stats.evictions > 0 || stats.hot_bytes >= budget_ / kKnownShare) {
    tells_cold_ = true;
  }
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
