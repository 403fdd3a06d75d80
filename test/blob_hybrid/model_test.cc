// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The model of Parallax says what the paper says, and advice follows from it.

#include "plugin/blob_hybrid/model.h"

#include "gtest/gtest.h"
#include "plugin/blob_hybrid/advice.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr double kMega = 1 << 20;

TEST(ModelTest, LevelsGrow) {
  const Tree tree{8, 1 * kMega};
  EXPECT_EQ(1, Levels(tree, 1));
  EXPECT_EQ(1, Levels(tree, 8 * kMega));
  EXPECT_EQ(2, Levels(tree, 8 * kMega + 1));
  EXPECT_EQ(3, Levels(tree, 512 * kMega));
}

// Equation 1, added up merge by merge: l levels, of which each is filled by f merges of the one above it.
TEST(ModelTest, TreesThatDoNotGrowHaveLevels) {
  Tree tree;
  tree.growth = 1;
  EXPECT_LT(Levels(tree, 1e15), 60);
}

TEST(ModelTest, IoAmplificationIsTheSumOfAllMerges) {
  for (const int growth : {4, 8, 10}) {
    const Tree tree{static_cast<double>(growth), 1};
    for (int levels = 1; levels <= 4; levels++) {
      double total = 1;  // of the last level, by that of memory
      for (int i = 0; i < levels; i++) {
        total *= growth;
      }
      double io = 0;
      double upper = 1;
      for (int level = 0; level < levels; level++, upper *= growth) {
        for (double merge = 0; merge < total / upper; merge++) {
          const int filled = static_cast<int>(merge) % growth;
          io += (level == 0 ? 1 : 2) * upper + 2 * filled * upper;
        }
      }
      EXPECT_DOUBLE_EQ(io / total, IoAmplification(tree, levels)) << growth << " " << levels;
      EXPECT_DOUBLE_EQ((io / total + 1) / 2, WriteAmplification(tree, levels));
    }
  }
}

// Section 5.4: 25% and 6% for a growth factor of 4, about 13% and less than 3% for 8.
TEST(ModelTest, ShareAboveIsThatOfFigure4) {
  EXPECT_DOUBLE_EQ(0.25, ShareAbove({4, 1}, 1));
  EXPECT_NEAR(0.06, ShareAbove({4, 1}, 2), 0.005);
  EXPECT_NEAR(0.13, ShareAbove({8, 1}, 1), 0.01);
  EXPECT_LT(ShareAbove({8, 1}, 2), 0.03);
}

// Section 2.2: with large values an order of magnitude, with small ones little.
TEST(ModelTest, BenefitOfSeparationIsThatOfFigure4) {
  const Tree tree{8, 1};
  EXPECT_GT(BenefitOfSeparation(tree, 4, 0.02), 10);
  EXPECT_LT(BenefitOfSeparation(tree, 4, 0.2), 6);
  EXPECT_GT(BenefitOfSeparation(tree, 4, 0.2), 4);
  EXPECT_LT(BenefitOfSeparation(tree, 4, 1), 2);
}

// "if keys are roughly 20 bytes, then small KV pairs have values roughly below 80 bytes, large KV pairs have values larger
// than roughly 1000 bytes"
TEST(ModelTest, ThresholdsAreThoseOfThePaper) {
  const Thresholds thresholds = PaperThresholds(20);
  EXPECT_DOUBLE_EQ(80, thresholds.medium);
  EXPECT_DOUBLE_EQ(980, thresholds.large);
}

class AdviceTest : public testing::Test {
 protected:
  // Records of 20-byte keys, so many MB of each size.
  static Profile MakeProfile(const std::map<double, double>& megabytes_of_values) {
    Profile profile;
    profile.key_bytes = 20;
    profile.tree = {10, 4 * kMega};
    for (const auto& [value, megabytes] : megabytes_of_values) {
      const double count = megabytes * kMega / (value + 20);
      profile.classes.push_back({count, count * 20, count * value});
      profile.records += count;
    }
    return profile;
  }
};

TEST_F(AdviceTest, LargeValuesAreSeparated) {
  const Advice advice = Advise(MakeProfile({{10, 10}, {200, 10}, {2000, 980}}), 0, 1.5);
  EXPECT_EQ(980u, advice.min_blob_size);
  EXPECT_NEAR(0.98, advice.large_share, 1e-6);
  EXPECT_NEAR(0.01, advice.medium_share, 1e-6);
  EXPECT_LT(advice.large.write_amplification, advice.in_place.write_amplification / 3);
  EXPECT_GE(advice.large.space_amplification, 1);
}

TEST_F(AdviceTest, SmallValuesAreNot) {
  const Advice advice = Advise(MakeProfile({{10, 500}, {50, 500}}), 0.5, 1.5);
  EXPECT_EQ(0u, advice.min_blob_size);
  EXPECT_EQ(0, advice.gc_garbage_ratio);
  EXPECT_DOUBLE_EQ(advice.in_place.write_amplification, advice.hybrid.write_amplification);
  EXPECT_DOUBLE_EQ(1, advice.small_share);
}

TEST_F(AdviceTest, MediumValuesGainFromTheLastLevel) {
  const Advice advice = Advise(MakeProfile({{200, 1000}}), 0.5, 1.5);
  EXPECT_DOUBLE_EQ(1, advice.medium_share);
  EXPECT_LT(advice.hybrid.write_amplification, advice.in_place.write_amplification);
  EXPECT_GT(advice.hybrid.space_amplification, advice.in_place.space_amplification);
}

TEST_F(AdviceTest, LessSpaceMeansMoreWrites) {
  const Profile profile = MakeProfile({{2000, 1000}});
  const Advice wide = Advise(profile, 0.8, 2);
  const Advice narrow = Advise(profile, 0.8, 1.2);
  EXPECT_GT(wide.gc_garbage_ratio, narrow.gc_garbage_ratio);
  EXPECT_LT(wide.large.write_amplification, narrow.large.write_amplification);
  EXPECT_GT(wide.large.space_amplification, narrow.large.space_amplification);
}

TEST_F(AdviceTest, SpaceIsKeptOrNot) {
  const Profile profile = MakeProfile({{2000, 1000}});
  const Advice wide = Advise(profile, 0.8, 1.5);
  EXPECT_TRUE(wide.space_kept);
  EXPECT_EQ(980u, wide.min_blob_size);
  EXPECT_LE(wide.large.space_amplification, 1.5);
  // Blob files take more than that, SSTs do not.
  const Advice narrow = Advise(profile, 0.8, 1.09);
  EXPECT_GT(narrow.large.space_amplification, 1.09);
  EXPECT_LE(narrow.in_place.space_amplification, 1.09);
  EXPECT_TRUE(narrow.space_kept);
  EXPECT_EQ(0u, narrow.min_blob_size);
  // Nothing keeps to it.
  const Advice none = Advise(profile, 0.8, 1.05);
  EXPECT_GT(none.in_place.space_amplification, 1.05);
  EXPECT_FALSE(none.space_kept);
  EXPECT_EQ(0u, none.min_blob_size);  // so little garbage costs more than it saves
  const Advice inserts = Advise(profile, 0.1, 1.005);
  EXPECT_FALSE(inserts.space_kept);
  EXPECT_EQ(980u, inserts.min_blob_size);
  EXPECT_EQ(0.05, inserts.gc_garbage_ratio);
}

TEST_F(AdviceTest, NothingIsKnownOfNothing) {
  const Advice advice = Advise(Profile(), 0, 1.5);
  EXPECT_EQ(0u, advice.min_blob_size);
  EXPECT_EQ(0, advice.in_place.write_amplification);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
