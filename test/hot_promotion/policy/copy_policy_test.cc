// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What decides and does nothing: which records are worth a copy, and what that is remembered by.

#include "plugin/hot_promotion/policy/copy_policy.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plugin/hot_promotion/policy/clock_bits.h"
#include "plugin/hot_promotion/policy/seen_filter.h"
#include "test_util/testharness.h"
#include "util/hash.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

// The low bits are the mark, the high ones choose the group.
TEST(SeenFilterTest, FourOfAGroup) {
  SeenFilter seen(1 << 10);
  for (uint64_t mark = 1; mark < 11; mark += 2) {
    EXPECT_FALSE(seen.Before(mark)) << mark;
  }
  for (uint64_t mark = 3; mark < 11; mark += 2) {
    EXPECT_TRUE(seen.Before(mark)) << mark;
  }
  EXPECT_FALSE(seen.Before(uint64_t{1} << 63 | 9));  // in another group
  EXPECT_FALSE(seen.Before(1));                      // was pushed out
}

TEST(SeenFilterTest, RemembersAsManyAsItHasRoomFor) {
  constexpr uint64_t kRecords = 100000;
  SeenFilter seen(2 * kRecords);
  Random64 random(301);
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < kRecords; i++) {
    hashes.push_back(random.Next());
    seen.Before(hashes.back());
  }
  uint64_t known = 0;
  for (uint64_t i = kRecords / 2; i < kRecords; i++) {
    known += seen.Before(hashes[i]) ? 1 : 0;
  }
  EXPECT_GT(known, kRecords / 2 / 100 * 80);
}

TEST(ClockBitsTest, AMarkIsTakenOnce) {
  ClockBits bits(1 << 10);
  Random64 random(301);
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 1000; i++) {
    hashes.push_back(random.Next());
    bits.Mark(hashes.back());
    bits.Mark(hashes.back());
  }
  int others = 0;
  for (int i = 0; i < 1000; i++) {
    others += bits.Take(random.Next()) ? 1 : 0;
  }
  int taken = 0;
  int again = 0;
  for (const uint64_t hash : hashes) {
    taken += bits.Take(hash) ? 1 : 0;
    again += bits.Take(hash) ? 1 : 0;
  }
  EXPECT_LT(others, 250);  // an eighth of the bits is set
  EXPECT_GT(taken, 750);   // but for shared ones
  EXPECT_EQ(0, again);
}

constexpr uint64_t kBudget = 1 << 20;
constexpr uint64_t kLow = 1000;
constexpr Space kSpace = 7;

class CopyPolicyTest : public testing::Test {
 protected:
  using Fate = CopyPolicy::Fate;

  // After this what the table does not have as hot is cold.
  void LearnAll() {
    RaltStats stats;
    stats.evictions = 1;
    policy_.Learn(stats);
  }

  Fate Evict(bool promoted, const std::string& key, bool forced = false) {
    return policy_.AtEviction(promoted, kSpace, key, HashOf(key), forced, &random_);
  }
  bool Admits(const std::string& key) { return policy_.Admits(kSpace, key, HashOf(key)); }
  bool Promotes(const std::string& key, uint32_t hits, bool roomy) {
    return policy_.Promotes(kSpace, key, hits, roomy);
  }
  static uint64_t HashOf(const std::string& key) { return GetSliceNPHash64(key); }

  std::set<std::string> hot_;
  CopyPolicy policy_{kBudget, [this](Space space, const Slice& key) {
                       return space == kSpace && hot_.count(key.ToString()) > 0;
                     }};
  Random random_{301};
};

TEST_F(CopyPolicyTest, ARecordThatWasReadBeforeIsAdmitted) {
  EXPECT_FALSE(Admits("cold"));
  EXPECT_TRUE(Admits("cold"));
}

TEST_F(CopyPolicyTest, AHotRecordIsAdmittedAtOnce) {
  hot_ = {"hot"};
  EXPECT_TRUE(Admits("hot"));
  EXPECT_FALSE(policy_.Admits(kSpace + 1, "hot", 1)) << "of another family";
}

