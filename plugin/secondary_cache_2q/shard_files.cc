// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Shard that knows blocks by their SST. There are no lists: it looks at all blocks, but
// not at all at once, so that the shard is not locked for long.

#include <algorithm>
#include <utility>

#include "plugin/secondary_cache_2q/shard.h"
#include "plugin/secondary_cache_2q/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

// Ids that are looked at, and blocks that are erased, while the shard is locked once.
constexpr BlockId kAtOnce = 1 << 14;
constexpr size_t kErasedAtOnce = 1 << 10;

}  // namespace

uint32_t Shard::NumberOf(BlockId id) const {
  const uint8_t* const bytes = numbers_[id].bytes;
  return bytes[0] | uint32_t{bytes[1]} << 8 | uint32_t{bytes[2]} << 16;
}

// In order, and without those of which nothing is held. A number is good until the mutex is let go.
std::vector<uint32_t> Shard::NumbersOf(const std::vector<uint64_t>& files) const {
  std::vector<uint32_t> numbers;
  for (uint64_t file : files) {
    const uint32_t number = ssts_.Find(file);
    if (number != 0) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool Shard::HasFile(uint64_t file) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return ssts_.Find(file) != 0;
}

// Goes down: what Compact() moves between two pieces goes to a lower id, and so is not missed.
void Shard::EraseFiles(const std::vector<uint64_t>& files) {
  for (BlockId end = kNoBlock; (end = EraseSome(files, end)) > 0;) {
    TEST_SYNC_POINT("TwoQShard::EraseFiles");
  }
}

// Looks at the ids just below this one. Returns from which to go on; 0: nothing is left.
BlockId Shard::EraseSome(const std::vector<uint64_t>& files, BlockId end) {
  Victims victims = nullptr;
  uint64_t left = 0;
  BlockId id;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const std::vector<uint32_t> numbers = NumbersOf(files);
    for (uint32_t number : numbers) {
      left += ssts_.Blocks(number);
    }
    id = std::min(policy_.ids(), end);
    const BlockId begin = id - std::min(id, kAtOnce);
    for (size_t erased = 0; id > begin && left > 0 && erased < kErasedAtOnce;) {
      id--;
      if (!policy_.Has(id) || !std::binary_search(numbers.begin(), numbers.end(), NumberOf(id))) {
        continue;
      }
      policy_.Remove(id, /*moved=*/false);
      Block* const block = Forget(id);
      // The same records live on in other blocks, of other keys, that no reference knows.
      unused_ += block->charge;
      stats_.erased_obsolete++;
      Push(block, &victims);
      left--;
      erased++;
    }
  }
  ReleaseAll(victims);
  return left > 0 ? id : 0;
}

void Shard::ListFile(uint64_t file, std::vector<Held>* held) {
  std::vector<std::pair<BlockId, uint64_t>> found;
  for (BlockId begin = 0; ListSome(file, begin, &found); begin += kAtOnce) {
  }
  for (const auto& [id, age] : found) {
    std::string key;
    if (store_->FindKey(number_, id, &key) && FileOfKey(key) == file) {
      held->push_back({BlockOfKey(key), age});
    }
  }
}

// Does for the list what EraseSome() does.
bool Shard::ListSome(uint64_t file, BlockId begin,
                     std::vector<std::pair<BlockId, uint64_t>>* held) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t number = ssts_.Find(file);
  const BlockId end = std::min(policy_.ids(), begin + kAtOnce);
  for (BlockId id = begin; id < end && held->size() < ssts_.Blocks(number); id++) {
    if (policy_.Has(id) && NumberOf(id) == number) {
      held->emplace_back(id, policy_.Age(id));
    }
  }
  return held->size() < ssts_.Blocks(number) && end < policy_.ids();
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
