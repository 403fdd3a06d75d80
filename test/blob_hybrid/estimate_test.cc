// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/space.h"
#include "test/blob_hybrid/file_info.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

TEST(EstimateTest, NothingHasNoGarbage) {
  const Space space = Estimate(TotalsOf(Survey()), 0);
  EXPECT_EQ(0u, space.disk_bytes);
  EXPECT_EQ(0, space.amplification);
}

TEST(EstimateTest, LastLevelHidesNothing) {
  Survey survey;
  survey.ssts = {Sst(10, 6, 100, 5)};
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 20000)};
  const Space space = Estimate(TotalsOf(survey), 0);
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
  const Space space = Estimate(TotalsOf(survey), 0);
  EXPECT_EQ(20000u, space.hidden_bytes);
  EXPECT_EQ(80800u, space.live_bytes);
}

TEST(EstimateTest, DeletionsHideValuesTooAndAddNone) {
  Survey survey;
  survey.ssts = {Sst(11, 5, 50, 0), Sst(10, 6, 100, 5)};
  survey.ssts[0].deletions = 50;
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 0)};
  EXPECT_EQ(50000u, Estimate(TotalsOf(survey), 0).hidden_bytes);
  survey.ssts[0].entries = survey.ssts[0].deletions = 500;
  EXPECT_EQ(100000u, Estimate(TotalsOf(survey), 0).hidden_bytes);
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
  EXPECT_NEAR(values / 3, Estimate(TotalsOf(survey), 0).hidden_bytes, 1);
  survey.ssts[1].sketch = sketch(0, kKeys);
  EXPECT_NEAR(values / 3, Estimate(TotalsOf(survey), 0).hidden_bytes, 1);  // one does not tell
  survey.ssts[0].sketch = sketch(kKeys, kKeys / 2 * 3);                    // inserts
  EXPECT_LT(Estimate(TotalsOf(survey), 0).hidden_bytes, values / 20);
  survey.ssts[0].sketch = sketch(kKeys / 4 * 3, kKeys / 4 * 5);  // half of them
  EXPECT_GT(Estimate(TotalsOf(survey), 0).hidden_bytes, values / 6 - values / 20);
  EXPECT_LT(Estimate(TotalsOf(survey), 0).hidden_bytes, values / 6 + values / 10);
  // A fifth of all entries.
  const uint64_t before = Estimate(TotalsOf(survey), 0).hidden_bytes;
  const uint64_t user_before = Estimate(TotalsOf(survey), 0).user_bytes;
  survey.ssts[0].covered = kKeys * 3 / 2 / 5;
  EXPECT_NEAR(values / 5, Estimate(TotalsOf(survey), 0).hidden_bytes - before, 2);
  EXPECT_NEAR(user_before * 4 / 5, Estimate(TotalsOf(survey), 0).user_bytes, 4);
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
  survey.ssts[0].bytes = survey.ssts[0].user_bytes = kKeys * 20;
  survey.ssts[0].sketch = DecodeSketch(blobs.Finish());
  survey.ssts[1].bytes = kKeys * 55;  // with its index
  survey.ssts[1].user_bytes = kKeys * 50;
  survey.ssts[1].sketch = DecodeSketch(in_place.Finish());
  survey.last_level = 6;
  survey.blobs = {Blob(5, kKeys * 132, 0)};
  const Space space = Estimate(TotalsOf(survey), 0);
  EXPECT_EQ(0u, space.garbage_bytes);
  EXPECT_NEAR(kKeys * 150, space.user_bytes, kKeys * 15);
  EXPECT_NEAR(207.0 / 150, space.amplification, 0.15);
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

// It is there twice before it has gone.
TEST(NeedsTest, LogIsMergedSooner) {
  BlobHybridOptions options;
  options.max_space_amplification = 1.5;
  Space space;
  space.disk_bytes = 1500;
  space.live_bytes = 1000;
  space.value_bytes = 800;
  space.medium_bytes = 101;
  space.amplification = 1.34;
  EXPECT_FALSE(NeedsOf(space, true, options).any());
  space.amplification = 1.36;
  EXPECT_TRUE(NeedsOf(space, true, options).log);
  EXPECT_FALSE(NeedsOf(space, true, options).above);
  space.amplification = 1.401;
  EXPECT_TRUE(NeedsOf(space, true, options).above);
  space.medium_bytes = 100;
  EXPECT_FALSE(NeedsOf(space, true, options).any());
}

TEST(CrowdedTest, WhereMuchIsOverwrittenUntilThereIsRoom) {
  Space space;
  space.sst_bytes = 400;
  space.value_bytes = 700;
  space.garbage_bytes = 100;
  space.live_bytes = 940;  // of 1000
  const auto at = [&](double amplification, double bound, bool before) {
    space.amplification = amplification;
    return IsCrowded(space, bound, before);
  };
  EXPECT_FALSE(at(1.4, 1.5, false));
  space.medium_bytes = 100;  // a log
  EXPECT_TRUE(at(1.4, 1.5, false));
  space.medium_bytes = 0;
  EXPECT_TRUE(at(1.45, 1.5, false));
  EXPECT_TRUE(at(1.3, 1.5, true));
  EXPECT_FALSE(at(1.2, 1.5, true));
  EXPECT_FALSE(at(9, 0, true));  // without a bound there is room
  space.live_bytes = 960;
  EXPECT_FALSE(at(1.45, 1.5, false));
  EXPECT_TRUE(at(1.45, 1.5, true));
}

TEST(EstimateTest, RangeDeletionsHideWhatTheyCover) {
  Survey survey;
  survey.ssts = {Sst(11, 5, 1, 0), Sst(10, 6, 100, 5)};
  survey.ssts[0].deletions = survey.ssts[0].range_deletions = 1;
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 10000)};
  EXPECT_EQ(900u, Estimate(TotalsOf(survey), 0).hidden_bytes);
  survey.ssts[0].covered = 49;
  EXPECT_EQ(45000u, Estimate(TotalsOf(survey), 0).hidden_bytes);
  survey.ssts[0].covered = 1000;
  EXPECT_EQ(90000u, Estimate(TotalsOf(survey), 0).hidden_bytes);
}

TEST(EstimateTest, FloorIsTheLeastLiveData) {
  Survey survey;
  survey.ssts = {Sst(10, 6, 100, 5)};
  survey.last_level = 6;
  survey.blobs = {Blob(5, 100000, 99000)};
  EXPECT_NEAR(1.01062, Estimate(TotalsOf(survey), 100000).amplification, 1e-9);
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
  space.amplification = 1.42;
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
  const Space space = Estimate(TotalsOf(survey), 8000);
  EXPECT_EQ(4000u, space.medium_bytes);
  EXPECT_NEAR(0.5, space.log_share, 1e-9);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
