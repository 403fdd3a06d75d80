// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/frame_placer.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {
namespace {

constexpr uint32_t kBlock = 4096;
constexpr uint64_t kSegment = 256 << 10;
constexpr uint64_t kLimit = 64 << 10;
constexpr uint64_t kRoom = kBlock - FrameHeader::kSize;  // for a payload in one block

TEST(FramePlacerTest, ANewPlacerAsksForASegment) {
  FramePlacer placer(kBlock, kSegment);
  FramePlacer::Place place;
  EXPECT_FALSE(placer.Next(0, 1, kLimit, 0, &place));
  placer.StartSegment();
  EXPECT_TRUE(placer.Next(0, 1, kLimit, 0, &place));
  EXPECT_EQ(place.block, 1u) << "block 0 is the header's";
}

TEST(FramePlacerTest, SmallDurableFramesTakeTurnsInTwoBlocks) {
  FramePlacer placer(kBlock, kSegment);
  placer.StartSegment();
  FramePlacer::Place place;
  uint64_t end = 0;
  for (int i = 0; i < 10; i++) {
    ASSERT_TRUE(placer.Next(end, 100, kLimit, end, &place));
    EXPECT_EQ(place.block, 1u + static_cast<uint64_t>(i % 2));
    EXPECT_EQ(place.offset, 0u);
    EXPECT_EQ(place.repeated, end);
    end = place.offset + place.length;
    EXPECT_EQ(end, 100u * static_cast<uint64_t>(i + 1));
  }
}

TEST(FramePlacerTest, AFullBlockStaysAndItsTwinIsUsedNext) {
  FramePlacer placer(kBlock, kSegment);
  placer.StartSegment();
  FramePlacer::Place place;
  ASSERT_TRUE(placer.Next(0, 2000, kLimit, 0, &place));
  ASSERT_TRUE(placer.Next(2000, kRoom - 2000, kLimit, 2000, &place));
  EXPECT_EQ(place.block, 2u);
  ASSERT_TRUE(placer.Next(kRoom, 10, kLimit, kRoom, &place));
  EXPECT_EQ(place.block, 1u);
  EXPECT_EQ(place.repeated, 0u);
}

TEST(FramePlacerTest, NothingIsRepeatedBeforeItIsDurable) {
  FramePlacer placer(kBlock, kSegment);
  placer.StartSegment();
  FramePlacer::Place place;
  ASSERT_TRUE(placer.Next(0, 100, kLimit, 0, &place));
  ASSERT_TRUE(placer.Next(100, 100, kLimit, 0, &place));
  EXPECT_EQ(place.block, 2u);
  EXPECT_EQ(place.repeated, 0u);
}

TEST(FramePlacerTest, ALargeFrameEndsWithTheSegment) {
  FramePlacer placer(kBlock, kSegment);
  placer.StartSegment();
  FramePlacer::Place place;
  ASSERT_TRUE(placer.Next(0, 1 << 20, 1 << 20, 0, &place));
  EXPECT_EQ(place.length, kSegment - kBlock - FrameHeader::kSize);
  EXPECT_FALSE(placer.Next(place.length, 1, 1 << 20, 0, &place));
}

// Whatever the sizes: after any one write is torn, all durable bytes are still in some other block.
TEST(FramePlacerTest, NoWriteCanHarmDurableBytes) {
  std::mt19937_64 random(301);
  for (int round = 0; round < 200; round++) {
    FramePlacer placer(kBlock, kSegment);
    placer.StartSegment();
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> blocks;  // block -> bytes [first, last)
    uint64_t end = 0;
    uint64_t durable = 0;
    FramePlacer::Place place;
    while (true) {
      const uint64_t sizes[] = {1 + random() % 200, 1 + random() % 5000, 1 + random() % 100000};
      if (!placer.Next(end, sizes[random() % 3], kLimit, durable, &place)) {
        break;
      }
      const uint64_t size = FrameHeader::FrameSize(place.length, kBlock) / kBlock;
      ASSERT_LE(place.block + size, kSegment / kBlock);
      for (uint64_t block = place.block; block < place.block + size; block++) {
        blocks.erase(block);
      }
      std::map<uint64_t, uint64_t> cover;
      for (const auto& [block, range] : blocks) {
        cover[range.first] = std::max(cover[range.first], range.second);
      }
      uint64_t kept = 0;
      for (const auto& [first, last] : cover) {
        kept = first <= kept ? std::max(kept, last) : kept;
      }
      ASSERT_GE(kept, durable) << "round " << round;
      blocks[place.block] = {place.offset, place.offset + place.length};
      ASSERT_EQ(place.offset + place.repeated, end);
      end = place.offset + place.length;
      if (random() % 3 != 0) {
        durable = end;
      }
    }
  }
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
