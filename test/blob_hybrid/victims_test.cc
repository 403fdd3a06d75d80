// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/victims.h"

#include "test/blob_hybrid/file_info.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

TEST(BoundTest, LeastRatioKeepsKnownGarbageWithinTheBound) {
  for (const double bound : {1.1, 1.5, 2.0, 10.0}) {
    BlobHybridOptions options;
    options.gc_garbage_ratio = 1;
    options.max_space_amplification = bound;
    EXPECT_LT(1 / (1 - LeastRatio(options)), SoftBound(bound, true)) << bound;
    EXPECT_LT(SoftBound(bound, true), SoftBound(bound, false));
    EXPECT_LT(SoftBound(bound, false), WaitBound(bound, false));
    EXPECT_LT(SoftBound(bound, true), WaitBound(bound, true));
    EXPECT_LT(WaitBound(bound, false), bound);
  }
}

// With a bound there is room for garbage.
TEST(BoundTest, CompactionsCollectByThemselvesWithoutABound) {
  BlobHybridOptions options;
  options.max_space_amplification = 2;
  EXPECT_EQ(1, RestingRatio(options));
  options.max_space_amplification = 0;
  EXPECT_EQ(0.5, RestingRatio(options));
  options.gc_garbage_ratio = 0.1;
  EXPECT_EQ(0.1, RestingRatio(options));
  options.max_space_amplification = 2;
  EXPECT_EQ(0.1, RestingRatio(options));
  EXPECT_EQ(0.1, LeastRatio(options));
}

// More files at a time where SSTs are large.
TEST(RoomTest, ShareGrowsWithSsts) {
  const auto share = [](uint64_t sst_bytes, uint64_t value_bytes) {
    Space space;
    space.sst_bytes = sst_bytes;
    space.value_bytes = value_bytes;
    return RoomFor(space, 1.5).share;
  };
  EXPECT_DOUBLE_EQ(0.15, share(0, 0));
  EXPECT_DOUBLE_EQ(0.15, share(100, 10000));
  EXPECT_DOUBLE_EQ(0.3, share(900, 10000));
  EXPECT_DOUBLE_EQ(0.75, share(10000, 10000));
}

// Little at a time near the bound. Far above it there is more to win than to lose.
TEST(RoomTest, WhatIsThereTwiceIsWithinTheBound) {
  const auto twice = [](uint64_t disk_bytes) {
    Space space;
    space.disk_bytes = disk_bytes;
    space.amplification = static_cast<double>(disk_bytes) / 100000;
    return RoomFor(space, 1.5).twice;
  };
  EXPECT_EQ(0u, twice(0));
  EXPECT_NEAR(24500, twice(130000), 1);
  EXPECT_NEAR(1500, twice(153000), 1);
  EXPECT_NEAR(0, twice(154500), 1);
  EXPECT_NEAR(145500, twice(300000), 1);
}

class VictimsTest : public testing::Test {
 protected:
  using Set = std::set<uint64_t>;

  Set Victims(double ratio, double bound, const Collected& collected = {}) const {
    return PickVictims(blobs_, ratio, bound, room_, collected);
  }

  Room room_{0.15, UINT64_MAX};
  // With live values of 1,000,000 bytes, 500,000 of them in files with garbage.
  const std::vector<BlobInfo> blobs_{Blob(1, 200000, 100000), Blob(2, 300000, 100000),
                                     Blob(3, 100000, 90000),  Blob(4, 240000, 120000),
                                     Blob(5, 270000, 200000), Blob(6, 600000, 100000)};
};

TEST_F(VictimsTest, TheWorstOnesWithinThePartOfTheBound) {
  // 15% of what the bound allows: 75,000, 375,000 and 577,500 bytes.
  EXPECT_EQ((Set{3}), Victims(0.3, 1.5));
  EXPECT_EQ((Set{3, 5}), Victims(0.3, 3.5));
  // The older one of two with equal garbage.
  EXPECT_EQ((Set{1, 3, 5}), Victims(0.3, 4.85));
}

// 3 has 10,000 bytes that live, 5 has 70,000, and 1 and 4 have 100,000 and 120,000.
TEST_F(VictimsTest, NoMoreThanMayBeThereTwice) {
  room_.twice = 180000;
  EXPECT_EQ((Set{1, 3, 5}), Victims(0.3, 10));
  room_.twice = 179999;
  EXPECT_EQ((Set{3, 5}), Victims(0.3, 10));
  EXPECT_EQ((Set{3, 4}), Victims(0.3, 10, {{4, false}}));
  EXPECT_EQ((Set{3, 4, 5}), Victims(0.3, 10, {{4, true}}));
  room_.twice = 0;
  EXPECT_EQ((Set{3}), Victims(0.3, 10));
  EXPECT_EQ((Set{1, 2, 3, 4, 5}), Victims(0.3, 0));  // without a bound
}

TEST_F(VictimsTest, OneAtLeast) { EXPECT_EQ((Set{3}), Victims(0.3, 1.01)); }

