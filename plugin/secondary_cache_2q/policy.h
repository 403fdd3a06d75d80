// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/fifo.h"
#include "plugin/secondary_cache_2q/index.h"
#include "plugin/secondary_cache_2q/residency.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "plugin/secondary_cache_2q/window.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Which blocks stay and which go: AM, A1 and the rule between them (Lersch et al., section 6,
// Algorithm 1). Knows blocks by the hash of their key and holds no bytes. Does no I/O and has no
// clock, so that the same calls always give the same answers.
//
// The paper has one call, FIX. Behind a primary cache it falls apart into two: a block that is
// missed is looked up here by Lookup(), is read from its SST into the primary cache, and is offered
// here by Offer() when it leaves that cache. policy=2q_paper decides at the offer, by what A1 knows
// then. By then a reference of a small A1 has rolled over. So policy=2q decides at the look-up: a
// miss that finds a reference in A1 marks it, and a marked block is admitted when it is offered,
// however long the primary cache held it.
//
// Not thread-safe: the shard's mutex guards it. Owns no blocks.
class TwoQ {
 public:
  TwoQ(Policy policy, double ghost_ratio);

  // The block, now the most recently used one, or null. Then *ghost_hit tells whether A1 knew it.
  Block* Lookup(uint64_t hash, bool* ghost_hit);

  // Whether a block that leaves the primary cache shall enter AM. If not, A1 remembers it.
  // `room`: AM can take it without evicting another one, and policy=2q has not yet used up the free
  // room of the cache that it fills with blocks nobody has asked for twice.
  bool Offer(uint64_t hash, bool room);

  // The primary cache took a block that stays here, and will offer it when it evicts it. Does
  // nothing unless policy=2q.
  void Promote(Block* block);
  // A block of AM leaves the primary cache: it is the most recently used one again.
  void Return(Block* block);

  // Puts a block into AM as the most recently used one. Requires that AM has none with this hash.
  void Add(Block* block);
  Block* Find(uint64_t hash) const;

  // The uses of other blocks since this one was used.
  uint64_t Age(const Block* block) const { return uses_ - block->used; }
  // Whether a full AM would still hold a block of this age.
  bool IsYoung(uint64_t age) const { return am_.oldest == nullptr || age <= Age(am_.oldest); }
  // Puts a block into AM that takes the place of one of this age. It is evicted when that one would
  // have been, or soon after: among themselves such blocks go in the order in which they came.
  // Requires that AM has none with this hash.
  void AddCarried(Block* block, uint64_t age);

  // Takes a block out of AM to make room: the least recently used one, which A1 remembers. With
  // policy=2q every sixth victim, and every second one while the hot set moves, is a block that the
  // primary cache has too, and that is taken back when it leaves that cache. Null if AM is empty.
  Block* Victim();

  // Takes a block out of AM without a trace, or, with `moved`, so that its next offer is accepted:
  // it has moved to the primary cache.
  void Remove(Block* block, bool moved);

  // A block that was accepted at its offer found no room. That acceptance does not hold for its
  // next offer.
  void Unmark(uint64_t hash);

  // Gives back memory that the index and the FIFOs took when they were larger.
  void Compact();

  // A1 never takes more than this many bytes.
  void SetGhostLimit(size_t bytes) { ghost_limit_ = bytes / kGhostBytes; }

  size_t blocks() const { return blocks_; }
  // References in A1, counting places that no longer count (see Fifo).
  size_t ghosts() const { return ghosts_.size(); }
  // Bytes of the index and the FIFOs.
  size_t MemoryUsage() const {
    return index_.MemoryUsage() + ghosts_.MemoryUsage() + marked_.MemoryUsage();
  }

  // A place in a FIFO and its share of an index that is two thirds full.
  static constexpr size_t kGhostBytes = 32;

 private:
  // A list of blocks in LRU order.
  struct List {
    Block* newest = nullptr;
    Block* oldest = nullptr;
    void PushNewest(Block* block);
    void Remove(Block* block);
  };

  void Use(Block* block);
  Block* ChooseVictim() const;

  List* ListOf(const Block* block) {
    return block->promoted ? &promoted_ : block->carried ? &carried_ : &am_;
  }
  void Remember(uint64_t hash, bool victim);
  void Mark(uint64_t hash);
  void Trim(Fifo* fifo, Kind kind);
  // What A1 takes by ghost_ratio alone, and in force.
  double BaseCapacity() const { return ghost_ratio_ * static_cast<double>(blocks_); }
  size_t GhostCapacity() const;

  const Policy policy_;
  const double ghost_ratio_;
  size_t ghost_limit_ = SIZE_MAX;
  Index index_;
  Fifo ghosts_;  // A1
  Fifo marked_;  // references that a look-up found in A1
  Residency residency_;
  Window window_;
  List am_;
  List promoted_;  // blocks of AM that the primary cache has too
  List carried_;   // blocks of AM that nobody has used since they were carried
  uint64_t evictions_ = 0;
  uint64_t uses_ = 0;
  size_t blocks_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
