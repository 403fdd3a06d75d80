// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/shard.h"

#include <algorithm>
#include <cassert>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// A1 and the marked references take at most this share of the capacity each.
constexpr size_t kGhostShare = 16;

// SSTs remembered as erased.
constexpr size_t kMaxDead = 4096;

double GhostRatio(const TwoQSecondaryCacheOptions& options) {
  if (options.ghost_ratio >= 0) {
    return options.ghost_ratio;
  }
  if (options.policy == Policy::k2QPaper) {
    return 0.05;
  }
  return options.storage == Storage::kFile ? 0.25 : 0.5;
}

}  // namespace

Shard::Shard(const TwoQSecondaryCacheOptions& options, size_t capacity, Store* store)
    : store_(store),
      charge_metadata_(store->ChargesMetadata()),
      fills_any_(options.policy == Policy::k2QPaper),
      policy_(options.policy, GhostRatio(options)),
      capacity_(capacity),
      unused_(capacity) {
  policy_.SetGhostLimit(capacity / kGhostShare);
}

Shard::~Shard() {
  while (EvictOne() > 0) {
  }
}

Block* Shard::Lookup(const Slice& key, uint64_t hash) {
  std::lock_guard<std::mutex> lock(mutex_);
  bool ghost_hit;
  Block* block = policy_.Lookup(hash, &ghost_hit);
  if (block != nullptr && block->Key() == key) {
    stats_.hits++;
    stats_.read_bytes += block->size;
    block->Ref();
    return block;
  }
  stats_.misses++;
  stats_.ghost_hits += ghost_hit;
  return nullptr;
}

bool Shard::Offer(const Slice& key, uint64_t hash, size_t size, bool force) {
  Victims victims = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stats_.offers++;
    Block* held = policy_.Find(hash);
    const bool room = HasRoom(size) && (fills_any_ || size <= unused_);
    if (capacity_ > 0 && held == nullptr && !Dead(key) && (force || policy_.Offer(hash, room))) {
      return true;
    }
    if (held == nullptr || held->Key() != key) {
      stats_.rejected++;
    } else {
      policy_.Return(held);  // no second copy: a key's bytes never change
    }
    Shrink(&victims);  // a new reference may have made A1 larger
  }
  ReleaseAll(victims);
  return false;
}

bool Shard::Add(Block* block) {
  Victims victims = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!CanTake(block)) {
      stats_.dropped++;
      return false;
    }
    policy_.Add(block);
    Took(block);
    stats_.admitted++;
    stats_.copied_bytes += block->size;
    Shrink(&victims);
  }
  ReleaseAll(victims);
  return true;
}

bool Shard::Adopt(Block* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!HasRoom(block->charge) || !CanTake(block)) {
    return false;
  }
  policy_.Add(block);
  Took(block);
  return true;
}

void Shard::ListFile(uint64_t file, std::vector<Held>* held) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = files_.find(file);
  const Block* block = it == files_.end() ? nullptr : it->second;
  for (; block != nullptr; block = block->file_next) {
    held->push_back({BlockOfKey(block->Key()), policy_.Age(block)});
  }
}

bool Shard::HasFile(uint64_t file) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return files_.count(file) > 0;
}

bool Shard::WantsCarried(const Slice& key, uint64_t hash, size_t size, uint64_t age) {
  std::lock_guard<std::mutex> lock(mutex_);
  return capacity_ > 0 && policy_.Find(hash) == nullptr && !Dead(key) &&
         (HasRoom(size) || policy_.IsYoung(age));
}

bool Shard::AddCarried(Block* block, uint64_t age) {
  Victims victims = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!CanTake(block)) {
      return false;
    }
    policy_.AddCarried(block, age);
    Took(block);
    stats_.carried++;
    stats_.copied_bytes += block->size;
    Shrink(&victims);
  }
  ReleaseAll(victims);
  return true;
}

void Shard::DropCarried() {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.carry_dropped++;
}

size_t Shard::EvictOne() {
  Block* victim;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    victim = Evict();
  }
  if (victim == nullptr) {
    return 0;
  }
  const size_t charge = victim->charge;
  store_->Release(victim);
  return charge;
}

void Shard::Erase(const Slice& key, uint64_t hash) {
  Block* block;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    block = policy_.Find(hash);
    if (block == nullptr || block->Key() != key) {
      return;
    }
    TakeOut(block, /*moved=*/false);
  }
  store_->Release(block);
}

void Shard::EraseBlock(Block* block, bool moved) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (policy_.Find(block->hash) != block) {
      return;
    }
    TakeOut(block, moved);
  }
  store_->Release(block);
}

