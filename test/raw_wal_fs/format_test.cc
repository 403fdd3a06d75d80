// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/format.h"

#include <cstring>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/coding.h"
#include "plugin/raw_wal_fs/crc32c.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/wal_home.h"

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
  header.log = LogId{5, 9};
  header.directory = DirectoryId{7, 8};
  header.segment = 17;
  header.name = std::string(600, 'x') + "/000012.log";
  char bytes[SegmentHeader::kSize];
  header.Encode(ASuperblock(), bytes);
  SegmentHeader read;
  ASSERT_TRUE(SegmentHeader::Decode(bytes, kUuid, &read));
  EXPECT_EQ(read.ordinal, 3u);
  EXPECT_TRUE(read.log == header.log);
  EXPECT_TRUE(read.directory == header.directory);
  EXPECT_FALSE(read.whole_name);
  Superblock found;
  ASSERT_TRUE(SegmentHeader::DecodeAny(bytes, &read, &found));
  EXPECT_EQ(found.uuid, kUuid);
  EXPECT_EQ(found.segments, ASuperblock().segments);
  EXPECT_EQ(found.epoch, ASuperblock().epoch);
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

constexpr LogId kLog{41, 42};
constexpr LogId kOtherLog{41, 43};
constexpr LogId kNumber{0, 42};  // of version 1

std::string AFrame(const std::string& payload, FrameHeader* header, LogId log = kLog) {
  header->log = log;
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
  ASSERT_TRUE(FrameHeader::Parse(frame.data(), kLog, frame.size(), 512, &read));
  EXPECT_EQ(read.offset, 1000u);
  EXPECT_EQ(read.durable, 900u);
  EXPECT_EQ(read.length, 1000u);
  EXPECT_TRUE(read.Verify(kUuid, 512, frame.data()));
}

// The cases of MyWAL's figure 9. There the pieces are records; here they are frames.
bool IsWhole(const std::string& frame) {
  FrameHeader read;
  return FrameHeader::Parse(frame.data(), kLog, frame.size(), 512, &read) &&
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
  EXPECT_FALSE(FrameHeader::Parse(frame.data(), kOtherLog, frame.size(), 512, &read));
  ASSERT_TRUE(FrameHeader::Parse(frame.data(), kLog, frame.size(), 512, &read));
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
  EXPECT_FALSE(FrameHeader::Parse(frame.data(), kLog, frame.size() - 1, 512, &read));
}

TEST(RawWalFormatTest, StubRoundTrip) {
  Stub stub;
  stub.uuid = kUuid;
  stub.log = kLog;
  stub.epoch = 3;
  stub.tail_size = 512 << 10;
  stub.durable = 1234;
  const std::string bytes = stub.Encode();
  EXPECT_EQ(bytes.size(), Stub::kSize);
  Stub read;
  ASSERT_TRUE(Stub::Decode(bytes, "stub", &read).ok());
  EXPECT_EQ(read.uuid, kUuid);
  EXPECT_TRUE(read.log == kLog);
  EXPECT_EQ(read.epoch, 3u);
  EXPECT_EQ(read.tail_size, stub.tail_size);
  EXPECT_EQ(read.durable, 1234u);
  EXPECT_TRUE(Stub::Decode(Slice(bytes.data(), 20), "stub", &read).IsNotFound());
  EXPECT_TRUE(Stub::Decode(Slice(bytes.data(), 100), "stub", &read).IsCorruption());
  std::string bad = bytes;
  bad[60] = static_cast<char>(bad[60] ^ 1);
  EXPECT_TRUE(Stub::Decode(bad, "stub", &read).IsCorruption());
}

