// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/shard.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// A1 and the marked references have at most one reference each for so many bytes of the capacity.
constexpr size_t kBytesPerGhost = 512;

// Blocks for each bucket of the index. In a file memory counts, in DRAM the time of a look-up.
constexpr size_t kFileLoad = 5;
constexpr size_t kDramLoad = 1;

// Blocks that are evicted while the shard is locked once.
constexpr size_t kMostVictims = 1024;

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

Shard::Shard(const TwoQSecondaryCacheOptions& options, uint32_t number, size_t capacity,
             Store* store, const DeadSsts* dead)
    : store_(store),
      number_(number),
      dead_(dead),
      charges_metadata_(store->ChargesMetadata()),
      fills_any_(options.policy == Policy::k2QPaper),
      policy_(options.policy, GhostRatio(options),
              options.storage == Storage::kFile ? kFileLoad : kDramLoad),
      capacity_(capacity),
      unused_(capacity) {
  policy_.SetGhostLimit(capacity / kBytesPerGhost);
}

Block* Shard::Lookup(const Slice& key, uint64_t hash) {
  std::lock_guard<std::mutex> lock(mutex_);
  bool ghost_hit;
  const BlockId id = policy_.Lookup(hash, &ghost_hit);
  Block* const block = id != kNoBlock ? store_->Pin(number_, id, hash) : nullptr;
  if (block != nullptr && block->MayBe(key)) {
    stats_.hits++;
    return block;
  }
  if (block != nullptr) {
    store_->Release(block);
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
    const BlockId held = policy_.Find(hash);
    const bool room = HasRoom(size) && (fills_any_ || size <= unused_);
    if (capacity_ > 0 && held == kNoBlock && !dead_->Has(FileOfKey(key)) &&
        (force || policy_.Offer(hash, room))) {
      return true;
    }
    Block* const block = held != kNoBlock ? store_->Pin(number_, held, hash) : nullptr;
    if (block != nullptr && block->MayBe(key)) {
      policy_.Return(held);  // no second copy: a key's bytes never change
    } else {
      stats_.rejected++;
    }
    if (block != nullptr) {
      store_->Release(block);
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
    if (!Take(block, 0, /*is_carried=*/false)) {
      stats_.dropped++;
      return false;
    }
    stats_.admitted++;
    stats_.copied_bytes += block->size;
    Shrink(&victims);
  }
  ReleaseAll(victims);
  return true;
}

bool Shard::Adopt(const Store::Found& found) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!HasRoom(found.charge) || policy_.Find(found.hash) != kNoBlock) {
    return false;
  }
  policy_.Add(found.id, found.hash);
  Count(found.id, found.file, found.charge);
  return true;
}

std::string Shard::SaveOrder(uint64_t most) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string saved;
  policy_.Save(most, &saved);
  return saved;
}

bool Shard::RestoreOrder(uint64_t most, const Slice& saved) {
  std::lock_guard<std::mutex> lock(mutex_);
  return policy_.Restore(most, saved);
}

void Shard::SetNewest(BlockId id) {
  std::lock_guard<std::mutex> lock(mutex_);
  policy_.SetNewest(id);
}

bool Shard::WantsCarried(const Slice& key, uint64_t hash, size_t size, uint64_t age) {
  std::lock_guard<std::mutex> lock(mutex_);
  return capacity_ > 0 && policy_.Find(hash) == kNoBlock && !dead_->Has(FileOfKey(key)) &&
         (HasRoom(size) || TwoQ::IsYoung(age));
}

bool Shard::AddCarried(Block* block, uint64_t age) {
  Victims victims = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!Take(block, age, /*is_carried=*/true)) {
      return false;
    }
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
  Block* erased = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const BlockId id = policy_.Find(hash);
    if (id == kNoBlock) {
      return;
    }
    Block* const block = store_->Pin(number_, id, hash);
    const bool is_it = block->MayBe(key);
    store_->Release(block);
    if (!is_it) {
      return;
    }
    erased = TakeOut(id, /*moved=*/false);
  }
  store_->Release(erased);
}

// The caller's reference keeps the block's id from being used again.
void Shard::EraseBlock(Block* block, bool moved) {
  Block* erased;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (block->id == kNoBlock || !policy_.Has(block->id)) {
      return;
    }
    erased = TakeOut(block->id, moved);
  }
  store_->Release(erased);
}

void Shard::Promote(Block* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (block->id != kNoBlock && policy_.Has(block->id) && !policy_.IsPromoted(block->id)) {
    policy_.Promote(block->id);
  }
}

