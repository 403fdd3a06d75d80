// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/policy.h"

#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

SstInfo Sst(uint64_t number, int level, uint64_t entries, uint64_t oldest_blob) {
  SstInfo sst;
  sst.number = number;
  sst.level = level;
  sst.bytes = entries * 10;
  sst.entries = entries;
  sst.oldest_blob = oldest_blob;
  return sst;
}

BlobInfo Blob(uint64_t number, uint64_t bytes, uint64_t garbage) {
  BlobInfo blob;
  blob.number = number;
  blob.file_bytes = bytes + 62;
  blob.bytes = bytes;
  blob.garbage_bytes = garbage;
  return blob;
}

std::vector<uint64_t> Numbers(const Plan& plan) {
  std::vector<uint64_t> numbers;
  for (const SstInfo& sst : plan.inputs) {
    numbers.push_back(sst.number);
  }
  return numbers;
}

using List = std::vector<uint64_t>;

TEST(EstimateTest, NothingHasNoGarbage) {
  const Space space = Estimate(Survey(), 0);
  EXPECT_EQ(0u, space.disk_bytes);
  EXPECT_EQ(0, space.amplification);
}

TEST(EstimateTest, LastLevelHidesNothing) {
  Survey survey;
  survey.ssts = {Sst(10, 6, 100, 5)};
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 20000)};
  const Space space = Estimate(survey, 0);
  EXPECT_EQ(101062u, space.disk_bytes);
  EXPECT_EQ(20000u, space.garbage_bytes);
  EXPECT_EQ(0u, space.hidden_bytes);
  EXPECT_EQ(81000u, space.live_bytes);
  EXPECT_NEAR(101062.0 / 81000, space.amplification, 1e-9);
}

TEST(EstimateTest, EntriesAboveHideOneValueEach) {
  Survey survey;
  survey.ssts = {Sst(11, 5, 20, 6), Sst(10, 6, 80, 5)};
  survey.last_level = 6;
  survey.blobs = {Blob(5, 80000, 0), Blob(6, 20000, 0)};
  const Space space = Estimate(survey, 0);
  EXPECT_EQ(20000u, space.hidden_bytes);
  EXPECT_EQ(80800u, space.live_bytes);
}

TEST(EstimateTest, DeletionsHideValuesTooAndAddNone) {
  Survey survey;
  survey.ssts = {Sst(11, 5, 50, 0), Sst(10, 6, 100, 5)};
  survey.ssts[0].deletions = 50;
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 0)};
  EXPECT_EQ(50000u, Estimate(survey, 0).hidden_bytes);
  survey.ssts[0].entries = survey.ssts[0].deletions = 500;
  EXPECT_EQ(100000u, Estimate(survey, 0).hidden_bytes);
}

// The worst that is possible is not assumed where sketches tell better.
TEST(EstimateTest, SketchesTellWhatIsHidden) {
  constexpr int kKeys = 50000;
  const auto sketch = [](int from, int to) {
    SketchBuilder builder;
    for (int i = from; i < to; i++) {
      builder.Add("key" + std::to_string(i), 10, 10, false);
    }
    return DecodeSketch(builder.Finish());
  };
  Survey survey;
  survey.ssts = {Sst(11, 5, kKeys / 2, 6), Sst(10, 6, kKeys, 5)};
  survey.last_level = 6;
  survey.blobs = {Blob(5, kKeys * 10, 0), Blob(6, kKeys * 5, 0)};
  const uint64_t values = kKeys * 15;
  EXPECT_NEAR(values / 3, Estimate(survey, 0).hidden_bytes, 1);
  survey.ssts[1].sketch = sketch(0, kKeys);
  EXPECT_NEAR(values / 3, Estimate(survey, 0).hidden_bytes, 1);  // one does not tell
  survey.ssts[0].sketch = sketch(kKeys, kKeys / 2 * 3);          // inserts
  EXPECT_LT(Estimate(survey, 0).hidden_bytes, values / 20);
  survey.ssts[0].sketch = sketch(kKeys / 4 * 3, kKeys / 4 * 5);  // half of them
  EXPECT_GT(Estimate(survey, 0).hidden_bytes, values / 6 - values / 20);
  EXPECT_LT(Estimate(survey, 0).hidden_bytes, values / 6 + values / 10);
  survey.ssts[0].range_deletions = 1;
  EXPECT_EQ(values, Estimate(survey, 0).hidden_bytes);
}