TEST(RawWalFormatTest, ChunkRoundTrip) {
  std::string bytes(Chunk::kSize + 10, 'c');
  Chunk chunk;
  chunk.log = kLog;
  chunk.offset = 7;
  chunk.length = 10;
  chunk.Seal(kUuid, bytes.data());
  Chunk read;
  ASSERT_TRUE(Chunk::Decode(bytes, kUuid, kLog, &read));
  EXPECT_EQ(read.offset, 7u);
  EXPECT_FALSE(Chunk::Decode(bytes, kUuid, kOtherLog, &read));
  EXPECT_FALSE(Chunk::Decode(bytes, kOther, kLog, &read));
  for (size_t size = 0; size < bytes.size(); size++) {
    EXPECT_FALSE(Chunk::Decode(Slice(bytes.data(), size), kUuid, kLog, &read)) << size;
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

TEST(RawWalFormatTest, KeptLogsAreKnownByTheirNames) {
  for (const char* name : {"/db/000012.log", "000012.log.trash", "/db/KEPT-3-tag.log", "x.log",
                           "/db/KEPT-3.log.trash", "/db/a.log.b.log"}) {
    EXPECT_TRUE(IsStubName(name)) << name;
  }
  for (const char* name : {"/db/000012.sst", "/db/LOG", "/db/.log", "/db/000012.log.exported",
                           "/db.log/12", "log", "/db/x.log.tmp"}) {
    EXPECT_FALSE(IsStubName(name)) << name;
  }
}

TEST(RawWalFormatTest, IdsAsText) {
  for (const LogId& id : {kLog, kNumber, LogId{uint64_t{1} << 63, UINT64_MAX},
                          LogId{0, uint64_t{UINT32_MAX} << 32 | 7}}) {
    LogId read;
    ASSERT_TRUE(LogId::Parse(id.ToString(), &read)) << id.ToString();
    EXPECT_TRUE(read == id);
  }
  EXPECT_EQ(kNumber.ToString(), "0:42");
  for (const char* text :
       {"", ":", "1", "1:", ":1", "4294967296:1", "1:-1", "1:1 ", "g", "0x1:1"}) {
    LogId read;
    EXPECT_FALSE(LogId::Parse(text, &read)) << text;
  }
}

// Bytes as they are written; a change of the format must change the version.
TEST(RawWalFormatTest, GoldenBytes) {
  FrameHeader header;
  std::string frame = AFrame("payload", &header, kNumber);
  EXPECT_EQ(Slice(frame.data(), 48).ToString(/*hex=*/true),
            "7B1809955246524D2A00000000000000E8030000000000008403000000000000"
            "07000000000000007061796C6F616400")
      << "as of version 1";
  frame = AFrame("payload", &header);
  EXPECT_EQ(Slice(frame.data() + 4, 44).ToString(/*hex=*/true),
            "29000000000000002A00000000000000E8030000000000008403000000000000"
            "070000007061796C6F616400");
  const std::string superblock = ASuperblock().Encode();
  EXPECT_EQ(Slice(superblock.data(), 64).ToString(true),
            "524B545257414C0A020000000010000000004000000000006400000000000000"
            "0700000000000000050000000000000075757575757575757575757575757575");
}

WalHome AWalHome() {
  WalHome home;
  home.directory.born = 0x0102030405060708;
  home.directory.inode = 42;
  home.path = "/data/db";
  return home;
}

TEST(RawWalFormatTest, GoldenBytesOfAWalHome) {
  const std::string bytes = AWalHome().Encode();
  EXPECT_EQ(Slice(bytes.data() + 4, bytes.size() - 4).ToString(/*hex=*/true),
            "524B5452484F4D450100000008070605040302012A000000000000000800000"
            "02F646174612F6462");
  EXPECT_EQ(Slice(bytes.data(), 4).ToString(/*hex=*/true), "02C5F774");
}

TEST(RawWalFormatTest, AWalHomeIsReadAsItWasWritten) {
  WalHome home = AWalHome();
  for (const size_t size : {size_t{0}, size_t{8}, WalHome::kMaxPath}) {
    home.path.assign(size, 'p');
    WalHome read;
    const Status s = WalHome::Decode(home.Encode(), "/wal/file", &read);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_TRUE(read.directory == home.directory);
    EXPECT_EQ(read.path, home.path);
  }
}

TEST(RawWalFormatTest, AWalHomeThatSaysWhatCannotBe) {
  const std::string good = AWalHome().Encode();
  const auto decode = [](std::string bytes, bool sealed) {
    if (sealed) {
      EncodeFixed32(bytes.data(), MaskedCrc32c(bytes.data() + 4, bytes.size() - 4));
    }
    WalHome read;
    return WalHome::Decode(bytes, "/wal/file", &read);
  };
  for (size_t i = 0; i < good.size(); i++) {
    std::string bytes = good;
    bytes[i] ^= 1;
    EXPECT_TRUE(decode(bytes, /*sealed=*/false).IsCorruption()) << i;
    EXPECT_TRUE(decode(good.substr(0, i), /*sealed=*/false).IsCorruption()) << i;
  }
  EXPECT_TRUE(decode(good + "x", /*sealed=*/true).IsCorruption());
  EXPECT_TRUE(decode(good + std::string(WalHome::kMaxPath, 'x'), /*sealed=*/true).IsCorruption());
  std::string newer = good;
  newer[12] = 2;
  EXPECT_TRUE(decode(newer, /*sealed=*/true).IsNotSupported());
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
