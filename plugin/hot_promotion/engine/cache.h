// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugin/hot_promotion/ralt/space.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Memory for records that were read from slow storage and may be worth a copy in the hot store
// (HotRAP's promotion cache, section 3.4). There are two halves. The active one takes records; when
// it is full it is frozen, and written to the store while the other one takes records. Both answer
// reads. When both are full records are refused.
//
// Thread-safe, but for Freeze(), Frozen() and Thaw(): one call of these at a time.
class PromotionCache {
 public:
  struct Record {
    std::string key;  // of the store
    std::string value;
    Space space = 0;
    std::atomic<uint32_t> hits{0};  // times that it was served
  };

  explicit PromotionCache(uint64_t bytes);

  // `hash` is HashOfKey(key). `serve` is called with the value, under a lock.
  template <typename Serve>
  bool Get(const Slice& key, uint64_t hash, const Serve& serve);

  enum class Result { kAdded, kKnown, kRefused };

  // kKnown: it was there. kRefused: there is no room, or the record is too large.
  Result Put(const Slice& key, uint64_t hash, Space space, const Slice& value);

  // Bytes in the active half, and in both.
  uint64_t ActiveBytes() const { return active_bytes_.load(std::memory_order_relaxed); }
  uint64_t Bytes() const { return ActiveBytes() + frozen_bytes_.load(std::memory_order_relaxed); }

  // Freezes the active half. The frozen one must be empty.
  void Freeze();
  // The frozen records, by key. Valid until Thaw(). Their number of hits goes on growing.
  std::vector<const Record*> Frozen() const;
  // Calls visit(hash) for all records.
  template <typename Visit>
  void ForEach(const Visit& visit) const;
  // Empties the frozen half.
  void Thaw();

 private:
  static constexpr size_t kShards = 64;

  // Pairs a key with its hash, which is not computed twice.
  struct Key {
    uint64_t hash;
    std::string_view bytes;
    bool operator==(const Key& other) const { return hash == other.hash && bytes == other.bytes; }
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return key.hash; }
  };
  using Map = std::unordered_map<Key, std::unique_ptr<Record>, KeyHash>;
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Map active;
    Map frozen;
  };

  Shard& ShardOf(uint64_t hash) { return shards_[hash >> 58]; }

  const uint64_t half_;
  std::atomic<uint64_t> active_bytes_{0};
  std::atomic<uint64_t> frozen_bytes_{0};
  std::array<Shard, kShards> shards_;
};

template <typename Serve>
bool PromotionCache::Get(const Slice& key, uint64_t hash, const Serve& serve) {
  Shard& shard = ShardOf(hash);
  std::lock_guard<std::mutex> lock(shard.mutex);
  for (Map* map : {&shard.active, &shard.frozen}) {
    const auto it = map->find(Key{hash, key.ToStringView()});
    if (it != map->end()) {
      it->second->hits.fetch_add(1, std::memory_order_relaxed);
      serve(Slice(it->second->value));
      return true;
    }
  }
  return false;
}

template <typename Visit>
void PromotionCache::ForEach(const Visit& visit) const {
  for (const Shard& shard : shards_) {
    std::lock_guard<std::mutex> lock(shard.mutex);
    for (const Map* map : {&shard.active, &shard.frozen}) {
      for (const auto& [key, record] : *map) {
        visit(key.hash);
      }
    }
  }
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
