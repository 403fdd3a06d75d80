// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/policy.h"

#include <algorithm>
#include <cassert>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// One in so many victims is a block that the primary cache has too: while the hot set is stable,
// and while it moves. More of them use AM better and cost more copies.
constexpr uint64_t kPromotedVictim = 6;
constexpr uint64_t kPromotedVictimMoving = 2;

// Promotions that are remembered, to choose such victims.
constexpr size_t kPromotions = 64;

// The hand takes a block that was used when it has found no other one among so many. So a shard is
// not locked for long.
constexpr BlockId kMostPassed = 1 << 14;

}  // namespace

TwoQ::TwoQ(Policy policy, double ghost_ratio, size_t load)
    : policy_(policy), ghost_ratio_(ghost_ratio), index_(load) {}

BlockId TwoQ::Lookup(uint64_t hash, bool* ghost_hit) {
  const uint32_t tag = Index::TagOf(hash);
  ghosts_.Prefetch(tag);
  marked_.Prefetch(tag);
  *ghost_hit = false;
  if (policy_ == Policy::k2Q) {
    residency_.OnLookup(hash);
  }
  const BlockId id = index_.Find(tag);
  if (id != kNoBlock) {
    Return(id);
    return id;
  }
  bool victim;
  uint64_t age;
  if (ghosts_.Find(tag, &victim, &age)) {
    *ghost_hit = true;
    if (policy_ == Policy::k2Q) {
      if (static_cast<double>(age) < BaseCapacity()) {
        window_.OnReturn(victim);
      }
      Mark(tag);
    }
  } else if (marked_.Has(tag)) {
    // The block never came to be offered. Asked for again, it is marked anew.
    *ghost_hit = true;
    Mark(tag);
  }
  return kNoBlock;
}

bool TwoQ::Offer(uint64_t hash, bool room) {
  if (policy_ == Policy::kLru) {
    return true;
  }
  if (policy_ == Policy::k2Q) {
    residency_.OnOffer(hash);
  }
  const uint32_t tag = Index::TagOf(hash);
  if (room || marked_.Has(tag) || (policy_ == Policy::k2QPaper && ghosts_.Has(tag))) {
    return true;
  }
  if (policy_ == Policy::k2Q && window_.TakesNewcomer()) {
    return true;
  }
  if (index_.Find(tag) == kNoBlock) {
    Remember(tag, /*victim=*/false);
  }
  return false;
}

void TwoQ::Promote(BlockId id) {
  if (policy_ != Policy::k2Q) {
    return;
  }
  Use(id, /*promoted=*/true);
  if (promotions_.size() == kPromotions) {
    promotions_.erase(promotions_.begin(), promotions_.begin() + kPromotions / 2);
  }
  promotions_.push_back(id);
}

void TwoQ::Return(BlockId id) { Use(id, /*promoted=*/false); }

void TwoQ::Use(BlockId id, bool promoted) {
  index_.Set(id, Index::kPromoted, promoted);
  index_.Set(id, Index::kUsed, true);
}

void TwoQ::Unmark(uint64_t hash) {
  const uint32_t tag = Index::TagOf(hash);
  if (marked_.Has(tag)) {
    Remember(tag, /*victim=*/false);
  }
}

void TwoQ::Compact() {
  ghosts_.SetCapacity(GhostCapacity(), /*now=*/true);
  marked_.SetCapacity(MarkedCapacity(), /*now=*/true);
}

void TwoQ::Move(BlockId from, BlockId to) { index_.Move(from, to); }

void TwoQ::Truncate(BlockId ids) {
  index_.Truncate(ids);
  hand_ = std::min(hand_, ids);
}

void TwoQ::Insert(BlockId id, uint64_t hash) {
  assert(Find(hash) == kNoBlock);
  const uint32_t tag = Index::TagOf(hash);
  ghosts_.Erase(tag);
  marked_.Erase(tag);
  index_.Add(id, tag);
}

// How far the hand is beyond a block, in ids.
uint64_t TwoQ::Passed(BlockId id) const {
  return hand_ > id ? hand_ - id : uint64_t{hand_} + index_.ids() - id;
}