// Headers, references and indexes are not what the user has stored.
TEST(EstimateTest, KeysAndValuesAreWhatCounts) {
  constexpr int kKeys = 50000;
  SketchBuilder blobs;
  SketchBuilder in_place;
  for (int i = 0; i < kKeys; i++) {
    blobs.Add("large" + std::to_string(i), 132, 20, false);
    in_place.Add("small" + std::to_string(i), 0, 50, false);
  }
  Survey survey;
  survey.ssts = {Sst(10, 6, kKeys, 5), Sst(11, 6, kKeys, 0)};
  survey.ssts[0].bytes = kKeys * 20;
  survey.ssts[0].sketch = DecodeSketch(blobs.Finish());
  survey.ssts[1].bytes = kKeys * 50;
  survey.ssts[1].sketch = DecodeSketch(in_place.Finish());
  survey.last_level = 6;
  survey.blobs = {Blob(5, kKeys * 132, 0)};
  const Space space = Estimate(survey, 0);
  EXPECT_EQ(0u, space.garbage_bytes);
  EXPECT_NEAR(kKeys * 150, space.user_bytes, kKeys * 15);
  EXPECT_NEAR(202.0 / 150, space.amplification, 0.15);
  EXPECT_GT(space.live_bytes, kKeys * 190u);
}

TEST(NeedsTest, WhatIsNoGarbageIsNotCollected) {
  BlobHybridOptions options;
  options.max_space_amplification = 1.5;
  Space space;
  space.disk_bytes = 2000;
  space.value_bytes = 1000;
  space.live_bytes = 1900;
  space.user_bytes = 1000;
  space.amplification = 2;
  EXPECT_FALSE(NeedsOf(space, true, options).any());
  EXPECT_FALSE(NeedsOf(space, true, options).above);
  // The log is merged.
  space.medium_bytes = 900;
  EXPECT_FALSE(NeedsOf(space, true, options).space);
  EXPECT_TRUE(NeedsOf(space, true, options).log);
  EXPECT_TRUE(NeedsOf(space, true, options).above);
  space.medium_bytes = 0;
  space.live_bytes = 1500;
  EXPECT_TRUE(NeedsOf(space, true, options).space);
  EXPECT_FALSE(NeedsOf(space, true, options).log);
  EXPECT_TRUE(NeedsOf(space, true, options).above);
  EXPECT_FALSE(NeedsOf(space, false, options).any());
  space.amplification = 1.3;
  EXPECT_FALSE(NeedsOf(space, true, options).any());
}

TEST(EstimateTest, RangeDeletionMayHideAll) {
  Survey survey;
  survey.ssts = {Sst(11, 5, 1, 0), Sst(10, 6, 100, 5)};
  survey.ssts[0].deletions = survey.ssts[0].range_deletions = 1;
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 10000)};
  EXPECT_EQ(90000u, Estimate(survey, 0).hidden_bytes);
}

TEST(EstimateTest, FloorIsTheLeastLiveData) {
  Survey survey;
  survey.ssts = {Sst(10, 6, 100, 5)};
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 99000)};
  EXPECT_NEAR(1.01062, Estimate(survey, 100000).amplification, 1e-9);
}

TEST(BoundTest, LeastRatioKeepsKnownGarbageWithinTheBound) {
  for (const double bound : {1.1, 1.5, 2.0, 10.0}) {
    BlobHybridOptions options;
    options.gc_garbage_ratio = 1;
    options.max_space_amplification = bound;
    EXPECT_LT(1 / (1 - LeastRatio(options)), SoftBound(bound)) << bound;
    EXPECT_LT(SoftBound(bound), bound);
  }
}

// The share that is hidden is where the derivative of s/h + 1/(a-h) is zero.
TEST(BoundTest, HiddenShareCostsLeast) {
  for (const uint64_t sst_bytes : {40000, 1000000, 9000000}) {
    Space space;
    space.value_bytes = 1000000;
    space.sst_bytes = sst_bytes;
    space.user_bytes = 800000;
    space.live_bytes = 900000;
    const double s = static_cast<double>(sst_bytes) / 1e6;
    const double a = (1.5 * 800000 - 900000) / 1e6;
    const auto cost = [&](double h) { return s / h + 1 / (a - h); };
    const double best = static_cast<double>(AllowedHidden(space, 1.5)) / 1e6;
    EXPECT_LT(best, a);
    for (double h = 0.01; h < a; h += 0.01) {
      EXPECT_LE(cost(best), cost(h) * 1.0001) << s << " " << h;
    }
  }
  EXPECT_EQ(0u, AllowedHidden(Space(), 1.5));
}

