// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/format.h"

#include <cstring>

#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

Superblock Example() {
  Superblock s;
  s.block_size = 512;
  s.shards = 4;
  s.capacity = 16 << 20;
  s.slots = 8192;
  s.uuid = "0123456789abcdef";
  return s;
}

Slot ExampleSlot() {
  Slot slot;
  memcpy(slot.key, "filefilekeykeykk", Slot::kKeySize);
  slot.sequence = 0x1122334455667788;
  slot.offset = 4096;
  slot.size = 4000;
  slot.checksum = 0xCAFEBABE;
  slot.encoding = {8000, 4, 1, 2};
  return slot;
}

TEST(SuperblockTest, RoundTrip) {
  const Superblock a = Example();
  Superblock b;
  ASSERT_OK(Superblock::Decode(a.Encode(), "f", &b));
  EXPECT_EQ(a.block_size, b.block_size);
  EXPECT_EQ(a.shards, b.shards);
  EXPECT_EQ(a.capacity, b.capacity);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.uuid, b.uuid);
  EXPECT_EQ(4096u + 8192 * 64, b.DataOffset());
  EXPECT_EQ(b.DataOffset() + (16 << 20), b.FileSize());
}

// The format is what FORMAT.md says, whatever the code becomes.
TEST(SuperblockTest, GoldenBytes) {
  const std::string bytes = Example().Encode();
  ASSERT_EQ(4096u, bytes.size());
  EXPECT_EQ(
      "524B54325153430A"  // magic
      "01000000"
      "00020000"  // version, block_size
      "04000000"
      "00000000"                          // shards, zero
      "0000000100000000"                  // capacity
      "0020000000000000"                  // slots
      "30313233343536373839616263646566"  // uuid
      "0000000000000000",
      Slice(bytes.data(), 64).ToString(/*hex=*/true));
  EXPECT_EQ("D3627D01", Slice(bytes.data() + 4092, 4).ToString(/*hex=*/true));
}

TEST(SuperblockTest, EveryTruncationIsRefused) {
  const std::string bytes = Example().Encode();
  for (size_t n = 0; n < bytes.size(); n++) {
    Superblock s;
    ASSERT_TRUE(Superblock::Decode(Slice(bytes.data(), n), "f", &s).IsCorruption()) << n;
  }
}

TEST(SuperblockTest, EveryFlippedByteIsRefused) {
  const std::string bytes = Example().Encode();
  for (size_t n = 0; n < bytes.size(); n++) {
    std::string damaged = bytes;
    damaged[n] ^= 0x40;
    Superblock s;
    const Status status = Superblock::Decode(damaged, "some/file", &s);
    ASSERT_TRUE(status.IsCorruption() || status.IsNotSupported()) << n;
    ASSERT_NE(std::string::npos, status.ToString().find("some/file"));
  }
}

TEST(SuperblockTest, AnotherVersionIsNamed) {
  std::string bytes = Example().Encode();
  bytes[8] = 9;
  Superblock s;
  const Status status = Superblock::Decode(bytes, "f", &s);
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(std::string::npos, status.ToString().find("version 9"));
}

TEST(SlotTest, RoundTrip) {
  const Slot a = ExampleSlot();
  char bytes[Slot::kSize];
  a.Encode("0123456789abcdef", bytes);
  Slot b;
  bool used;
  ASSERT_TRUE(Slot::Decode(bytes, "0123456789abcdef", &b, &used));
  EXPECT_TRUE(used);
  EXPECT_EQ(0, memcmp(a.key, b.key, Slot::kKeySize));
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.size, b.size);
  EXPECT_EQ(a.checksum, b.checksum);
  EXPECT_EQ(a.encoding.raw_size, b.encoding.raw_size);
  EXPECT_EQ(a.encoding.codec, b.encoding.codec);
  EXPECT_EQ(a.encoding.type, b.encoding.type);
  EXPECT_EQ(a.encoding.source, b.encoding.source);
}

TEST(SlotTest, GoldenBytes) {
  char bytes[Slot::kSize];
  ExampleSlot().Encode("0123456789abcdef", bytes);
  EXPECT_EQ(
      "82410DFE"
      "A00F0000"                          // checksum, size
      "8877665544332211"                  // sequence
      "66696C6566696C656B65796B65796B6B"  // key
      "0010000000000000"                  // offset
      "401F0000"
      "BEBAFECA"  // raw_size, checksum of the bytes
      "040102"
      "00000000000000000000000000",
      Slice(bytes, Slot::kSize).ToString(/*hex=*/true));
}

TEST(SlotTest, AllZeroIsFree) {
  const char bytes[Slot::kSize] = {};
  Slot slot;
  bool used = true;
  EXPECT_TRUE(Slot::Decode(bytes, "u", &slot, &used));
  EXPECT_FALSE(used);
}

TEST(SlotTest, EveryFlippedBitIsFound) {
  char bytes[Slot::kSize];
  ExampleSlot().Encode("0123456789abcdef", bytes);
  for (size_t bit = 0; bit < Slot::kSize * 8; bit++) {
    char damaged[Slot::kSize];
    memcpy(damaged, bytes, Slot::kSize);
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    Slot slot;
    bool used;
    ASSERT_FALSE(Slot::Decode(damaged, "0123456789abcdef", &slot, &used)) << bit;
  }
}

// An entry of another cache file, or of this one before it was formatted anew.
TEST(SlotTest, AnotherFilesEntryIsFound) {
  char bytes[Slot::kSize];
  ExampleSlot().Encode("0123456789abcdef", bytes);
  Slot slot;
  bool used;
  EXPECT_FALSE(Slot::Decode(bytes, "fedcba9876543210", &slot, &used));
}

TEST(ChecksumTest, CoversKeyAndBytes) {
  const uint32_t a = BlockChecksum("key1", "bytes");
  EXPECT_NE(a, BlockChecksum("key2", "bytes"));
  EXPECT_NE(a, BlockChecksum("key1", "bytez"));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