void Shard::SetCapacity(size_t capacity) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (capacity > capacity_) {
      unused_ += capacity - capacity_;
    }
    capacity_ = capacity;
    unused_ = std::min(unused_, capacity - std::min(usage_, capacity));
    policy_.SetGhostLimit(capacity / kBytesPerGhost);
  }
  while (EvictSome()) {
  }
}

// Evicts blocks that are too many, and then gives back memory. False: all is done.
bool Shard::EvictSome() {
  Victims victims = nullptr;
  bool goes_on = true;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < kMostVictims && usage_ > capacity_; i++) {
      Push(Evict(), &victims);
    }
    if (usage_ <= capacity_) {
      Compact();
      Shrink(&victims);
      goes_on = usage_ > 0 && usage_ + Metadata() > capacity_;
    }
  }
  ReleaseAll(victims);
  return goes_on;
}

// The bookkeeping of a larger cache would leave no room for blocks.
void Shard::Compact() {
  policy_.Compact();
  if (!store_->CanMove()) {
    return;
  }
  BlockId to = 0;
  for (BlockId from = policy_.ids(); from > policy_.blocks();) {
    if (policy_.Has(--from)) {
      while (policy_.Has(to)) {
        to++;
      }
      policy_.Move(from, to);
      store_->Move(number_, from, to);
      numbers_[to] = numbers_[from];
    }
  }
  const auto ids = static_cast<BlockId>(policy_.blocks());
  policy_.Truncate(ids);
  store_->Truncate(number_, ids);
  numbers_.Resize(ids);
}

void Shard::AddStats(TwoQSecondaryCacheStats* stats) const {
  std::lock_guard<std::mutex> lock(mutex_);
#define X(name, type, unit, description) stats->name += stats_.name;
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
  const size_t usage = usage_ + Metadata();
  stats->read_bytes += read_bytes_.load(std::memory_order_relaxed);
  stats->blocks += policy_.blocks();
  stats->ghosts += policy_.ghosts();
  stats->usage += usage;
  stats->capacity += capacity_;
  stats->memory += sizeof(*this) + Memory();
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

size_t Shard::Memory() const {
  return policy_.MemoryUsage() + numbers_.MemoryUsage() + ssts_.MemoryUsage() +
         store_->MemoryUsage(number_);
}

bool Shard::HasRoom(size_t charge) const { return usage_ + Metadata() + charge <= capacity_; }

// The block's SST may have been erased since the block was offered.
bool Shard::CanTake(const Block* block) const {
  return block->charge <= capacity_ && policy_.Find(block->hash) == kNoBlock &&
         !dead_->Has(block->file);
}

bool Shard::Take(Block* block, uint64_t age, bool is_carried) {
  if (!CanTake(block) || !store_->Keep(block)) {
    return false;
  }
  if (is_carried) {
    policy_.AddCarried(block->id, block->hash, age);
  } else {
    policy_.Add(block->id, block->hash);
  }
  Count(block->id, block->file, block->charge);
  return true;
}

// The policy has the block.
void Shard::Count(BlockId id, uint64_t file, size_t charge) {
  const uint32_t number = ssts_.AddBlock(file);
  if (id >= numbers_.size()) {
    numbers_.Resize(id + 1);
  }
  numbers_[id] = {{static_cast<uint8_t>(number), static_cast<uint8_t>(number >> 8),
                   static_cast<uint8_t>(number >> 16)}};
  usage_ += charge;
  unused_ -= std::min(unused_, charge);
}

// The policy has let go of the block.
Block* Shard::Forget(BlockId id) {
  ssts_.DropBlock(NumberOf(id));
  Block* const block = store_->Detach(number_, id);
  usage_ -= block->charge;
  return block;
}

Block* Shard::TakeOut(BlockId id, bool moved) {
  policy_.Remove(id, moved);
  stats_.erased++;
  return Forget(id);
}

Block* Shard::Evict() {
  const BlockId id = policy_.Victim();
  if (id == kNoBlock) {
    return nullptr;
  }
  stats_.evictions++;
  unused_ = 0;
  return Forget(id);
}

// After a change of the capacity there may be more to evict than one call should.
void Shard::Shrink(Victims* victims) {
  for (size_t i = 0; i < kMostVictims && usage_ > 0 && usage_ + Metadata() > capacity_; i++) {
    Push(Evict(), victims);
  }
}

void Shard::Push(Block* victim, Victims* victims) {
  victim->next = *victims;
  *victims = victim;
}

void Shard::ReleaseAll(Victims victims) {
  while (victims != nullptr) {
    Block* next = victims->next;
    store_->Release(victims);
    victims = next;
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