void Shard::EraseFile(uint64_t file) {
  Victims victims = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    Bury(file);
    for (auto it = files_.find(file); it != files_.end(); it = files_.find(file)) {
      Block* block = it->second;
      policy_.Remove(block, /*moved=*/false);
      Forget(block);
      // The same records live on in other blocks, of other keys, that no reference knows.
      unused_ += block->charge;
      stats_.erased_obsolete++;
      Push(block, &victims);
    }
  }
  ReleaseAll(victims);
}

void Shard::Promote(Block* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (policy_.Find(block->hash) == block && !block->promoted) {
    policy_.Promote(block);
  }
}

void Shard::SetCapacity(size_t capacity) {
  Victims victims = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (capacity > capacity_) {
      unused_ += capacity - capacity_;
    }
    capacity_ = capacity;
    unused_ = std::min(unused_, capacity - std::min(usage_, capacity));
    policy_.SetGhostLimit(capacity / kGhostShare);
    while (usage_ > capacity_) {
      Push(Evict(), &victims);
    }
    policy_.Compact();  // the index of a larger cache would leave no room for blocks
    Shrink(&victims);
  }
  ReleaseAll(victims);
}

void Shard::AddStats(TwoQSecondaryCacheStats* stats) const {
  std::lock_guard<std::mutex> lock(mutex_);
#define X(name, type, unit, description) stats->name += stats_.name;
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
  const size_t usage = usage_ + Metadata();
  stats->blocks += policy_.blocks();
  stats->ghosts += policy_.ghosts();
  stats->usage += usage;
  stats->capacity += capacity_;
  stats->largest_shard = std::max<uint64_t>(stats->largest_shard, usage);
  stats->smallest_shard = std::min<uint64_t>(stats->smallest_shard, usage);
}

void Shard::Drop(uint64_t hash) {
  std::lock_guard<std::mutex> lock(mutex_);
  policy_.Unmark(hash);
  stats_.dropped++;
}

void Shard::CountCorrupt() {
  std::lock_guard<std::mutex> lock(mutex_);
  stats_.corrupt++;
}

size_t Shard::Metadata() const { return charge_metadata_ ? policy_.MemoryUsage() : 0; }

bool Shard::HasRoom(size_t charge) const { return usage_ + Metadata() + charge <= capacity_; }

// The block's SST may have been erased since the block was offered.
bool Shard::CanTake(const Block* block) const {
  return block->charge <= capacity_ && policy_.Find(block->hash) == nullptr && !Dead(block->Key());
}

// The policy has the block.
void Shard::Took(Block* block) {
  block->Ref();
  LinkFile(block);
  usage_ += block->charge;
  unused_ -= std::min(unused_, block->charge);
}

void Shard::Bury(uint64_t file) {
  if (dead_.insert(file).second) {
    dead_order_.push_back(file);
  }
  if (dead_order_.size() > kMaxDead) {
    dead_.erase(dead_order_.front());
    dead_order_.pop_front();
  }
}

void Shard::LinkFile(Block* block) {
  const uint64_t file = FileOfKey(block->Key());
  if (file == 0) {
    return;
  }
  Block*& head = files_[file];
  block->file_prev = nullptr;
  block->file_next = head;
  if (head != nullptr) {
    head->file_prev = block;
  }
  head = block;
}

void Shard::UnlinkFile(Block* block) {
  if (block->file_next != nullptr) {
    block->file_next->file_prev = block->file_prev;
  }
  if (block->file_prev != nullptr) {
    block->file_prev->file_next = block->file_next;
    return;
  }
  const uint64_t file = FileOfKey(block->Key());
  if (file == 0) {
    return;
  }
  auto it = files_.find(file);
  assert(it != files_.end() && it->second == block);
  if (block->file_next != nullptr) {
    it->second = block->file_next;
  } else {
    files_.erase(it);
  }
}

// The policy has let go of the block.
void Shard::Forget(Block* block) {
  UnlinkFile(block);
  usage_ -= block->charge;
}

void Shard::TakeOut(Block* block, bool moved) {
  policy_.Remove(block, moved);
  Forget(block);
  stats_.erased++;
}

Block* Shard::Evict() {
  Block* victim = policy_.Victim();
  if (victim != nullptr) {
    Forget(victim);
    stats_.evictions++;
    unused_ = 0;
  }
  return victim;
}

void Shard::Shrink(Victims* victims) {
  while (usage_ > 0 && usage_ + Metadata() > capacity_) {
    Push(Evict(), victims);
  }
}

void Shard::Push(Block* victim, Victims* victims) {
  victim->older = *victims;
  *victims = victim;
}

void Shard::ReleaseAll(Victims victims) {
  while (victims != nullptr) {
    Block* next = victims->older;
    store_->Release(victims);
    victims = next;
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