// A block that the hand comes to soon counts as used, so that all new ones stay for about a round.
void TwoQ::Add(BlockId id, uint64_t hash) {
  Insert(id, hash);
  index_.Set(id, Index::kUsed, Passed(id) > index_.ids() / 2 + 1);
}

uint64_t TwoQ::Age(BlockId id) const {
  const uint64_t passed = Passed(id) * kRound / index_.ids();
  return index_.Is(id, Index::kUsed) ? passed / 2 : passed + kRound / 2;
}

void TwoQ::AddCarried(BlockId id, uint64_t hash, uint64_t age) {
  Add(id, hash);
  if (age >= kRound / 2) {
    index_.Set(id, Index::kUsed, false);
  }
}

BlockId TwoQ::PopPromoted() {
  while (!promotions_.empty()) {
    const BlockId id = promotions_.back();
    promotions_.pop_back();
    if (Has(id) && IsPromoted(id)) {
      return id;
    }
  }
  return kNoBlock;
}

BlockId TwoQ::Sweep() {
  const BlockId ids = index_.ids();
  BlockId passed = 0;
  for (; blocks() > 0; passed++) {
    const BlockId id = hand_ < ids ? hand_ : 0;
    hand_ = id + 1;
    if (!Has(id)) {
      continue;
    }
    if (!index_.Is(id, Index::kUsed) || passed >= kMostPassed) {
      return id;
    }
    index_.Set(id, Index::kUsed, false);
  }
  return kNoBlock;
}

// Of those that the primary cache has the one promoted last will be away for longest. One that the
// hand comes to may never be offered: that cache is gone, say.
BlockId TwoQ::ChooseVictim() {
  const uint64_t share = window_.factor() > 1 ? kPromotedVictimMoving : kPromotedVictim;
  const BlockId promoted = evictions_ % share == 0 ? PopPromoted() : kNoBlock;
  return promoted != kNoBlock ? promoted : Sweep();
}

BlockId TwoQ::Victim() {
  const BlockId id = ChooseVictim();
  if (id == kNoBlock) {
    return kNoBlock;
  }
  evictions_++;
  const uint32_t tag = index_.Tag(id);
  const bool promoted = IsPromoted(id);
  index_.Remove(id);
  if (promoted) {
    Mark(tag);
  } else if (policy_ != Policy::kLru) {
    Remember(tag, /*victim=*/true);
  }
  return id;
}

void TwoQ::Remove(BlockId id, bool moved) {
  const uint32_t tag = index_.Tag(id);
  index_.Remove(id);
  if (moved && policy_ != Policy::kLru) {
    Mark(tag);
  }
}

void TwoQ::Remember(uint32_t tag, bool victim) {
  window_.OnPush(victim);
  ghosts_.SetCapacity(GhostCapacity(), /*now=*/false);
  marked_.Erase(tag);
  ghosts_.Push(tag, victim);
}

void TwoQ::Mark(uint32_t tag) {
  marked_.SetCapacity(MarkedCapacity(), /*now=*/false);
  ghosts_.Erase(tag);
  marked_.Push(tag, /*victim=*/false);
}

size_t TwoQ::GhostCapacity() const {
  double wanted = BaseCapacity();
  if (policy_ == Policy::k2Q) {
    wanted = std::max(wanted * window_.factor(), 2.0 * static_cast<double>(residency_.blocks()));
  }
  return std::min(static_cast<size_t>(wanted), ghost_limit_);
}

// A marked reference waits until its block leaves the primary cache. In that time no more look-ups
// pass, and so no more references are marked, than that has blocks.
size_t TwoQ::MarkedCapacity() const {
  double wanted = (BaseCapacity() + 7) / 8;
  if (policy_ == Policy::k2Q) {
    wanted = std::max(wanted, static_cast<double>(residency_.blocks()));
  }
  return std::min(static_cast<size_t>(wanted), ghost_limit_);
}

size_t TwoQ::MemoryUsage() const {
  return index_.MemoryUsage() + ghosts_.MemoryUsage() + marked_.MemoryUsage() +
         promotions_.capacity() * sizeof(BlockId);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
