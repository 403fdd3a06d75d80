// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/policy.h"

#include <algorithm>
#include <cassert>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

TwoQ::TwoQ(Policy policy, double ghost_ratio) : policy_(policy), ghost_ratio_(ghost_ratio) {}

Block* TwoQ::Lookup(uint64_t hash, bool* ghost_hit) {
  *ghost_hit = false;
  if (policy_ == Policy::k2Q) {
    residency_.OnLookup(hash);
  }
  const Known known = index_.Find(hash);
  switch (known.kind()) {
    case Kind::kBlock:
      if (known.block() != newest_) {
        Unlink(known.block());
        Link(known.block());
      }
      return known.block();
    case Kind::kGhost:
      *ghost_hit = true;
      if (policy_ == Policy::k2Q) {
        Remember(hash, Kind::kMarked);
      }
      return nullptr;
    case Kind::kMarked:
      // It never came to be offered: asked for again, it stays marked as if it were new.
      *ghost_hit = true;
      Remember(hash, Kind::kMarked);
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
    Remember(hash, Kind::kGhost);
  }
  return false;
}

void TwoQ::Add(Block* block) {
  assert(Find(block->hash) == nullptr);
  index_.Set(block->hash, Known(block));
  Link(block);
  blocks_++;
}

Block* TwoQ::Find(uint64_t hash) const {
  const Known known = index_.Find(hash);
  return known.kind() == Kind::kBlock ? known.block() : nullptr;
}

Block* TwoQ::Victim() {
  Block* block = oldest_;
  if (block == nullptr) {
    return nullptr;
  }
  Unlink(block);
  blocks_--;
  if (policy_ == Policy::kLru) {
    index_.Erase(block->hash);
  } else {
    Remember(block->hash, Kind::kGhost);
  }
  return block;
}

void TwoQ::Remove(Block* block, bool moved) {
  Unlink(block);
  blocks_--;
  if (moved && policy_ != Policy::kLru) {
    Remember(block->hash, Kind::kMarked);
  } else {
    index_.Erase(block->hash);
  }
}

void TwoQ::Link(Block* block) {
  block->newer = nullptr;
  block->older = newest_;
  (newest_ != nullptr ? newest_->newer : oldest_) = block;
  newest_ = block;
}

void TwoQ::Unlink(Block* block) {
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
}

void TwoQ::Remember(uint64_t hash, Kind kind) {
  Fifo* fifo = kind == Kind::kGhost ? &ghosts_ : &marked_;
  index_.Set(hash, Known(kind, fifo->Push(hash)));
  Trim(fifo, kind);
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
  auto wanted = static_cast<size_t>(ghost_ratio_ * static_cast<double>(blocks_));
  if (policy_ == Policy::k2Q) {
    wanted = std::max<size_t>(wanted, 2 * residency_.blocks());
  }
  return std::min(wanted, ghost_limit_);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
