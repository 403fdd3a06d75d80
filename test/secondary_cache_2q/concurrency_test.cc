// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// All operations at once from several threads, mainly for ThreadSanitizer. Every value that comes
// back is checked.

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr uint32_t kBlocks = 600;
constexpr uint64_t kFiles = 4;

std::string ValueOf(uint64_t block, uint64_t file) {
  // The value tells whose it is, and is long enough to be torn.
  return Noise(block * kFiles + file, 3000 + block * 7);
}

// Started together, waited for together, as in MultiGet.
void LookupBatch(SecondaryCache* cache, Random* random, bool advise_erase) {
  TextContext context;
  std::vector<std::unique_ptr<SecondaryCacheResultHandle>> handles;
  std::vector<SecondaryCacheResultHandle*> pending;
  std::vector<std::string> expected;
  for (int i = 0; i < 8; i++) {
    const uint64_t block = random->Uniform(kBlocks);
    const uint64_t file = 1 + random->Uniform(kFiles);
    bool kept = false;
    auto handle = cache->Lookup(Key(block, file), TextHelper(), &context, /*wait=*/false,
                                advise_erase, nullptr, kept);
    if (handle != nullptr) {
      expected.push_back(ValueOf(block, file));
      pending.push_back(handle.get());
      handles.push_back(std::move(handle));
    }
  }
  cache->WaitAll(pending);
  for (size_t i = 0; i < handles.size(); i++) {
    std::unique_ptr<std::string> value(static_cast<std::string*>(handles[i]->Value()));
    ASSERT_TRUE(value == nullptr || *value == expected[i]);
  }
}

void Work(SecondaryCache* cache, uint32_t seed, int operations) {
  Random random(seed);
  for (int i = 0; i < operations; i++) {
    const uint64_t block = random.Skewed(10) % kBlocks;
    const uint64_t file = 1 + random.Uniform(kFiles);
    const std::string key = Key(block, file);
    switch (random.Uniform(20)) {
      case 0:
        cache->Erase(key);
        break;
      case 1:
        LookupBatch(cache, &random, random.OneIn(2));
        break;
      case 2:
        ASSERT_OK(cache->InsertSaved(key, ValueOf(block, file), kNoCompression,
                                     CacheTier::kVolatileTier));
        break;
      default: {
        const std::string value = Get(cache, key, random.OneIn(2));
        if (value == "<none>") {
          Offer(cache, key, ValueOf(block, file), random.OneIn(8));
        } else {
          ASSERT_EQ(ValueOf(block, file), value);
        }
      }
    }
  }
}

// Changes the size, drops files and looks at the statistics while the others work.
void Disturb(const std::shared_ptr<SecondaryCache>& cache, size_t capacity,
             const std::atomic<bool>* stop) {
  Random random(99);
  while (!stop->load()) {
    ASSERT_OK(cache->SetCapacity(random.OneIn(4) ? capacity / 2 : capacity));
    ASSERT_OK(cache->Deflate(capacity / 4));
    ASSERT_OK(cache->Inflate(capacity / 4));
    if (random.OneIn(8)) {
      // Of others blocks are taken until the end, however slow the machine is.
      AsOurs(cache)->EraseFiles({1 + random.Uniform(kFiles / 2)});
    }
    TwoQSecondaryCacheStats stats;
    ASSERT_OK(GetTwoQSecondaryCacheStats(cache.get(), &stats));
    ASSERT_FALSE(cache->GetPrintableOptions().empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void Hammer(const std::string& options, size_t capacity) {
  const auto cache = NewCache(options + ";capacity=" + std::to_string(capacity));
  std::atomic<bool> stop{false};
  std::thread disturber([&] { Disturb(cache, capacity, &stop); });
  std::vector<std::thread> workers;
  for (uint32_t seed = 1; seed <= 4; seed++) {
    workers.emplace_back([&cache, seed] { Work(cache.get(), seed, 4000); });
  }
  for (std::thread& worker : workers) {
    worker.join();
  }
  stop = true;
  disturber.join();
  TwoQSecondaryCacheStats stats;
  ASSERT_OK(GetTwoQSecondaryCacheStats(cache.get(), &stats));
  EXPECT_GT(stats.hits, 0u) << options;
  EXPECT_GT(stats.evictions + stats.dropped, 0u) << options;  // dropped where the disk is slow
  EXPECT_EQ(0u, stats.corrupt) << options;
  EXPECT_EQ(0u, stats.io_errors) << options;
}

TEST(ConcurrencyTest, Dram) {
  Hammer("policy=2q", 1 << 20);
  Hammer("policy=2q_paper;exclusive=true", 1 << 20);
  Hammer("policy=lru;compression=lz4;num_shard_bits=0", 1 << 20);
}

TEST(ConcurrencyTest, File) {
  const std::string path = test::PerThreadDBPath("two_q_concurrency");
  for (const char* io : {"uring", "pread", "pmem"}) {
    Hammer("storage=file;policy=2q;path=" + path + ";write_buffer_size=1M;io=" + io, 4 << 20);
    Hammer("storage=file;policy=lru;exclusive=true;path=" + path + ";io=" + io, 4 << 20);
  }
  unlink(path.c_str());
  unlink((path + ".lock").c_str());
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
