// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/policy.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "plugin/secondary_cache_2q/store.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// One part of the cache: the policy's state for its share of the keys, and the accounting.
//
// Thread-safe: one mutex, under which no byte of a block is copied, read, written or freed.
// Owns one reference of each block in AM.
// Invariants: usage is the sum of the charges of the blocks in AM (and of the metadata if the store
// charges it); it exceeds the capacity only while a call is evicting.
class Shard {
 public:
  Shard(const TwoQSecondaryCacheOptions& options, size_t capacity, Store* store);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // The block with a reference for the caller, or null.
  Block* Lookup(const Slice& key, uint64_t hash);

  // Whether a block that leaves the primary cache is to be stored; see TwoQ::Offer.
  // `size` in bytes. With `force` the policy is not asked.
  bool Offer(const Slice& key, uint64_t hash, size_t size, bool force);

  // Takes a block into AM, with a reference of its own, and evicts others to make room. False if
  // the key has come in meanwhile, its SST is gone, or the block is larger than the shard.
  bool Add(Block* block);

  // What AM holds of an SST.
  struct Held {
    uint64_t block = 0;  // the last eight bytes of its key
    uint64_t age = 0;    // see TwoQ
  };
  void ListFile(uint64_t file, std::vector<Held>* held) const;
  bool HasFile(uint64_t file) const;

  // Whether a block that takes the place of one of this age is to be stored. `size` in bytes.
  bool WantsCarried(const Slice& key, uint64_t hash, size_t size, uint64_t age);
  // Does what Add() does with it.
  bool AddCarried(Block* block, uint64_t age);
  // One that was wanted could not be stored or written.
  void DropCarried();

  // Takes a block that was found in the cache file into AM, if that needs no eviction.
  bool Adopt(Block* block);

  // Evicts one block. Returns its charge in bytes, 0 if there is none.
  size_t EvictOne();

  // Removes the key's block.
  void Erase(const Slice& key, uint64_t hash);
  // Removes exactly this block, if it is still in AM. `moved`: it went to the primary cache.
  void EraseBlock(Block* block, bool moved);
  // The primary cache keeps a copy of this block from now on, and will offer it when it lets it go.
  void Promote(Block* block);
  // Removes the blocks of an SST, given by the first eight bytes of its cache keys, and takes no
  // more of them.
  void EraseFile(uint64_t file);

  void SetCapacity(size_t capacity);
  void AddStats(TwoQSecondaryCacheStats* stats) const;
  // A block that was accepted could not be stored or written: counts it and unmarks its key.
  void Drop(uint64_t hash);
  void CountCorrupt();

 private:
  using Victims = Block*;  // linked by Block::older

  size_t Metadata() const;
  bool HasRoom(size_t charge) const;
  bool CanTake(const Block* block) const;
  void Took(Block* block);
  void Bury(uint64_t file);
  bool Dead(const Slice& key) const { return !dead_.empty() && dead_.count(FileOfKey(key)) > 0; }
  void LinkFile(Block* block);
  void UnlinkFile(Block* block);
  void Forget(Block* block);
  void TakeOut(Block* block, bool moved);
  Block* Evict();
  static void Push(Block* victim, Victims* victims);
  void Shrink(Victims* victims);
  void ReleaseAll(Victims victims);

  Store* const store_;
  const bool charge_metadata_;
  const bool fills_any_;  // any room is filled with any block, as Algorithm 1 has it

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  TwoQ policy_;
  size_t capacity_;
  size_t usage_ = 0;  // bytes of blocks in AM
  // Bytes that may still be filled with blocks that nobody has asked for twice: the room of an
  // empty or enlarged cache, and what blocks of deleted SSTs left. Does not include room that a
  // promotion leaves, else each promotion would let a cold block in.
  size_t unused_;
  std::unordered_map<uint64_t, Block*> files_;  // head of the list of an SST's blocks
  // SSTs that were erased lately: the primary cache still has blocks of them to offer.
  std::unordered_set<uint64_t> dead_;
  std::deque<uint64_t> dead_order_;
  TwoQSecondaryCacheStats stats_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