TEST_F(VictimsTest, NoneWithLessGarbage) {
  EXPECT_EQ((Set{3, 5}), Victims(0.5, 10));
  EXPECT_EQ((Set{}), Victims(0.9, 10));
  EXPECT_EQ((Set{}), PickVictims({}, 0.3, 1.5, room_, {}));
}

TEST_F(VictimsTest, AllWithoutABound) { EXPECT_EQ((Set{1, 2, 3, 4, 5}), Victims(0.3, 0)); }

TEST_F(VictimsTest, ThoseThatAreCollectedComeFirst) {
  EXPECT_EQ((Set{6}), Victims(0.3, 1.5, {{6, false}}));
  EXPECT_EQ((Set{5}), Victims(0.3, 1.5, {{5, false}}));
  EXPECT_EQ((Set{3, 5}), Victims(0.3, 3.5, {{5, false}}));
}

TEST_F(VictimsTest, OthersFollowWhenNothingMoreCanBeDone) {
  EXPECT_EQ((Set{3, 5}), Victims(0.3, 1.5, {{3, true}}));
  EXPECT_EQ((Set{1, 3, 5}), Victims(0.3, 1.5, {{3, true}, {5, true}}));
  EXPECT_EQ((Set{3, 6}), Victims(0.3, 1.5, {{6, true}, {7, true}}));  // 7 has gone
}

BlobInfo Corrected(uint64_t number, uint64_t bytes, uint64_t garbage) {
  BlobInfo blob = Blob(number, bytes, garbage);
  blob.corrected = true;
  return blob;
}

void ExpectShares(const std::vector<double>& expected, const std::vector<BlobInfo>& blobs) {
  const std::vector<double> shares = SharesOfGarbage(blobs, 0.3);
  ASSERT_EQ(expected.size(), shares.size());
  for (size_t i = 0; i < shares.size(); i++) {
    EXPECT_NEAR(expected[i], shares[i], 0.001) << blobs[i].number;
  }
}

TEST(SharesTest, OwnGarbageIfRocksDbKnowsIt) {
  ExpectShares({0, 0.9, 0.2, 1},
               {Blob(1, 100, 0), Blob(2, 100, 90), Blob(3, 100, 20), Blob(4, 100, 100)});
}

// RocksDB frees a corrected file with the last older one that has references.
TEST(SharesTest, OlderFilesShareWhatTheyHoldUp) {
  ExpectShares({0.425, 0.425, 0.425, 0.425, 0.05},
               {Blob(1, 100, 0), Blob(2, 100, 10), Corrected(3, 100, 100), Corrected(4, 100, 60),
                Blob(5, 100, 5)});
  // 2 is collected all the same.
  ExpectShares({0.533, 0.9, 0.533, 0.533, 0.05},
               {Blob(1, 100, 0), Blob(2, 100, 90), Corrected(3, 100, 100), Corrected(4, 100, 60),
                Blob(5, 100, 5)});
}

TEST(SharesTest, YoungerFilesThatAreWorthLessWait) {
  ExpectShares({0.9, 0.5, 0.1, 0.1}, {Corrected(1, 100, 90), Corrected(2, 100, 50), Blob(3, 100, 0),
                                      Corrected(4, 100, 20)});
}

class CorrectedTest : public VictimsTest {
 protected:
  static Set Pick(const std::vector<BlobInfo>& blobs, double bound, const Collected& collected) {
    return PickVictims(blobs, 0.3, bound, {0.5, UINT64_MAX}, collected);
  }
};

// There are 400 bytes that live. 5 to 7 have no references.
TEST_F(CorrectedTest, OlderFilesAreCollectedInTheirOrder) {
  const std::vector<BlobInfo> blobs = {
      Blob(1, 100, 0),        Blob(2, 100, 0),        Blob(3, 100, 0),       Blob(4, 100, 0),
      Corrected(5, 100, 100), Corrected(6, 100, 100), Corrected(7, 100, 100)};
  EXPECT_EQ((Set{1}), Pick(blobs, 1.4, {}));
  EXPECT_EQ((Set{1, 2}), Pick(blobs, 2, {}));
  EXPECT_EQ((Set{1, 2, 3, 4}), Pick(blobs, 100, {}));
  EXPECT_EQ((Set{1, 2}), Pick(blobs, 1.4, {{1, true}}));
}

// Else values would be there twice for long.
TEST_F(CorrectedTest, NoneFollowsOneThatWaits) {
  const std::vector<BlobInfo> blobs = {Corrected(1, 100, 50), Corrected(2, 100, 50),
                                       Corrected(3, 100, 100), Corrected(4, 100, 50)};
  EXPECT_EQ((Set{1, 2, 4}), Pick(blobs, 100, {}));
  EXPECT_EQ((Set{1, 2, 3}), Pick(blobs, 100, {{3, true}}));
  EXPECT_EQ((Set{1, 3}), Pick(blobs, 1.1, {{3, true}}));
  EXPECT_EQ((Set{1}), Pick(blobs, 100, {{1, true}}));  // for a snapshot
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
