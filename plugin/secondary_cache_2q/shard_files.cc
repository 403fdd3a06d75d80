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

constexpr BlockId kAtOnce = 1 << 14;  // ids

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

void Shard::EraseFiles(const std::vector<uint64_t>& files) {
  for (BlockId begin = 0; EraseSome(files, begin); begin += kAtOnce) {
    TEST_SYNC_POINT("TwoQShard::EraseFiles");
  }
}

// Looks at the ids from this one on. False: nothing is left to be erased.
bool Shard::EraseSome(const std::vector<uint64_t>& files, BlockId begin) {
  Victims victims = nullptr;
  bool goes_on = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const std::vector<uint32_t> numbers = NumbersOf(files);
    uint64_t left = 0;
    for (uint32_t number : numbers) {
      left += ssts_.Blocks(number);
    }
    const BlockId end = std::min(policy_.ids(), begin + kAtOnce);
    for (BlockId id = begin; id < end && left > 0; id++) {
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
    }
    goes_on = left > 0 && end < policy_.ids();
  }
  ReleaseAll(victims);
  return goes_on;
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
