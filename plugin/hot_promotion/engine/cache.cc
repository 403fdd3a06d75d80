// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/cache.h"

#include <algorithm>

#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

// Bytes of maps and allocations for each record.
constexpr uint64_t kOverhead = 160;

}  // namespace

PromotionCache::PromotionCache(uint64_t bytes) : half_(bytes / 2) {}

PromotionCache::Result PromotionCache::Put(const Slice& key, uint64_t hash, Space space,
                                           const Slice& value) {
  const uint64_t bytes = key.size() + value.size() + kOverhead;
  if (bytes > half_ / 8 || ActiveBytes() + bytes > half_) {
    return Result::kRefused;
  }
  auto record = std::make_unique<Record>();
  record->key = key.ToString();
  record->value = value.ToString();
  record->space = space;
  Shard& shard = ShardOf(hash);
  std::lock_guard<std::mutex> lock(shard.mutex);
  const Key mapped{hash, record->key};
  if (shard.frozen.count(mapped) > 0 || !shard.active.emplace(mapped, std::move(record)).second) {
    return Result::kKnown;
  }
  active_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return Result::kAdded;
}

void PromotionCache::Freeze() {
  for (Shard& shard : shards_) {
    std::lock_guard<std::mutex> lock(shard.mutex);
    uint64_t bytes = 0;
    for (const auto& [key, record] : shard.active) {
      bytes += record->key.size() + record->value.size() + kOverhead;
    }
    shard.active.swap(shard.frozen);
    frozen_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    active_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

std::vector<const PromotionCache::Record*> PromotionCache::Frozen() const {
  std::vector<const Record*> records;
  for (const Shard& shard : shards_) {
    std::lock_guard<std::mutex> lock(shard.mutex);
    for (const auto& [key, record] : shard.frozen) {
      records.push_back(record.get());
    }
  }
  std::sort(records.begin(), records.end(),
            [](const Record* a, const Record* b) { return a->key < b->key; });
  return records;
}

void PromotionCache::Thaw() {
  for (Shard& shard : shards_) {
    Map thawed;
    std::lock_guard<std::mutex> lock(shard.mutex);
    thawed.swap(shard.frozen);
  }
  frozen_bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