// More files at a time where SSTs are large.
TEST(VictimsShareTest, GrowsWithSsts) {
  Space space;
  EXPECT_DOUBLE_EQ(0.15, VictimsShare(space));
  space.value_bytes = 10000;
  space.sst_bytes = 100;
  EXPECT_DOUBLE_EQ(0.15, VictimsShare(space));
  space.sst_bytes = 900;
  EXPECT_DOUBLE_EQ(0.3, VictimsShare(space));
  space.sst_bytes = 10000;
  EXPECT_DOUBLE_EQ(0.6, VictimsShare(space));
}

class VictimsTest : public testing::Test {
 protected:
  using Set = std::set<uint64_t>;

  // With live values of 1,000,000 bytes, 500,000 of them in files with garbage.
  const std::vector<BlobInfo> blobs_{Blob(1, 200000, 100000), Blob(2, 300000, 100000),
                                     Blob(3, 100000, 90000),  Blob(4, 240000, 120000),
                                     Blob(5, 270000, 200000), Blob(6, 600000, 100000)};
};

TEST_F(VictimsTest, TheWorstOnesWithinThePartOfTheBound) {
  // 15% of what the bound allows: 75,000, 375,000 and 577,500 bytes.
  EXPECT_EQ((Set{3}), PickVictims(blobs_, 0.3, 1.5, 0.15, {}));
  EXPECT_EQ((Set{3, 5}), PickVictims(blobs_, 0.3, 3.5, 0.15, {}));
  // The older one of two with equal garbage.
  EXPECT_EQ((Set{1, 3, 5}), PickVictims(blobs_, 0.3, 4.85, 0.15, {}));
}

TEST_F(VictimsTest, OneAtLeast) { EXPECT_EQ((Set{3}), PickVictims(blobs_, 0.3, 1.01, 0.15, {})); }

TEST_F(VictimsTest, NoneWithLessGarbage) {
  EXPECT_EQ((Set{3, 5}), PickVictims(blobs_, 0.5, 10, 0.15, {}));
  EXPECT_EQ((Set{}), PickVictims(blobs_, 0.9, 10, 0.15, {}));
  EXPECT_EQ((Set{}), PickVictims({}, 0.3, 1.5, 0.15, {}));
}

TEST_F(VictimsTest, AllWithoutABound) {
  EXPECT_EQ((Set{1, 2, 3, 4, 5}), PickVictims(blobs_, 0.3, 0, 0.15, {}));
}

TEST_F(VictimsTest, ThoseThatAreCollectedComeFirst) {
  EXPECT_EQ((Set{6}), PickVictims(blobs_, 0.3, 1.5, 0.15, {{6, false}}));
  EXPECT_EQ((Set{5}), PickVictims(blobs_, 0.3, 1.5, 0.15, {{5, false}}));
  EXPECT_EQ((Set{3, 5}), PickVictims(blobs_, 0.3, 3.5, 0.15, {{5, false}}));
}

TEST_F(VictimsTest, OthersFollowWhenNothingMoreCanBeDone) {
  EXPECT_EQ((Set{3, 5}), PickVictims(blobs_, 0.3, 1.5, 0.15, {{3, true}}));
  EXPECT_EQ((Set{1, 3, 5}), PickVictims(blobs_, 0.3, 1.5, 0.15, {{3, true}, {5, true}}));
  EXPECT_EQ((Set{3, 6}),
            PickVictims(blobs_, 0.3, 1.5, 0.15, {{6, true}, {7, true}}));  // 7 has gone
}

TEST_F(VictimsTest, DoneWhenAllOlderSstsAreRewritten) {
  Survey survey;
  survey.ssts = {Sst(20, 0, 5, 1), Sst(15, 5, 10, 3), Sst(16, 6, 20, 5), Sst(17, 6, 20, 0)};
  // Level 0 does not count.
  EXPECT_EQ((Collected{{2, true}, {3, false}, {5, false}}),
            FindCollected(survey, {{2, 30}, {3, 30}, {5, 30}}));
  // Made later.
  EXPECT_EQ((Collected{{2, true}, {3, true}, {5, false}}),
            FindCollected(survey, {{2, 15}, {3, 14}, {5, 15}}));
  EXPECT_EQ((Collected{}), FindCollected(survey, {}));
}

class PickTest : public testing::Test {
 protected:
  PickTest() {
    survey_.ssts = {Sst(20, 0, 5, 9), Sst(15, 5, 10, 7), Sst(16, 5, 20, 7), Sst(10, 6, 50, 5),
                    Sst(11, 6, 50, 6)};
    survey_.last_level = 6;
    survey_.blobs = {Blob(5, 100000, 0), Blob(6, 100000, 50000), Blob(7, 100000, 60000)};
  }