TEST_F(CopyPolicyTest, AllIsAdmittedWhileThereIsFreeRoom) {
  policy_.SetRoom(kLow / 2 - 1, kLow);
  EXPECT_TRUE(Admits("a"));
  policy_.SetRoom(kLow - 1, kLow);
  EXPECT_TRUE(Admits("b")) << "until it is filled";
  policy_.SetRoom(kLow, kLow);
  EXPECT_FALSE(Admits("c"));
  policy_.SetRoom(kLow / 2, kLow);
  EXPECT_FALSE(Admits("d")) << "until it is half empty";
  policy_.SetRoom(kLow / 2 - 1, kLow);
  EXPECT_TRUE(Admits("e"));
}

TEST_F(CopyPolicyTest, ARecordMustNotNeedAGoodPartOfTheStore) {
  EXPECT_TRUE(policy_.Fits(kBudget / 64));
  EXPECT_FALSE(policy_.Fits(kBudget / 64 + 1));
}

TEST_F(CopyPolicyTest, WhatIsPromoted) {
  hot_ = {"hot"};
  EXPECT_TRUE(Promotes("cold", 0, /*roomy=*/true));
  EXPECT_FALSE(Promotes("cold", 0, /*roomy=*/false));
  EXPECT_TRUE(Promotes("cold", 1, /*roomy=*/false));
  EXPECT_TRUE(Promotes("hot", 0, /*roomy=*/false));
}

TEST_F(CopyPolicyTest, AnEvictionKeepsWhatIsHot) {
  LearnAll();
  hot_ = {"hot"};
  EXPECT_EQ(Fate::kKept, Evict(/*promoted=*/true, "hot"));
  EXPECT_EQ(Fate::kCold, Evict(/*promoted=*/true, "cold"));
  EXPECT_EQ(Fate::kCold, Evict(/*promoted=*/false, "hot")) << "a retained copy must serve";
}

TEST_F(CopyPolicyTest, AnEvictionKeepsOnceWhatHasServed) {
  LearnAll();
  for (const bool promoted : {false, true}) {
    policy_.MarkUsed(HashOf("cold"));
    EXPECT_EQ(Fate::kKept, Evict(promoted, "cold"));
    EXPECT_EQ(Fate::kCold, Evict(promoted, "cold"));
  }
}

TEST_F(CopyPolicyTest, NothingPromotedIsColdUntilTheTableCanTell) {
  EXPECT_FALSE(policy_.TableTellsCold());
  EXPECT_EQ(Fate::kKept, Evict(/*promoted=*/true, "cold"));
  EXPECT_EQ(Fate::kCold, Evict(/*promoted=*/false, "cold"));
  RaltStats stats;
  stats.hot_bytes = kBudget / 10 - 1;
  policy_.Learn(stats);
  EXPECT_FALSE(policy_.TableTellsCold());
  stats.hot_bytes++;
  policy_.Learn(stats);
  EXPECT_TRUE(policy_.TableTellsCold());
  EXPECT_EQ(Fate::kCold, Evict(/*promoted=*/true, "cold"));
}

TEST_F(CopyPolicyTest, ATableThatWasKeptCanTellAtOnce) {
  RaltStats stats;
  policy_.OpenedTable(stats);
  EXPECT_FALSE(policy_.TableTellsCold());
  stats.hot_keys = 1;
  policy_.OpenedTable(stats);
  EXPECT_TRUE(policy_.TableTellsCold());
}

TEST_F(CopyPolicyTest, AForcedEvictionDropsAFifthOfTheOthers) {
  LearnAll();
  hot_ = {"hot"};
  int forced = 0;
  for (int i = 0; i < 10000; i++) {
    forced += Evict(/*promoted=*/true, "hot", /*forced=*/true) == Fate::kForced ? 1 : 0;
  }
  EXPECT_NEAR(2000, forced, 200);
  EXPECT_EQ(Fate::kCold, Evict(/*promoted=*/true, "cold", /*forced=*/true));
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
