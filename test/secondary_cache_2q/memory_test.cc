// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// How much memory a cache in a file takes for each block.

#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "rocksdb/convenience.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr double kMostBytes = 24;      // for each block
constexpr double kMargin = 512 << 10;  // of the allocator and of threads

// Bytes that the process has from malloc().
double Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// A sanitizer's allocator tells nothing.
bool AllocatorTells() {
  const double before = Allocated();
  const std::unique_ptr<char[]> memory(new char[1 << 20]);
  memory[0] = 1;
  return Allocated() - before >= 1 << 20;
}

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() : path_(test::PerThreadDBPath("two_q_memory")) { Remove(); }
  ~MemoryTest() override {
    cache_.reset();
    Remove();
  }

  void Remove() {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  void Open(const std::string& more) {
    cache_.reset();
    ASSERT_OK(SecondaryCache::CreateFromString(
        ConfigOptions(),
        "id=TwoQSecondaryCache;storage=file;io=pread;direct_io=false;metrics_interval=0;path=" +
            path_ + more,
        &cache_));
  }

  // As a database has them, of forty SSTs.
  void Use(uint64_t block) {
    std::string value(3950 + block % 147, 'b');
    memcpy(value.data(), &block, sizeof(block));
    Touch(cache_.get(), Key(block, 1 + block % 40), value);
    if (block % 64 == 0) {
      AsOurs(cache_)->TEST_Drain();
    }
  }

  TwoQSecondaryCacheStats Stats() const {
    TwoQSecondaryCacheStats stats;
    EXPECT_OK(GetTwoQSecondaryCacheStats(cache_.get(), &stats));
    return stats;
  }

  // `before`: what was allocated without the cache.
  void ExpectLittle(const char* when, double before, bool tells) {
    AsOurs(cache_)->TEST_Drain();
    const TwoQSecondaryCacheStats stats = Stats();
    const auto blocks = static_cast<double>(stats.blocks);
    const double allocated = Allocated() - before;
    fprintf(stderr, "%s: %.0f blocks, %.2f references, memory %.2f, allocated %.2f each\n", when,
            blocks, static_cast<double>(stats.ghosts) / blocks,
            static_cast<double>(stats.memory) / blocks, allocated / blocks);
    EXPECT_LE(static_cast<double>(stats.memory), kMostBytes * blocks) << when;
    if (tells) {
      EXPECT_LE(allocated, kMostBytes * blocks + kMargin) << when;
      EXPECT_GE(allocated + kMargin, static_cast<double>(stats.memory)) << when;
    }
  }

  const std::string path_;
  std::shared_ptr<SecondaryCache> cache_;
};

TEST_F(MemoryTest, AFileNeedsAtMost24BytesForEachBlock) {
  const bool tells = AllocatorTells();
  Open(";capacity=4M");  // what is made once for all caches
  Use(1);
  cache_.reset();
  unlink(path_.c_str());
  const double before = Allocated();
  Open(";capacity=256M");
  constexpr uint64_t kBlocks = 64000;
  for (uint64_t block = 0; block < kBlocks; block++) {
    Use(block);
  }
  EXPECT_GT(Stats().blocks, 55000u);
  ExpectLittle("full", before, tells);
  // Much of what is asked for now is not held, and less is asked for often: A1 fills, and blocks
  // are admitted.
  Random64 random(301);
  for (uint64_t i = 0; i < 4 * kBlocks; i++) {
    const uint64_t block = random.Uniform(4 * kBlocks);
    Use(block * block / (4 * kBlocks));
  }
  EXPECT_GT(Stats().ghosts, Stats().blocks / 5);
  EXPECT_GT(Stats().evictions, 5000u);
  ExpectLittle("used", before, tells);
  Open(";capacity=256M");
  EXPECT_GT(Stats().recovered, 55000u);
  ExpectLittle("open again", before, tells);
  // Ids and room that are free are used again.
  AsOurs(cache_)->EraseFiles({1, 2, 3});
  for (uint64_t block = 0; block < kBlocks; block++) {
    Use(10 * kBlocks + block);
  }
  EXPECT_GT(Stats().erased_obsolete, 3000u);
  ExpectLittle("full again", before, tells);
}

// Little is taken before there are blocks.
TEST_F(MemoryTest, AnEmptyShardTakesLittle) {
  Open(";capacity=4M;num_shard_bits=0");
  EXPECT_LT(Stats().memory, 8u << 10);
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
