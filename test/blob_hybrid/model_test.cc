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

// Equation 1, added up merge by merge: l levels, of which each is filled by f merges of the one
// above it.
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

// "if keys are roughly 20 bytes, then small KV pairs have values roughly below 80 bytes, large KV
// pairs have values larger than roughly 1000 bytes"
TEST(ModelTest, ThresholdsAreThoseOfThePaper) {
  const Thresholds thresholds = PaperThresholds(20);
  EXPECT_DOUBLE_EQ(80, thresholds.medium);
  EXPECT_DOUBLE_EQ(980, thresholds.large);
}

TEST(ModelTest, Equations) {
  const Tree tree{8, 1};
  EXPECT_DOUBLE_EQ(35, IoAmplification(tree, 4));     // 4 * 9 - 1
  EXPECT_DOUBLE_EQ(18, WriteAmplification(tree, 4));  // 4 * 9 / 2
  EXPECT_DOUBLE_EQ(1.02 * 35 / 1.72, BenefitOfSeparation(tree, 4, 0.02));
  EXPECT_DOUBLE_EQ(1.2 * 35 / 8.2, BenefitOfSeparation(tree, 4, 0.2));
  EXPECT_DOUBLE_EQ(70.0 / 37, BenefitOfSeparation(tree, 4, 1));
}

// 10,000 bytes of records each, by hand. A merge writes 5.5 bytes for each one; a tenth of the data
// is above the last level. A reference has 20 bytes, a record in a blob file a header of 32.
class PredictTest : public testing::Test {
 protected:
  const Tree tree_{10, 100};
  const Thresholds thresholds_{50, 500};
  const SizeClass small_{1000, 5000, 5000};
  const SizeClass medium_{100, 1000, 9000};
  const SizeClass large_{10, 100, 9900};
};

TEST_F(PredictTest, SmallValues) {
  // Two levels: 10000 of the log, and 2 * 5.5 * 10000.
  const Cost cost = Predict(tree_, {small_}, thresholds_, 0.5, 0.25);
  EXPECT_DOUBLE_EQ(12, cost.write_amplification);
  EXPECT_DOUBLE_EQ(1.05, cost.space_amplification);
  EXPECT_DOUBLE_EQ(1, Predict(tree_, {small_}, thresholds_, 0, 0.25).space_amplification);
}

TEST_F(PredictTest, MediumValues) {
  // References, 3000 bytes, go to the first level, records of 13200 bytes to the transient log;
  // then 10000 to the last level.
  const Cost cost = Predict(tree_, {medium_}, thresholds_, 0.5, 0.25);
  EXPECT_DOUBLE_EQ((10000 + 3000 * 5.5 + 10000 * 5.5 + 13200) / 10000,
                   cost.write_amplification);  // 9.47
  // Levels above have a tenth of the bytes, which is a third of the entries.
  EXPECT_DOUBLE_EQ(1.05 + 0.44, cost.space_amplification);
}

TEST_F(PredictTest, LargeValues) {
  // References, 300 bytes, are in one level. There are 10320 bytes of records, and 0.5 * 0.75 /
  // 0.25 are moved for each.
  const Cost cost = Predict(tree_, {large_}, thresholds_, 0.5, 0.25);
  EXPECT_DOUBLE_EQ((10000 + 300 * 5.5 + 10320 * 2.5) / 10000, cost.write_amplification);  // 3.745
  // Files with an eighth of garbage.
  EXPECT_NEAR((300 * 1.05 + 10320 * (1.05 + 1.0 / 7)) / 10000, cost.space_amplification, 1e-12);
  const Cost inserts = Predict(tree_, {large_}, thresholds_, 0, 0.25);
  EXPECT_DOUBLE_EQ((10000 + 300 * 5.5 + 10320) / 10000, inserts.write_amplification);
  EXPECT_DOUBLE_EQ(1.062, inserts.space_amplification);
}

TEST_F(PredictTest, AllOfThem) {
  // 20300 bytes are in SSTs at last, in three levels.
  const Cost cost = Predict(tree_, {small_, medium_, large_}, thresholds_, 0, 0.25);
  const double log = 30000;
  const double small = 10000 * 5.5 * 3;
  const double medium = 3000 * 5.5 * 2 + 10000 * 5.5 + 13200;
  const double large = 300 * 5.5 * 3 + 10320;
  EXPECT_DOUBLE_EQ((log + small + medium + large) / 30000, cost.write_amplification);
  EXPECT_DOUBLE_EQ((20300 + 4400 + 10320) / 30000.0, cost.space_amplification);
}

// Where large values begin right after small ones, medium ones are large.
TEST_F(PredictTest, ThresholdsDecide) {
  const Cost separated = Predict(tree_, {medium_}, {0, 0}, 0, 1);
  // References of 3000 bytes are in two levels.
  EXPECT_DOUBLE_EQ((10000 + 3000 * 5.5 * 2 + 13200) / 10000, separated.write_amplification);
  const Cost in_place = Predict(tree_, {medium_}, {1000, 1000}, 0, 1);
  EXPECT_DOUBLE_EQ(12, in_place.write_amplification);
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
  // Blob files write less but take more than that, SSTs do not.
  const Advice narrow = Advise(profile, 0.1, 1.02);
  EXPECT_LT(narrow.large.write_amplification, narrow.in_place.write_amplification / 2);
  EXPECT_GT(narrow.large.space_amplification, 1.02);
  EXPECT_LE(narrow.in_place.space_amplification, 1.02);
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