  Plan DoPick() { return Pick(survey_, space_, 100000, 0.3, since_, busy_); }

  Survey survey_;
  Space space_;
  Since since_{{6, 20}, {7, 20}};
  std::set<uint64_t> busy_;
};

TEST_F(PickTest, SstsLinkedToTheWorstFileFirst) {
  space_.hidden_bytes = 1000;
  EXPECT_EQ(List{15}, Numbers(DoPick()));
  EXPECT_EQ(5, DoPick().output_level);
  busy_ = {15};
  EXPECT_EQ(List{16}, Numbers(DoPick()));
}

TEST_F(PickTest, ThenThoseThatReferToOlderFiles) {
  space_.hidden_bytes = 1000;
  busy_ = {15, 16};
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
}

TEST_F(PickTest, SstsThatWereMadeLaterAreLeftAlone) {
  space_.hidden_bytes = 1000;
  since_ = {{6, 10}, {7, 5}};
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  survey_.ssts = {Sst(12, 6, 50, 5)};
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

TEST_F(PickTest, FilesThatAreNotTrackedAreLeftAlone) {
  since_.clear();
  survey_.ssts = {Sst(10, 6, 50, 5)};
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

// Blob 6 has less garbage than 7, but is referred to by less.
TEST_F(PickTest, TheCheapestGarbageFirst) {
  space_.hidden_bytes = 1000;
  survey_.ssts = {Sst(15, 5, 1000, 7), Sst(16, 5, 10, 5), Sst(10, 6, 20, 5), Sst(11, 6, 5000, 7)};
  const auto refer = [&](size_t i, const References& references) {
    survey_.ssts[i].references = std::make_shared<References>(references);
  };
  refer(0, {{7, 1000}});
  refer(1, {{5, 10}, {6, 10}});
  refer(2, {{5, 10}, {6, 20}});
  refer(3, {{7, 39000}});
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  refer(2, {{5, 10}});
  EXPECT_EQ(List{16}, Numbers(DoPick()));
  refer(1, {{5, 10}});
  EXPECT_EQ(List{11}, Numbers(DoPick()));
}

// What an SST says counts. It is rewritten once, though: with a snapshot it may refer to the file still.
TEST_F(PickTest, SstsThatSayWhatTheyReferTo) {
  space_.hidden_bytes = 1000;
  survey_.ssts = {Sst(20, 6, 10, 5), Sst(10, 6, 10, 5)};
  survey_.ssts[0].references = std::make_shared<References>(References{{7, 1}});
  survey_.ssts[1].references = std::make_shared<References>(References{{5, 1}});
  EXPECT_EQ(List{20}, Numbers(DoPick()));
  EXPECT_EQ((Collected{{6, true}, {7, false}}), FindCollected(survey_, since_));
  survey_.ssts[0].number = 31;
  EXPECT_EQ(List{}, Numbers(DoPick()));
  EXPECT_EQ((Collected{{6, true}, {7, true}}), FindCollected(survey_, since_));
}

TEST_F(PickTest, HiddenGarbageIsPushedFromTheDeepestLevel) {
  space_.hidden_bytes = 200000;
  EXPECT_EQ(List{16}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
}

TEST_F(PickTest, RangeDeletionsArePushedFirst) {
  space_.hidden_bytes = 200000;
  survey_.ssts[1].range_deletions = 1;
  EXPECT_EQ(List{15}, Numbers(DoPick()));
}

TEST_F(PickTest, LevelZeroIsPushedAsAWhole) {
  space_.hidden_bytes = 200000;
  survey_.ssts = {Sst(20, 0, 5, 9), Sst(21, 0, 6, 10)};
  survey_.last_level = 0;
  EXPECT_EQ((List{20, 21}), Numbers(DoPick()));
  EXPECT_EQ(1, DoPick().output_level);
  survey_.base_level = 6;
  EXPECT_EQ(6, DoPick().output_level);
}

TEST_F(PickTest, NothingLeft) {
  space_.hidden_bytes = 200000;
  survey_.ssts = {Sst(30, 6, 50, 5)};
  EXPECT_TRUE(DoPick().inputs.empty());
}

TEST(NeedsTest, BoundsOfSpaceAndLog) {
  BlobHybridOptions options;
  options.max_space_amplification = 1.5;
  options.transient_log_budget = 0.2;
  Space space;
  space.disk_bytes = 1500;
  space.live_bytes = 1000;
  space.amplification = 1.4;
  space.log_share = 0.16;
  EXPECT_FALSE(NeedsOf(space, true, options).any());
  space.log_share = 0.17;
  EXPECT_TRUE(NeedsOf(space, true, options).log);
  EXPECT_FALSE(NeedsOf(space, true, options).space);
  EXPECT_FALSE(NeedsOf(space, true, options).above);
  space.log_share = 0.21;
  EXPECT_TRUE(NeedsOf(space, true, options).above);
  EXPECT_FALSE(NeedsOf(space, false, options).any());
  options.transient_log_budget = 0;
  EXPECT_FALSE(NeedsOf(space, true, options).above);
  space.amplification = 1.45;
  EXPECT_TRUE(NeedsOf(space, true, options).space);
  EXPECT_FALSE(NeedsOf(space, true, options).above);
  space.amplification = 1.51;
  EXPECT_TRUE(NeedsOf(space, true, options).above);
  options.max_space_amplification = 0;
  EXPECT_FALSE(NeedsOf(space, true, options).any());
}

TEST(NeedsTest, LogIsWhatSstsReferTo) {
  Survey survey;
  survey.ssts = {Sst(11, 5, 20, 6), Sst(10, 6, 80, 5)};
  survey.ssts[0].medium_bytes = 3000;
  survey.ssts[1].medium_bytes = 1000;
  survey.last_level = 6;
  const Space space = Estimate(survey, 8000);
  EXPECT_EQ(4000u, space.medium_bytes);
  EXPECT_NEAR(0.5, space.log_share, 1e-9);
}

TEST(MergeLevelTest, LastOrTheOneAbove) {
  EXPECT_EQ(6, MergeLevelOf(MergeLevel::kLast, 6));
  EXPECT_EQ(5, MergeLevelOf(MergeLevel::kLastButOne, 6));
  // Never level 0.
  EXPECT_EQ(1, MergeLevelOf(MergeLevel::kLastButOne, 1));
  EXPECT_EQ(1, MergeLevelOf(MergeLevel::kLast, 0));
}

class PickMergeTest : public testing::Test {
 protected:
  PickMergeTest() {
    survey_.ssts = {Sst(20, 0, 5, 9),  Sst(21, 0, 5, 9),  Sst(15, 4, 10, 7),
                    Sst(16, 5, 10, 7), Sst(17, 5, 20, 7), Sst(10, 6, 50, 5)};
    for (SstInfo& sst : survey_.ssts) {
      sst.medium_bytes = 100 * sst.entries;
    }
    survey_.last_level = 6;
  }

  Plan DoPick(MergeLevel level = MergeLevel::kLast) {
    return PickMerge(survey_, level, since_, busy_);
  }

  Survey survey_;
  uint64_t since_ = 21;
  std::set<uint64_t> busy_;
};

TEST_F(PickMergeTest, MovedSstsFirstAndOnce) {
  EXPECT_EQ(List{10}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  since_ = 9;
  EXPECT_EQ(List{17}, Numbers(DoPick()));
}

TEST_F(PickMergeTest, ThenTheDeepestLevel) {
  survey_.ssts[5].medium_bytes = 0;
  EXPECT_EQ(List{17}, Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {17};
  EXPECT_EQ(List{16}, Numbers(DoPick()));
  busy_ = {16, 17};
  EXPECT_EQ(List{15}, Numbers(DoPick()));
  busy_ = {15, 16, 17};
  EXPECT_EQ((List{20, 21}), Numbers(DoPick()));
  EXPECT_EQ(6, DoPick().output_level);
  busy_ = {15, 16, 17, 20, 21};
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

TEST_F(PickMergeTest, LastButOne) {
  survey_.ssts[5].medium_bytes = 0;
  EXPECT_EQ(List{17}, Numbers(DoPick(MergeLevel::kLastButOne)));  // where it is
  EXPECT_EQ(5, DoPick(MergeLevel::kLastButOne).output_level);
  survey_.ssts[3].medium_bytes = survey_.ssts[4].medium_bytes = 0;
  EXPECT_EQ(List{15}, Numbers(DoPick(MergeLevel::kLastButOne)));
  EXPECT_EQ(5, DoPick(MergeLevel::kLastButOne).output_level);
  // Level 5 is not used yet.
  survey_.ssts.erase(survey_.ssts.begin() + 3, survey_.ssts.begin() + 5);
  EXPECT_EQ(List{15}, Numbers(DoPick(MergeLevel::kLastButOne)));
  EXPECT_EQ(6, DoPick(MergeLevel::kLastButOne).output_level);
}

TEST_F(PickMergeTest, NothingInTheLog) {
  for (SstInfo& sst : survey_.ssts) {
    sst.medium_bytes = 0;
  }
  EXPECT_EQ(List{}, Numbers(DoPick()));
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
