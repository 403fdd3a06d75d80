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

}  // namespace

TwoQ::TwoQ(Policy policy, double ghost_ratio) : policy_(policy), ghost_ratio_(ghost_ratio) {}

Block* TwoQ::Lookup(uint64_t hash, bool* ghost_hit) {
  *ghost_hit = false;
  if (policy_ == Policy::k2Q) {
    residency_.OnLookup(hash);
  }
  const Known known = index_.Find(hash);
  switch (known.kind()) {
    case Kind::kBlock:
      Return(known.block());
      return known.block();
    case Kind::kGhost:
      *ghost_hit = true;
      if (policy_ == Policy::k2Q) {
        if (static_cast<double>(ghosts_.Age(known.position())) < BaseCapacity()) {
          window_.OnReturn(known.victim());
        }
        Mark(hash);
      }
      return nullptr;
    case Kind::kMarked:
      // The block never came to be offered. Asked for again, it is marked anew.
      *ghost_hit = true;
      Mark(hash);
      return nullptr;
    case Kind::kNone:
      return nullptr;
  }
  return nullptr;
}

bool TwoQ::Offer(uint64_t hash, bool room) {
  if (policy_ == Policy::kLru) {
    return true;
  }
  const Kind kind = index_.Find(hash).kind();
  if (policy_ == Policy::k2Q) {
    residency_.OnOffer(hash);
  }
  const bool known = kind == Kind::kMarked || (kind == Kind::kGhost && policy_ == Policy::k2QPaper);
  if (known || room) {
    return true;
  }
  if (kind != Kind::kBlock) {
    Remember(hash, /*victim=*/false);
  }
  return false;
}

void TwoQ::Promote(Block* block) {
  if (policy_ == Policy::k2Q) {
    ListOf(block)->Remove(block);
    block->promoted = true;
    block->carried = false;
    Use(block);
  }
}

void TwoQ::Return(Block* block) {
  ListOf(block)->Remove(block);
  block->promoted = false;
  block->carried = false;
  Use(block);
}

void TwoQ::Use(Block* block) {
  block->used = ++uses_;
  ListOf(block)->PushNewest(block);
}

void TwoQ::Unmark(uint64_t hash) {
  if (index_.Find(hash).kind() == Kind::kMarked) {
    Remember(hash, /*victim=*/false);
  }
}

void TwoQ::Compact() {
  Trim(&ghosts_, Kind::kGhost);
  Trim(&marked_, Kind::kMarked);
  index_.Compact();
}

void TwoQ::Add(Block* block) {
  assert(Find(block->hash) == nullptr);
  index_.Set(block->hash, Known(block));
  Use(block);
  blocks_++;
}

void TwoQ::AddCarried(Block* block, uint64_t age) {
  assert(Find(block->hash) == nullptr);
  index_.Set(block->hash, Known(block));
  block->carried = true;
  block->used = uses_ - std::min(age, uses_);
  carried_.PushNewest(block);
  blocks_++;
}

Block* TwoQ::Find(uint64_t hash) const {
  const Known known = index_.Find(hash);
  return known.kind() == Kind::kBlock ? known.block() : nullptr;
}

Block* TwoQ::ChooseVictim() const {
  Block* own = am_.oldest;
  if (own == nullptr || (carried_.oldest != nullptr && carried_.oldest->used < own->used)) {
    own = carried_.oldest;
  }
  if (own == nullptr || promoted_.oldest == nullptr) {
    return own != nullptr ? own : promoted_.oldest;
  }
  // A promoted block that was used before all others of AM may never be offered: the primary cache
  // is gone, say.
  if (promoted_.oldest->used < own->used) {
    return promoted_.oldest;
  }
  // The one promoted last will be away for longest.
  const uint64_t share = window_.factor() > 1 ? kPromotedVictimMoving : kPromotedVictim;
  return evictions_ % share == 0 ? promoted_.newest : own;
}

Block* TwoQ::Victim() {
  Block* block = ChooseVictim();
  if (block == nullptr) {
    return nullptr;
  }
  evictions_++;
  ListOf(block)->Remove(block);
  blocks_--;
  if (policy_ == Policy::kLru) {
    index_.Erase(block->hash);
  } else if (block->promoted) {
    Mark(block->hash);
  } else {
    Remember(block->hash, /*victim=*/true);
  }
  return block;
}

void TwoQ::Remove(Block* block, bool moved) {
  ListOf(block)->Remove(block);
  blocks_--;
  if (moved && policy_ != Policy::kLru) {
    Mark(block->hash);
  } else {
    index_.Erase(block->hash);
  }
}

void TwoQ::List::PushNewest(Block* block) {
  block->newer = nullptr;
  block->older = newest;
  (newest != nullptr ? newest->newer : oldest) = block;
  newest = block;
}

void TwoQ::List::Remove(Block* block) {
  (block->newer != nullptr ? block->newer->older : newest) = block->older;
  (block->older != nullptr ? block->older->newer : oldest) = block->newer;
}

void TwoQ::Remember(uint64_t hash, bool victim) {
  index_.Set(hash, Known(Kind::kGhost, ghosts_.Push(hash), victim));
  window_.OnPush(victim);
  Trim(&ghosts_, Kind::kGhost);
}

void TwoQ::Mark(uint64_t hash) {
  index_.Set(hash, Known(Kind::kMarked, marked_.Push(hash)));
  Trim(&marked_, Kind::kMarked);
}

void TwoQ::Trim(Fifo* fifo, Kind kind) {
  const size_t capacity = GhostCapacity();
  while (fifo->size() > capacity) {
    uint64_t position;
    const uint64_t hash = fifo->Pop(&position);
    const Known known = index_.Find(hash);
    if (known.kind() == kind && known.position() == position) {
      index_.Erase(hash);
    }
  }
}

size_t TwoQ::GhostCapacity() const {
  double wanted = BaseCapacity();
  if (policy_ == Policy::k2Q) {
    wanted = std::max(wanted * window_.factor(), 2.0 * static_cast<double>(residency_.blocks()));
  }
  return std::min(static_cast<size_t>(wanted), ghost_limit_);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
