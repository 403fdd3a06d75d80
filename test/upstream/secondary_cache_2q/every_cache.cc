// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Linked into a RocksDB test with --wrap, and with the environment variable
// ROCKTIER_SECONDARY_CACHE, puts a TwoQSecondaryCache below every block cache that the test or
// RocksDB makes, and makes the block cache so small that nearly every block leaves it: the test
// then reads through the secondary cache. See README.md.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "gtest/gtest.h"
#include "rocksdb/cache.h"
#include "rocksdb/secondary_cache.h"
#include "test/upstream/secondary_cache_2q/two_q_from_environment.h"

namespace ROCKSDB_NAMESPACE {

namespace {

constexpr size_t kPrimaryCapacity = 8 << 10;
constexpr size_t kSecondaryCapacity = 4 << 20;

std::atomic<uint64_t> found{0};

bool IsWanted() {
  static const bool wanted = getenv("ROCKTIER_SECONDARY_CACHE") != nullptr;
  return wanted;
}

// Counts the blocks that look-ups find.
class CountingCache : public SecondaryCacheWrapper {
 public:
  using SecondaryCacheWrapper::SecondaryCacheWrapper;

  const char* Name() const override { return "CountingCache"; }

  std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) override {
    auto handle =
        target()->Lookup(key, helper, create_context, wait, advise_erase, stats, kept_in_sec_cache);
    if (handle != nullptr) {
      found.fetch_add(1, std::memory_order_relaxed);
    }
    return handle;
  }
};

// A run in which the cache answered nothing has shown nothing.
class FoundBlocks : public testing::Environment {
 public:
  void TearDown() override {
    if (!IsWanted()) {
      return;
    }
    printf("TwoQSecondaryCache answered %llu look-ups\n",
           static_cast<unsigned long long>(found.load()));
    EXPECT_GT(found.load(), 0u);
  }
};

const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new FoundBlocks);

template <typename Options>
Options WithTwoQ(const Options& options) {
  Options changed = options;
  // Tests with a strict limit count on the capacity that they ask for.
  if (IsWanted() && changed.secondary_cache == nullptr && !changed.strict_capacity_limit) {
    changed.capacity = std::min(changed.capacity, kPrimaryCapacity);
    changed.num_shard_bits = 0;
    changed.secondary_cache =
        std::make_shared<CountingCache>(NewTwoQFromEnvironment(kSecondaryCapacity));
  }
  return changed;
}

}  // namespace

// The linker's --wrap=SYMBOL sends the callers of SYMBOL to __wrap_SYMBOL, and those of
// __real_SYMBOL to SYMBOL. These are Options::MakeSharedCache() const of both kinds of block cache;
// `this` is passed as a first argument is.
#define LRU "_ZNK7rocksdb15LRUCacheOptions15MakeSharedCacheEv"
#define HYPER_CLOCK "_ZNK7rocksdb22HyperClockCacheOptions15MakeSharedCacheEv"
std::shared_ptr<Cache> RealLRU(const LRUCacheOptions* options) __asm__("__real_" LRU);
std::shared_ptr<Cache> WrapLRU(const LRUCacheOptions* options) __asm__("__wrap_" LRU);
std::shared_ptr<Cache> RealHyperClock(const HyperClockCacheOptions* options) __asm__(
    "__real_" HYPER_CLOCK);
std::shared_ptr<Cache> WrapHyperClock(const HyperClockCacheOptions* options) __asm__(
    "__wrap_" HYPER_CLOCK);

std::shared_ptr<Cache> WrapLRU(const LRUCacheOptions* options) {
  LRUCacheOptions changed = WithTwoQ(*options);
  return RealLRU(&changed);
}

std::shared_ptr<Cache> WrapHyperClock(const HyperClockCacheOptions* options) {
  HyperClockCacheOptions changed = WithTwoQ(*options);
  return RealHyperClock(&changed);
}

}  // namespace ROCKSDB_NAMESPACE
