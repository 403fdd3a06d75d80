// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/format.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/coding.h"
#include "plugin/secondary_cache_2q/crc32c.h"
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
  return slot;
}

constexpr size_t kExtent = 64;

// The extent of a block of 5 bytes.
std::string ExampleExtent() {
  BlockHeader header;
  memcpy(header.key, "filefilekeykeykk", Slot::kKeySize);
  header.size = 5;
  header.encoding = {8000, 4, 0, 0};
  std::string extent(kExtent, '\0');
  extent.replace(BlockHeader::kSize, 5, "bytes");
  header.Encode(extent.data());
  return extent;
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
  EXPECT_EQ(4096u + 8192 * 64, b.IndexEnd());
  // For each shard 2048 ids, and 512 references of two kinds: 8 + 36 + 256 + 4096 bytes.
  EXPECT_EQ(4416u, b.OrderSize());
  EXPECT_EQ(b.IndexEnd() + 3 * 4416, b.OrderOffset(3));
  EXPECT_EQ(b.IndexEnd() + 5 * 4096, b.DataOffset());
  EXPECT_EQ(b.DataOffset() + (16 << 20), b.FileSize());
}

// The format is what FORMAT.md says, whatever the code becomes.
// Of all sizes that the options allow: what is made can be opened again.
TEST(SuperblockTest, WhatIsPlannedIsSound) {
  const uint64_t most = uint64_t{256} << 30;  // for each shard
  for (uint32_t shards = 1; shards <= 4096; shards *= 2) {
    for (const uint64_t per_shard : {uint64_t{4096}, uint64_t{4097}, most - 4096, most - 1, most}) {
      for (const uint32_t block_size : {512u, 4096u}) {
        Superblock a = Superblock::Plan(per_shard * shards, shards, block_size);
        a.uuid = "0123456789abcdef";
        Superblock b;
        ASSERT_OK(Superblock::Decode(a.Encode(), "f", &b)) << shards << " of " << per_shard;
        EXPECT_EQ(per_shard * shards / (4096 * shards) * (4096 * shards), b.capacity);
      }
    }
  }
}

TEST(SuperblockTest, GoldenBytes) {
  const std::string bytes = Example().Encode();
  ASSERT_EQ(4096u, bytes.size());
  EXPECT_EQ(
      "524B54325153430A"  // magic
      "02000000"
      "00020000"  // version, block_size
      "04000000"
      "00000000"                          // shards, zero
      "0000000100000000"                  // capacity
      "0020000000000000"                  // slots
      "30313233343536373839616263646566"  // uuid
      "0000000000000000",
      Slice(bytes.data(), 64).ToString(/*hex=*/true));
  EXPECT_EQ("6F47568B", Slice(bytes.data() + 4092, 4).ToString(/*hex=*/true));
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
  EXPECT_FALSE(Superblock::IsFirstVersion(bytes, UINT64_MAX));
}

TEST(SuperblockTest, TheFirstVersionIsKnownIfItIsWhole) {
  std::string bytes = Example().Encode();
  EXPECT_FALSE(Superblock::IsFirstVersion(bytes, UINT64_MAX));
  bytes[8] = 1;
  EXPECT_FALSE(Superblock::IsFirstVersion(bytes, UINT64_MAX));  // its checksum is another version's
  EncodeFixed32(bytes.data() + 4092, MaskedCrc32c(bytes.data(), 4092));
  EXPECT_TRUE(Superblock::IsFirstVersion(bytes, UINT64_MAX));
  EXPECT_FALSE(Superblock::IsFirstVersion(Slice(bytes.data(), 4095), UINT64_MAX));
  const Superblock example = Example();
  const uint64_t size = 4096 + 64 * example.slots + example.capacity;
  EXPECT_TRUE(Superblock::IsFirstVersion(bytes, size));
  EXPECT_FALSE(Superblock::IsFirstVersion(bytes, size - 1));
  for (const int field : {24, 32}) {  // capacity, slots
    std::string forged = bytes;
    EncodeFixed64(forged.data() + field, UINT64_MAX / 64 + 1);
    EncodeFixed32(forged.data() + 4092, MaskedCrc32c(forged.data(), 4092));
    EXPECT_FALSE(Superblock::IsFirstVersion(forged, size));
  }
  Superblock s;
  EXPECT_TRUE(Superblock::Decode(bytes, "f", &s).IsNotSupported());
}

// What a shard's bookkeeping can count.
TEST(SuperblockTest, ShardsAreBounded) {
  Superblock a = Example();
  Superblock b;
  a.capacity = a.shards * a.block_size * kMostShardUnits;
  a.slots = uint64_t{a.shards} * kMostBlocks;
  ASSERT_OK(Superblock::Decode(a.Encode(), "f", &b));
  a.slots += a.shards;
  EXPECT_TRUE(Superblock::Decode(a.Encode(), "f", &b).IsCorruption());
  a.slots = 8192;
  a.capacity += a.shards * a.block_size;
  EXPECT_TRUE(Superblock::Decode(a.Encode(), "f", &b).IsCorruption());
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
}

