// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/carry_plan.h"

#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "test/secondary_cache_2q/index_block.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

std::string Key(int number) {
  char text[16];
  snprintf(text, sizeof(text), "%06d", number);
  return text;
}

// Records are the numbers of their keys. All have 1,000 bytes.
class CarryPlanTest : public testing::Test {
 protected:
  // Blocks of the new SST, from this key on: the last key of each.
  void NewSst(int first, const std::vector<int>& last_keys) {
    index_ = SstIndex();
    last_ = last_keys;
    first_ = first;
    std::vector<std::pair<std::string, uint64_t>> blocks;
    int before = first - 1;
    for (const int last : last_keys) {
      blocks.emplace_back(Key(last), static_cast<uint64_t>(last - before) * 1000);
      before = last;
    }
    ASSERT_TRUE(index_.Add(IndexBlock(blocks), IndexBlockForm()));
    index_.SetFirstKey(Key(first));
  }

  // The cache held a block with the keys above `below` up to `last`.
  void Hold(int below, int last, uint64_t age = 1) {
    keys_.push_back(Key(below));
    const std::string& below_key = keys_.back();
    keys_.push_back(Key(last));
    ranges_.push_back({below_key, keys_.back(), age});
  }

  // block -> age
  std::map<size_t, uint64_t> Run() {
    std::map<size_t, uint64_t> carried;
    looks_ = 0;
    SortRanges(*BytewiseComparator(), &ranges_);
    CarryPlan plan(
        *BytewiseComparator(), index_,
        [this](size_t block, const Slice& key) { return Share(block, key); },
        [&](size_t block, uint64_t age) {
          EXPECT_TRUE(carried.empty() || carried.rbegin()->first < block);
          carried[block] = age;
          return carried.size() < most_;
        });
    finished_ = plan.Run(ranges_);
    ranges_.clear();
    return carried;
  }

  double Share(size_t block, const Slice& key) {
    looks_++;
    if (fail_) {
      return -1;
    }
    const int before = block == 0 ? first_ - 1 : last_[block - 1];
    const int records = last_[block] - before;
    const int up_to = atoi(key.ToString().c_str()) - before;
    EXPECT_GE(up_to, 0);
    EXPECT_LE(up_to, records);
    return static_cast<double>(up_to) / records;
  }

  using Carried = std::map<size_t, uint64_t>;

  SstIndex index_;
  std::vector<int> last_;
  int first_ = 0;
  std::deque<std::string> keys_;
  std::vector<HeldRange> ranges_;
  size_t most_ = 1000;
  bool fail_ = false;
  bool finished_ = false;
  int looks_ = 0;
};

TEST_F(CarryPlanTest, BlocksOfTheSameKeysAreTakenWithoutALook) {
  NewSst(1, {4, 8, 12, 16});
  Hold(4, 8, 7);
  Hold(12, 16, 9);
  EXPECT_EQ((Carried{{1, 7}, {3, 9}}), Run());
  EXPECT_TRUE(finished_);
  EXPECT_EQ(0, looks_);
}

TEST_F(CarryPlanTest, NothingHeldNothingCarried) {
  NewSst(1, {4, 8});
  EXPECT_EQ(Carried(), Run());
  Hold(8, 20);  // the next SST's
  EXPECT_EQ(Carried(), Run());
  NewSst(100, {104, 108});
  Hold(8, 20);
  EXPECT_EQ(Carried(), Run());
  index_ = SstIndex();
  Hold(8, 20);
  EXPECT_EQ(Carried(), Run());
  EXPECT_TRUE(finished_);
}

TEST_F(CarryPlanTest, TheBlockWithMostOfItIsTaken) {
  NewSst(1, {3, 7, 11});
  Hold(4, 8);  // 5 6 7 | 8
  EXPECT_EQ((Carried{{1, 1}}), Run());
  EXPECT_EQ(2, looks_);
  NewSst(1, {5, 9, 13});
  Hold(4, 8);  // 5 | 6 7 8
  EXPECT_EQ((Carried{{1, 1}}), Run());
}

TEST_F(CarryPlanTest, HalvesAndThirdsAreAllTaken) {
  NewSst(1, {2, 6, 10});
  Hold(4, 8, 5);  // 5 6 | 7 8
  EXPECT_EQ((Carried{{1, 5}, {2, 5}}), Run());
  NewSst(1, {5, 6, 8, 10});
  Hold(4, 7, 5);  // 5 | 6 | 7
  EXPECT_EQ((Carried{{0, 5}, {1, 5}, {2, 5}}), Run());
}

// What was next to it is carried by itself, if at all.
TEST_F(CarryPlanTest, NeighboursDoNotBecomeHot) {
  NewSst(1, {3, 7, 11, 15, 19});
  Hold(4, 8);
  const Carried first = Run();
  ASSERT_EQ((Carried{{1, 1}}), first);
  NewSst(1, {4, 8, 12, 16});
  Hold(3, 7);
  EXPECT_EQ((Carried{{1, 1}}), Run());
}

TEST_F(CarryPlanTest, SeveralHeldBlocksAddUp) {
  NewSst(1, {3, 7, 11});
  Hold(0, 4, 30);
  Hold(4, 8, 20);
  Hold(8, 12, 10);
  EXPECT_EQ((Carried{{0, 30}, {1, 20}, {2, 10}}), Run());
  // Of several levels: each is a quarter of a block here.
  NewSst(1, {4, 8, 12, 16});
  Hold(0, 16, 3);
  EXPECT_EQ(Carried(), Run());
  Hold(0, 16, 3);
  Hold(0, 16, 2);
  EXPECT_EQ((Carried{{0, 2}, {1, 2}, {2, 2}, {3, 2}}), Run());
}

// A block of an upper level, whose few records have gone into many blocks.
TEST_F(CarryPlanTest, AWideRangeIsWorthNothingByItselfAndNoLook) {
  std::vector<int> blocks;
  for (int i = 1; i <= 100; i++) {
    blocks.push_back(4 * i);
  }
  NewSst(1, blocks);
  Hold(2, 399);
  EXPECT_EQ(Carried(), Run());
  EXPECT_EQ(0, looks_);
  Hold(2, 399, 9);
  Hold(40, 44, 5);
  EXPECT_EQ((Carried{{10, 5}}), Run());
}

TEST_F(CarryPlanTest, RangesBeyondTheSstAreCut) {
  NewSst(101, {104, 108});
  Hold(0, 104);
  Hold(104, 1000);
  EXPECT_EQ((Carried{{0, 1}, {1, 1}}), Run());
  Hold(0, 1000);
  EXPECT_EQ((Carried{{0, 1}, {1, 1}}), Run());
  EXPECT_EQ(0, looks_);
}

TEST_F(CarryPlanTest, EndsWhenNoMoreIsWanted) {
  NewSst(1, {4, 8, 12, 16});
  most_ = 1;
  Hold(0, 4);
  Hold(4, 8);
  EXPECT_EQ(1u, Run().size());
  EXPECT_FALSE(finished_);
  most_ = 1000;
  fail_ = true;
  Hold(5, 9);
  EXPECT_EQ(0u, Run().size());
  EXPECT_FALSE(finished_);
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
