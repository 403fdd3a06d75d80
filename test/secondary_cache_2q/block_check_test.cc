// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/block_check.h"

#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/compat.h"
#include "table/block_based/block_builder.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"
#include "util/coding.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

std::string BlockOf(int keys, int interval, bool hash_index) {
  BlockBuilder builder(interval, /*use_delta_encoding=*/true,
                       /*use_value_delta_encoding=*/false,
                       hash_index ? BlockBasedTableOptions::kDataBlockBinaryAndHash
                                  : BlockBasedTableOptions::kDataBlockBinarySearch);
  for (int i = 0; i < keys; i++) {
    char key[32];
    snprintf(key, sizeof(key), "key%05d", i);
    builder.Add(std::string(key) + "seq+type", Noise(i, i % 200));
  }
  return builder.Finish().ToString();
}

TEST(BlockCheckTest, BlocksOfRocksDBAreSound) {
  for (const bool hash_index : {false, true}) {
    for (const int interval : {1, 3, 16}) {
      for (const int keys : {0, 1, 2, 16, 17, 100}) {
        const std::string block = BlockOf(keys, interval, hash_index);
        EXPECT_TRUE(SoundBlock(block, true)) << hash_index << interval << keys;
        EXPECT_TRUE(SoundBlock(block, false)) << hash_index << interval << keys;
      }
    }
  }
}

TEST(BlockCheckTest, WhatIsCheckedDependsOnTheRole) {
  const std::string block = BlockOf(10, 4, false);
  const std::string text = "neither a block nor a dictionary";
  for (const auto role : {CacheEntryRole::kDataBlock, CacheEntryRole::kIndexBlock,
                          CacheEntryRole::kFilterMetaBlock}) {
    EXPECT_OK(CheckBlock(role, block));
    EXPECT_TRUE(CheckBlock(role, text).IsCorruption());
  }
  EXPECT_OK(CheckBlock(CacheEntryRole::kOtherBlock, block));
  EXPECT_TRUE(CheckBlock(CacheEntryRole::kOtherBlock, text).IsIncomplete());
  for (const auto role : {CacheEntryRole::kFilterBlock, CacheEntryRole::kBlobValue}) {
    EXPECT_OK(CheckBlock(role, text));
  }
}

// RocksDB takes what a bucket has for the number of a restart point, unchecked.
TEST(BlockCheckTest, BucketsNameRestartPoints) {
  const std::string block = BlockOf(10, 4, true);  // three restart points
  const size_t end = block.size() - sizeof(uint32_t) - sizeof(uint16_t);
  const size_t buckets = DecodeFixed16(block.data() + end);
  ASSERT_GT(buckets, 3u);
  for (size_t i = 1; i <= buckets; i++) {
    for (const int bucket : {0, 2, 3, 200, 253, 254, 255}) {
      std::string changed = block;
      changed[end - i] = static_cast<char>(bucket);
      const bool sound = bucket < 3 || bucket > 253;
      EXPECT_EQ(sound, SoundBlock(changed, true)) << i << " " << bucket;
      EXPECT_EQ(sound, CheckBlock(CacheEntryRole::kDataBlock, changed).ok()) << i << " " << bucket;
    }
  }
}

// A block cannot say so: RocksDB goes by the SST, and does not check where values are.
TEST(BlockCheckTest, BlocksWithSeparateValuesAreNotTaken) {
  std::string block = BlockOf(10, 4, false);
  const uint32_t footer = DecodeFixed32(block.data() + block.size() - sizeof(uint32_t));
  block.resize(block.size() - sizeof(uint32_t));
  PutFixed32(&block, 100);  // where the values begin
  PutFixed32(&block, footer | 1u << 28);
  EXPECT_FALSE(SoundBlock(block, true));
  EXPECT_FALSE(SoundBlock(block, false));
  const Status s = CheckBlock(CacheEntryRole::kDataBlock, block);
  EXPECT_TRUE(kSeparateValues != 0 ? s.IsIncomplete() : s.IsCorruption()) << s.ToString();
  EXPECT_TRUE(CheckBlock(CacheEntryRole::kOtherBlock, block).IsIncomplete());
  for (const auto role : {CacheEntryRole::kIndexBlock, CacheEntryRole::kFilterMetaBlock}) {
    EXPECT_TRUE(CheckBlock(role, block).IsCorruption());
  }
}

// Copies of exact size: a read beyond the end is found by AddressSanitizer.
TEST(BlockCheckTest, NoDamageIsReadBeyondItsEnd) {
  Random64 random(301);
  int sound = 0;
  for (int round = 0; round < 20000; round++) {
    std::string block = BlockOf(static_cast<int>(random.Uniform(20)), 4, round % 2 == 0);
    for (uint64_t n = random.Uniform(4) + 1; n > 0; n--) {
      // Mostly near the end, where the restart points are.
      const uint64_t at = random.Uniform(2) == 0 ? random.Uniform(block.size())
                                                 : block.size() - 1 - random.Uniform(8);
      block[at] = static_cast<char>(random.Next());
    }
    block.resize(block.size() - random.Uniform(2) * random.Uniform(block.size()));
    const std::unique_ptr<char[]> copy(new char[block.size()]);
    std::copy(block.begin(), block.end(), copy.get());
    sound += SoundBlock(Slice(copy.get(), block.size()), round % 3 != 0);
  }
  EXPECT_GT(sound, 100);  // bytes of values are free
  EXPECT_LT(sound, 15000);
}

TEST(BlockCheckTest, EveryTruncationIsFound) {
  const std::string block = BlockOf(40, 4, false);
  for (size_t size = 0; size < block.size(); size++) {
    // What is left may end in what looks like a footer, but the entries end elsewhere.
    EXPECT_FALSE(SoundBlock(Slice(block.data(), size), true)) << size;
  }
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
