// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/format.h"

#include <cstring>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/name.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {
namespace {

const std::string kUuid(kUuidSize, 'u');
const std::string kOther(kUuidSize, 'v');

Superblock ASuperblock() {
  Superblock s;
  s.block_size = 4096;
  s.segment_size = 4 << 20;
  s.segments = 100;
  s.generation = 7;
  s.epoch = 5;
  s.uuid = kUuid;
  return s;
}

TEST(RawWalFormatTest, SuperblockRoundTrip) {
  Superblock read;
  ASSERT_TRUE(Superblock::Decode(ASuperblock().Encode(), "device", &read).ok());
  EXPECT_EQ(read.Encode(), ASuperblock().Encode());
  EXPECT_EQ(read.Size(), (1u << 20) + 100 * (uint64_t{4} << 20));
}

TEST(RawWalFormatTest, EveryFlippedBitOfASuperblockIsNoticed) {
  const std::string good = ASuperblock().Encode();
  Superblock read;
  for (size_t i = 0; i < good.size(); i++) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1 << (i % 8));
    EXPECT_FALSE(Superblock::Decode(bad, "device", &read).ok()) << i;
  }
  for (size_t size = 0; size < good.size(); size += 13) {
    EXPECT_FALSE(Superblock::Decode(Slice(good.data(), size), "device", &read).ok()) << size;
  }
}

TEST(RawWalFormatTest, SegmentHeaderRoundTrip) {
  SegmentHeader header;
  header.ordinal = 3;
  header.log = uint64_t{5} << 32 | 9;
  header.segment = 17;
  header.name = std::string(600, 'x') + "/000012.log";
  char bytes[SegmentHeader::kSize];
  header.Encode(kUuid, bytes);
  SegmentHeader read;
  ASSERT_TRUE(SegmentHeader::Decode(bytes, kUuid, &read));
  EXPECT_EQ(read.ordinal, 3u);
  EXPECT_EQ(read.log, header.log);
  EXPECT_EQ(read.segment, 17u);
  EXPECT_TRUE(read.state == SegmentHeader::State::kLive);
  EXPECT_EQ(read.name.size(), SegmentHeader::kMaxName);
  EXPECT_EQ(read.name.substr(read.name.size() - 11), "/000012.log") << "its end is kept";
  EXPECT_FALSE(SegmentHeader::Decode(bytes, kOther, &read)) << "of another device";
  for (size_t i = 0; i < sizeof(bytes); i++) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    EXPECT_FALSE(SegmentHeader::Decode(bytes, kUuid, &read)) << i;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
  }
}

std::string AFrame(const std::string& payload, FrameHeader* header) {
  header->log = 42;
  header->offset = 1000;
  header->durable = 900;
  header->length = static_cast<uint32_t>(payload.size());
  std::string frame(header->FrameSize(512), 'g');  // garbage where padding is to be
  memcpy(frame.data() + FrameHeader::kSize, payload.data(), payload.size());
  header->Seal(kUuid, 512, frame.data());
  return frame;
}

TEST(RawWalFormatTest, FrameRoundTrip) {
  FrameHeader header;
  const std::string frame = AFrame(std::string(1000, 'p'), &header);
  EXPECT_EQ(frame.size(), 1536u);
  FrameHeader read;
  ASSERT_TRUE(FrameHeader::Parse(frame.data(), 42, frame.size(), 512, &read));
  EXPECT_EQ(read.offset, 1000u);
  EXPECT_EQ(read.durable, 900u);
  EXPECT_EQ(read.length, 1000u);
  EXPECT_TRUE(read.Verify(kUuid, 512, frame.data()));
}

// The cases of MyWAL's figure 9. There the pieces are records; here they are frames.
bool IsWhole(const std::string& frame) {
  FrameHeader read;
  return FrameHeader::Parse(frame.data(), 42, frame.size(), 512, &read) &&
         read.Verify(kUuid, 512, frame.data());
}

TEST(RawWalFormatTest, ABrokenFrameEndsTheLog) {  // cases 1, 3 and 7
  FrameHeader header;
  const std::string good = AFrame(std::string(1000, 'p'), &header);
  ASSERT_TRUE(IsWhole(good));
  for (size_t written = 0; written < good.size(); written += 512) {
    std::string torn(good.size(), 'o');  // what the blocks held before
    torn.replace(0, written, good, 0, written);
    EXPECT_FALSE(IsWhole(torn)) << written;
  }
}

TEST(RawWalFormatTest, PaddingThatIsNotZeroEndsTheLog) {  // case 5
  FrameHeader header;
  std::string frame = AFrame("payload", &header);
  frame[frame.size() - 1] = 1;
  EXPECT_FALSE(IsWhole(frame));
}