TEST(SlotTest, GoldenBytes) {
  char bytes[Slot::kSize];
  ExampleSlot().Encode("0123456789abcdef", bytes);
  EXPECT_EQ(
      "35F245DB"
      "A00F0000"                          // checksum, size
      "8877665544332211"                  // sequence
      "66696C6566696C656B65796B65796B6B"  // key
      "0010000000000000"                  // offset
      "000000000000000000000000000000000000000000000000",
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

TEST(BlockHeaderTest, RoundTrip) {
  BlockHeader header;
  Slice bytes;
  const std::string extent = ExampleExtent();
  ASSERT_TRUE(BlockHeader::Decode(extent, &header, &bytes));
  EXPECT_EQ("bytes", bytes.ToString());
  EXPECT_EQ("filefilekeykeykk", header.Key().ToString());
  EXPECT_EQ(5u, header.size);
  EXPECT_EQ(8000u, header.encoding.raw_size);
  EXPECT_EQ(4, header.encoding.codec);
}

TEST(BlockHeaderTest, GoldenBytes) {
  EXPECT_EQ(
      "4F60BA9C"
      "05000000"                          // checksum, size
      "66696C6566696C656B65796B65796B6B"  // key
      "401F0000"                          // raw_size
      "04000000"                          // codec, type, source
      "6279746573",                       // the block
      Slice(ExampleExtent().data(), 37).ToString(/*hex=*/true));
}

TEST(BlockHeaderTest, EveryFlippedBitIsFoundUpToTheEndOfTheBlock) {
  for (size_t bit = 0; bit < kExtent * 8; bit++) {
    std::string extent = ExampleExtent();
    extent[bit / 8] ^= static_cast<char>(1 << bit % 8);
    BlockHeader header;
    Slice bytes;
    ASSERT_EQ(bit / 8 >= BlockHeader::kSize + 5, BlockHeader::Decode(extent, &header, &bytes))
        << bit;
  }
}

TEST(BlockHeaderTest, EveryTruncationIsFound) {
  const std::string extent = ExampleExtent();
  for (size_t n = 0; n < kExtent; n++) {
    BlockHeader header;
    Slice bytes;
    ASSERT_EQ(n >= BlockHeader::kSize + 5,
              BlockHeader::Decode(Slice(extent.data(), n), &header, &bytes))
        << n;
  }
}

// With a right checksum.
TEST(BlockHeaderTest, FieldsAreBounded) {
  const std::vector<std::function<void(BlockHeader*)>> changes = {
      [](BlockHeader* h) { h->size = 0; },
      [](BlockHeader* h) { h->encoding.raw_size = UINT32_MAX; },
      [](BlockHeader* h) { h->encoding.raw_size = 5; },
      [](BlockHeader* h) { h->encoding.codec = 0; },
      [](BlockHeader* h) { h->encoding.codec = 2; },
      [](BlockHeader* h) { h->encoding.type = 1; },
      [](BlockHeader* h) { h->encoding.source = 1; },
      [](BlockHeader* h) {
        h->encoding = {5, 0, 1, 3};
      },
  };
  for (size_t i = 0; i < changes.size(); i++) {
    std::string extent = ExampleExtent();
    BlockHeader header;
    Slice bytes;
    ASSERT_TRUE(BlockHeader::Decode(extent, &header, &bytes));
    changes[i](&header);
    header.Encode(extent.data());
    EXPECT_FALSE(BlockHeader::Decode(extent, &header, &bytes)) << i;
  }
}

TEST(OrderTest, GoldenBytes) {
  EXPECT_EQ(
      "5A45D356"
      "05000000"
      "7374617465",
      Slice(EncodeOrder("0123456789abcdef", 3, "state")).ToString(/*hex=*/true));
}

TEST(OrderTest, IsOfThisFileAndShardAndWhole) {
  const std::string uuid = "0123456789abcdef";
  const std::string bytes = EncodeOrder(uuid, 3, "state");
  EXPECT_EQ("state", DecodeOrder(uuid, 3, bytes).ToString());
  EXPECT_EQ("state", DecodeOrder(uuid, 3, bytes + "what was there before").ToString());
  EXPECT_EQ("", DecodeOrder(uuid, 2, bytes).ToString());
  EXPECT_EQ("", DecodeOrder("fedcba9876543210", 3, bytes).ToString());
  for (size_t n = 0; n < bytes.size(); n++) {
    EXPECT_EQ("", DecodeOrder(uuid, 3, Slice(bytes.data(), n)).ToString());
  }
  for (size_t bit = 0; bit < bytes.size() * 8; bit++) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_EQ("", DecodeOrder(uuid, 3, damaged).ToString()) << bit;
  }
  EXPECT_EQ(100u, OrderBytes("crc_\xff\xff\xff\xff", 100));
  EXPECT_EQ(13u, OrderBytes(bytes.data(), 100));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
