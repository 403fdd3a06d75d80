// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/chunked_array.h"
#include "plugin/secondary_cache_2q/dead_ssts.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/policy.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "plugin/secondary_cache_2q/sst_numbers.h"
#include "plugin/secondary_cache_2q/store.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// One part of the cache: the policy's state for its share of the keys, and the accounting.
//
// Thread-safe: one mutex, under which no byte of a block is copied, read, written or freed.
// Invariants: the store keeps just the blocks that are in AM, by the same ids. Usage is the sum of
// the charges of the blocks in AM (and of the metadata if the store charges it); it exceeds the
// capacity only while a call is evicting.
class Shard {
 public:
  // `number`: which of the cache's shards. `dead` and `store` outlive it.
  Shard(const TwoQSecondaryCacheOptions& options, uint32_t number, size_t capacity, Store* store,
        const DeadSsts* dead);
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // The block with a reference for the caller, or null. In a file it may be another key's.
  Block* Lookup(const Slice& key, uint64_t hash);

  // Whether a block that leaves the primary cache is to be stored; see TwoQ::Offer.
  // `size` in bytes. With `force` the policy is not asked.
  bool Offer(const Slice& key, uint64_t hash, size_t size, bool force);

  // Takes a block into AM, and evicts others to make room. False if the key has come in meanwhile,
  // its SST is gone, or the block is larger than the shard.
  bool Add(Block* block);

  // What AM holds of an SST.
  struct Held {
    uint64_t block = 0;  // the last eight bytes of its key
    uint64_t age = 0;    // see TwoQ
  };
  void ListFile(uint64_t file, std::vector<Held>* held);
  bool HasFile(uint64_t file) const;

  // Whether a block that takes the place of one of this age is to be stored. `size` in bytes.
  bool WantsCarried(const Slice& key, uint64_t hash, size_t size, uint64_t age);
  // Does what Add() does with it.
  bool AddCarried(Block* block, uint64_t age);
  // One that was wanted could not be stored or written.
  void DropCarried();

  // Takes a block that was found in the cache file into AM, if that needs no eviction.
  bool Adopt(const Store::Found& found);
  // The order of use and A1, with up to `most` references of each kind; and takes them when all
  // blocks are adopted. False if they are damaged.
  std::string SaveOrder(uint64_t most) const;
  bool RestoreOrder(uint64_t most, const Slice& saved);
  // Without such an order: they came in that of their ids, this one last.
  void SetNewest(BlockId id);

  // Evicts one block. Returns its charge in bytes, 0 if there is none.
  size_t EvictOne();

  // Removes the key's block.
  void Erase(const Slice& key, uint64_t hash);
  // Removes exactly this block, if it is still in AM. `moved`: it went to the primary cache.
  void EraseBlock(Block* block, bool moved);
  // The primary cache keeps a copy of this block from now on, and will offer it when it lets it go.
  void Promote(Block* block);
  // Removes the blocks of SSTs, each given by the first eight bytes of its cache keys. They are
  // among the dead already, so that no more come.
  void EraseFiles(const std::vector<uint64_t>& files);

  void SetCapacity(size_t capacity);
  void AddStats(TwoQSecondaryCacheStats* stats) const;
  // A block that was accepted could not be stored or written: counts it and unmarks its key.
  void Drop(uint64_t hash);
  void CountCorrupt();
  // A look-up returned a block of so many stored bytes.
  void CountRead(size_t size) { read_bytes_.fetch_add(size, std::memory_order_relaxed); }

 private:
  using Victims = Block*;  // linked by Block::next
  struct Number {          // of an SST
    uint8_t bytes[3];
  };

  size_t Memory() const;
  size_t Metadata() const { return charges_metadata_ ? Memory() : 0; }
  bool HasRoom(size_t charge) const;
  bool CanTake(const Block* block) const;
  bool Take(Block* block, uint64_t age, bool is_carried);
  void Count(BlockId id, uint64_t file, size_t charge);
  uint32_t NumberOf(BlockId id) const;
  std::vector<uint32_t> NumbersOf(const std::vector<uint64_t>& files) const;
  BlockId EraseSome(const std::vector<uint64_t>& files, BlockId end);
  bool ListSome(uint64_t file, BlockId begin, std::vector<std::pair<BlockId, uint64_t>>* held);
  Block* Forget(BlockId id);
  Block* TakeOut(BlockId id, bool moved);
  Block* Evict();
  bool EvictSome();
  void Compact();
  static void Push(Block* victim, Victims* victims);
  void Shrink(Victims* victims);
  void ReleaseAll(Victims victims);

  Store* const store_;
  const uint32_t number_;
  const DeadSsts* const dead_;
  const bool charges_metadata_;
  const bool fills_any_;  // any room is filled with any block, as Algorithm 1 has it

  std::atomic<uint64_t> read_bytes_{0};

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  TwoQ policy_;
  size_t capacity_;
  size_t usage_ = 0;  // bytes of blocks in AM
  // Bytes that may still be filled with blocks that nobody has asked for twice: the room of an
  // empty or enlarged cache, and what blocks of deleted SSTs left. Does not include room that a
  // promotion leaves, else each promotion would let a cold block in.
  size_t unused_;
  SstNumbers ssts_;
  ChunkedArray<Number> numbers_;  // by id: of the block's SST, 0 if there is none
  TwoQSecondaryCacheStats stats_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