TEST(RawWalFormatTest, AStaleFrameAfterTheNewestIsOfAnotherLog) {  // cases 2, 4, 6 and 8
  FrameHeader header;
  const std::string frame = AFrame("payload", &header);
  FrameHeader read;
  EXPECT_FALSE(FrameHeader::Parse(frame.data(), 43, frame.size(), 512, &read));
  ASSERT_TRUE(FrameHeader::Parse(frame.data(), 42, frame.size(), 512, &read));
  EXPECT_FALSE(read.Verify(kOther, 512, frame.data())) << "of an earlier format of the device";
}

TEST(RawWalFormatTest, EveryFlippedBitOfAFrameIsNoticed) {
  FrameHeader header;
  std::string frame = AFrame(std::string(100, 'p'), &header);
  for (size_t bit = 0; bit < 8 * frame.size(); bit++) {
    frame[bit / 8] = static_cast<char>(frame[bit / 8] ^ 1 << (bit % 8));
    EXPECT_FALSE(IsWhole(frame)) << bit;
    frame[bit / 8] = static_cast<char>(frame[bit / 8] ^ 1 << (bit % 8));
  }
}

TEST(RawWalFormatTest, AFrameLongerThanItsSegmentIsNone) {
  FrameHeader header;
  const std::string frame = AFrame(std::string(1000, 'p'), &header);
  FrameHeader read;
  EXPECT_FALSE(FrameHeader::Parse(frame.data(), 42, frame.size() - 1, 512, &read));
}

TEST(RawWalFormatTest, StubRoundTrip) {
  Stub stub;
  stub.uuid = kUuid;
  stub.log = 42;
  stub.tail_size = 512 << 10;
  stub.on_device = true;
  const std::string bytes = stub.Encode();
  EXPECT_EQ(bytes.size(), Stub::kSize);
  Stub read;
  ASSERT_TRUE(Stub::Decode(bytes, "stub", &read).ok());
  EXPECT_EQ(read.uuid, kUuid);
  EXPECT_EQ(read.log, 42u);
  EXPECT_EQ(read.tail_size, stub.tail_size);
  EXPECT_TRUE(read.on_device);
  EXPECT_TRUE(Stub::Decode(Slice(bytes.data(), 20), "stub", &read).IsNotFound());
  EXPECT_TRUE(Stub::Decode(Slice(bytes.data(), 100), "stub", &read).IsCorruption());
  std::string bad = bytes;
  bad[60] = static_cast<char>(bad[60] ^ 1);
  EXPECT_TRUE(Stub::Decode(bad, "stub", &read).IsCorruption());
}

TEST(RawWalFormatTest, ChunkRoundTrip) {
  std::string bytes(Chunk::kSize + 10, 'c');
  Chunk chunk;
  chunk.log = 42;
  chunk.offset = 7;
  chunk.length = 10;
  chunk.Seal(kUuid, bytes.data());
  Chunk read;
  ASSERT_TRUE(Chunk::Decode(bytes, kUuid, 42, &read));
  EXPECT_EQ(read.offset, 7u);
  EXPECT_FALSE(Chunk::Decode(bytes, kUuid, 43, &read));
  EXPECT_FALSE(Chunk::Decode(bytes, kOther, 42, &read));
  for (size_t size = 0; size < bytes.size(); size++) {
    EXPECT_FALSE(Chunk::Decode(Slice(bytes.data(), size), kUuid, 42, &read)) << size;
  }
}

TEST(RawWalFormatTest, LogsAreKnownByTheirNames) {
  EXPECT_TRUE(IsLogName("/db/000012.log"));
  EXPECT_TRUE(IsLogName("000012.log.trash"));
  EXPECT_TRUE(IsLogName("/db/archive/000012.log.1.trash"));
  EXPECT_FALSE(IsLogName("/db/000012.sst"));
  EXPECT_FALSE(IsLogName("/db/LOG"));
  EXPECT_FALSE(IsLogName("/db/x12.log"));
  EXPECT_FALSE(IsLogName("/db/.log"));
  EXPECT_FALSE(IsLogName("/db/000012.log.exported"));
}

// Bytes as they were written by version 1; a change of the format must change the version.
TEST(RawWalFormatTest, GoldenBytes) {
  FrameHeader header;
  const std::string frame = AFrame("payload", &header);
  EXPECT_EQ(Slice(frame.data(), 48).ToString(/*hex=*/true),
            "7B1809955246524D2A00000000000000E8030000000000008403000000000000"
            "07000000000000007061796C6F616400");
  const std::string superblock = ASuperblock().Encode();
  EXPECT_EQ(Slice(superblock.data(), 64).ToString(true),
            "524B545257414C0A010000000010000000004000000000006400000000000000"
            "0700000000000000050000000000000075757575757575757575757575757575");
  EXPECT_EQ(Slice(superblock.data() + 4092, 4).ToString(true), "E5A4900F");
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
