// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/index.h"
#include "plugin/secondary_cache_2q/references.h"
#include "plugin/secondary_cache_2q/residency.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "plugin/secondary_cache_2q/window.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Which blocks stay and which go: AM, A1 and the rule between them (Lersch et al., section 6,
// Algorithm 1). Knows blocks by their id and by a part of the hash of their key, the tag, and holds
// no bytes. Does no I/O and has no clock, so that the same calls always give the same answers.
//
// The paper has one call, FIX. Behind a primary cache it falls apart into two: a block that is
// missed is looked up here by Lookup(), is read from its SST into the primary cache, and is offered
// here by Offer() when it leaves that cache. policy=2q_paper decides at the offer, by what A1 knows
// then. By then a reference of a small A1 has rolled over. So policy=2q decides at the look-up: a
// miss that finds a reference in A1 marks it, and a marked block is admitted when it is offered,
// however long the primary cache held it.
//
// The paper's AM is in LRU order, which takes eight bytes for each block. This one is CLOCK: each
// block has a bit that it was used, and a hand goes round over all ids. It takes the next block
// that was not used since it came by last, and clears the bits of those before. The order of use is
// then the order of ids from the hand on, and these bits.
//
// Not thread-safe: the shard's mutex guards it. Ids are the caller's.
class TwoQ {
 public:
  // `load`: see Index.
  TwoQ(Policy policy, double ghost_ratio, size_t load = 1);

  // A block with the tag of this hash, now used, or kNoBlock. Then *ghost_hit tells whether A1 knew
  // it. It may be another key's: see Index.
  BlockId Lookup(uint64_t hash, bool* ghost_hit);

  // Whether a block that leaves the primary cache shall enter AM. If not, A1 remembers it.
  // `room`: AM can take it without evicting another one, and policy=2q has not yet used up the free
  // room of the cache that it fills with blocks nobody has asked for twice.
  // policy=2q takes unknown ones, too, while the hot set moves fast: see Window.
  bool Offer(uint64_t hash, bool room);

  // The primary cache took a block that stays here, and will offer it when it evicts it. Does
  // nothing unless policy=2q.
  void Promote(BlockId id);
  // A block of AM leaves the primary cache: it was used, and nobody else has it.
  void Return(BlockId id);

  // Puts a block into AM. Requires that AM has none with this id, or with the tag of this hash.
  void Add(BlockId id, uint64_t hash);
  BlockId Find(uint64_t hash) const { return index_.Find(Index::TagOf(hash)); }
  bool Has(BlockId id) const { return index_.Has(id); }
  bool IsPromoted(BlockId id) const { return index_.Is(id, Index::kPromoted); }

  // How long ago a block was used, about, in parts of a round of the hand: kRound is a whole one.
  static constexpr uint64_t kRound = 1024;
  uint64_t Age(BlockId id) const;
  // Whether a full AM would go on to hold a block of this age for a while.
  static bool IsYoung(uint64_t age) { return age < kRound; }
  // Does what Add() does with a block that takes the place of one of this age.
  void AddCarried(BlockId id, uint64_t hash, uint64_t age);

  // Takes a block out of AM to make room: the next one of the hand, which A1 remembers. With
  // policy=2q every sixth victim, and every second one while the hot set moves, is a block that the
  // primary cache has too, and that is taken back when it leaves that cache. kNoBlock if AM is
  // empty.
  BlockId Victim();

  // Takes a block out of AM without a trace, or, with `moved`, so that its next offer is accepted:
  // it has moved to the primary cache.
  void Remove(BlockId id, bool moved);

  // A block that was accepted at its offer found no room. That acceptance does not hold for its
  // next offer.
  void Unmark(uint64_t hash);

  // Gives back the memory of references beyond those that there are to be.
  void Compact();
  // Gives a block another id, which is free; and forgets ids from `ids` on, none of which is held.
  void Move(BlockId from, BlockId to);
  void Truncate(BlockId ids);

  // A1 never takes more than this many references, nor do the marked ones.
  void SetGhostLimit(size_t references) { ghost_limit_ = references; }

  // Appends the order of use and A1, with up to `most` references, and as many that are marked.
  void Save(size_t most, std::string* to) const;
  // The most bytes that Save() writes for ids below `ids`.
  static constexpr uint64_t SavedSize(uint64_t ids, uint64_t most) {
    return 36 + (ids + 7) / 8 + 2 * most * References::kBytes;
  }
  // Takes what Save() wrote, when the same blocks have been added with the same ids. False if it is
  // damaged: the order is not changed then.
  bool Restore(size_t most, Slice from);
  // The hand comes by this block last, and by those with lower ids just before. None was used.
  void SetNewest(BlockId id);

  size_t blocks() const { return index_.size(); }
  BlockId ids() const { return index_.ids(); }
  size_t ghosts() const { return ghosts_.size(); }  // references in A1
  size_t MemoryUsage() const;                       // bytes

  static constexpr size_t kGhostBytes = References::kBytes;

 private:
  void Use(BlockId id, bool promoted);
  void Insert(BlockId id, uint64_t hash);
  uint64_t Passed(BlockId id) const;
  BlockId ChooseVictim();
  BlockId PopPromoted();
  BlockId Sweep();
  void Remember(uint32_t tag, bool victim);
  void Mark(uint32_t tag);
  // What A1 takes by ghost_ratio alone, and in force.
  double BaseCapacity() const { return ghost_ratio_ * static_cast<double>(blocks()); }
  size_t GhostCapacity() const;
  size_t MarkedCapacity() const;

  const Policy policy_;
  const double ghost_ratio_;
  size_t ghost_limit_ = SIZE_MAX;
  Index index_;                      // AM
  References ghosts_;                // A1
  References marked_;                // references that a look-up found in A1
  std::vector<BlockId> promotions_;  // the latest, newest last; they may be promoted no longer
  Residency residency_;
  Window window_;
  BlockId hand_ = 0;
  uint64_t evictions_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
