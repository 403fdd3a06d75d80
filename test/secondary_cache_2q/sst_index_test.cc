// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/sst_index.h"

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/block_form.h"
#include "table/block_based/block_builder.h"
#include "test/secondary_cache_2q/index_block.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

TEST(SstIndexTest, EntriesAreReadAndFound) {
  const std::string block = IndexBlock({{"b", 4000}, {"bb", 3000}, {"c", 100}, {"d", 5}});
  SstIndex index;
  ASSERT_TRUE(index.Add(block, IndexBlockForm()));
  index.SetFirstKey("a");
  ASSERT_EQ(4u, index.size());
  EXPECT_EQ("a", index.Below(0).ToString());
  EXPECT_EQ("b", index.Separator(0).ToString());
  EXPECT_EQ("b", index.Below(1).ToString());
  EXPECT_EQ("d", index.Separator(3).ToString());
  EXPECT_EQ(0u, index.Offset(0));
  EXPECT_EQ(4005u, index.Offset(1));
  EXPECT_EQ(3000u, index.Bytes(1));
  EXPECT_EQ(7115u, index.Offset(3));
  EXPECT_EQ(0u, index.Find(0));
  EXPECT_EQ(1u, index.Find(4005 / 4));
  EXPECT_EQ(3u, index.Find(7115 / 4));
  EXPECT_EQ(4u, index.Find(4005 / 4 + 1));
  EXPECT_GT(index.MemoryUsage(), 4u * 16);
}

TEST(SstIndexTest, OneThatIsTooLargeIsNotRead) {
  std::vector<std::pair<std::string, uint64_t>> blocks(SstIndex::kMostMemory / 64, {"", 4000});
  for (size_t i = 0; i < blocks.size(); i++) {
    char key[41];
    snprintf(key, sizeof(key), "%040zu", i);
    blocks[i].first = key;
  }
  SstIndex fits;
  EXPECT_TRUE(fits.Add(IndexBlock(blocks), IndexBlockForm()));
  fits.ShrinkToFit();
  EXPECT_EQ(SstIndex::kMostMemory, SstIndex::ExpectedMemory(40 * blocks.size(), blocks.size()));
  EXPECT_LE(fits.MemoryUsage(), SstIndex::kMostMemory + 100);
  blocks.insert(blocks.end(), 100, {std::string(40, '9'), 4000});
  SstIndex index;
  EXPECT_FALSE(index.Add(IndexBlock(blocks), IndexBlockForm()));
}

// Copies of exact size: a read beyond the end is found by AddressSanitizer.
TEST(SstIndexTest, NoDamageIsReadBeyondItsEnd) {
  Random64 random(301);
  int sound = 0;
  const std::string whole = IndexBlock({{"b", 4000}, {"bb", 3000}, {"c", 100}, {"d", 5}});
  for (int round = 0; round < 20000; round++) {
    std::string block = whole;
    for (uint64_t n = random.Uniform(3) + 1; n > 0; n--) {
      block[random.Uniform(block.size())] = static_cast<char>(random.Next());
    }
    block.resize(block.size() - random.Uniform(2) * random.Uniform(block.size()));
    const std::unique_ptr<char[]> copy(new char[block.size()]);
    std::copy(block.begin(), block.end(), copy.get());
    const Slice bytes(copy.get(), block.size());
    for (int form = 0; form < 8; form++) {
      SstIndex index;
      sound += index.Add(bytes, {(form & 1) != 0, (form & 2) != 0, (form & 4) != 0});
    }
  }
  EXPECT_GT(sound, 100);
}

std::string DataBlock(int keys, int interval) {
  BlockBuilder builder(interval);
  for (int i = 0; i < keys; i++) {
    builder.Add("key" + std::to_string(100 + i) + "seq+type", Noise(i, i));
  }
  return builder.Finish().ToString();
}

TEST(DataBlockEntriesTest, GoesOverAllEntries) {
  for (const int interval : {1, 3, 16}) {
    const std::string block = DataBlock(50, interval);
    DataBlockEntries entries(block);
    for (int i = 0; i < 50; i++) {
      ASSERT_TRUE(entries.Next());
      ASSERT_EQ("key" + std::to_string(100 + i), entries.UserKey().ToString());
      ASSERT_GE(entries.bytes(), static_cast<uint64_t>(i));
    }
    EXPECT_FALSE(entries.Next());
  }
}

TEST(DataBlockEntriesTest, NoDamageIsReadBeyondItsEnd) {
  Random64 random(301);
  uint64_t entries_read = 0;
  for (int round = 0; round < 20000; round++) {
    std::string block = DataBlock(static_cast<int>(random.Uniform(20)), 4);
    for (uint64_t n = random.Uniform(3) + 1; n > 0; n--) {
      block[random.Uniform(block.size())] = static_cast<char>(random.Next());
    }
    block.resize(block.size() - random.Uniform(2) * random.Uniform(block.size()));
    const std::unique_ptr<char[]> copy(new char[block.size()]);
    std::copy(block.begin(), block.end(), copy.get());
    DataBlockEntries entries(Slice(copy.get(), block.size()));
    while (entries.Next()) {
      entries_read += entries.UserKey().size() > 0;
    }
  }
  EXPECT_GT(entries_read, 1000u);
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
