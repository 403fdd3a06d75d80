// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The order of use and A1 over a restart: told by what is evicted and what is admitted next.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/format.h"
#include "rocksdb/convenience.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr uint64_t kFull = 2200;  // more blocks than the file has room for
constexpr size_t kSize = 4000;

class OrderTest : public testing::Test {
 protected:
  OrderTest() : path_(test::PerThreadDBPath("two_q_order")), copy_(path_ + ".copy") { Remove(); }
  ~OrderTest() override { Remove(); }

  void Remove() {
    cache_.reset();
    for (const std::string& path : {path_, copy_}) {
      unlink(path.c_str());
      unlink((path + ".lock").c_str());
    }
  }

  void OpenAt(const std::string& path, const std::string& more = "") {
    cache_.reset();
    ASSERT_OK(SecondaryCache::CreateFromString(
        ConfigOptions(),
        "id=TwoQSecondaryCache;capacity=8M;num_shard_bits=0;storage=file;path=" + path + more,
        &cache_));
  }
  void Open(const std::string& more = "") { OpenAt(path_, more); }
  void CopyFile() const {
    std::filesystem::copy_file(path_, copy_, std::filesystem::copy_options::overwrite_existing);
  }

  void Insert(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++) {
      Offer(cache_.get(), Key(i), Noise(i, kSize), /*force=*/true);
      if (i % 16 == 0) {
        AsOurs(cache_)->TEST_Drain();  // so that none is dropped for want of buffers
      }
    }
    AsOurs(cache_)->TEST_Drain();
  }

  // Those of the blocks that are held, with the right bytes. They count as used then.
  std::vector<uint64_t> Held(uint64_t from, uint64_t to) {
    std::vector<uint64_t> held;
    for (uint64_t i = from; i < to; i++) {
      const std::string value = Get(cache_.get(), Key(i));
      if (value != "<none>") {
        EXPECT_TRUE(Noise(i, kSize) == value);
        held.push_back(i);
      }
    }
    return held;
  }

  TwoQSecondaryCacheStats Stats() const {
    TwoQSecondaryCacheStats stats;
    EXPECT_OK(GetTwoQSecondaryCacheStats(cache_.get(), &stats));
    return stats;
  }

  // Asked for, and offered then. Returns whether it was taken.
  bool IsAdmitted(uint64_t block) {
    EXPECT_EQ("<none>", Get(cache_.get(), Key(block)));
    Offer(cache_.get(), Key(block), Noise(block, kSize));
    AsOurs(cache_)->TEST_Drain();
    return Get(cache_.get(), Key(block)) != "<none>";
  }

  // A full cache, of which every third block was used lately, and with references to the blocks
  // from 10000 to 10100.
  void MakeOrder() {
    Open();
    Insert(0, kFull);
    Insert(3000, 3000 + Stats().blocks / 2);  // the hand is in the midst of the others
    for (uint64_t block = 0; block < kFull; block++) {
      if (block % 3 == 0) {
        Get(cache_.get(), Key(block));
      }
    }
    for (uint64_t block = 10000; block < 10100; block++) {
      Get(cache_.get(), Key(block));
      Offer(cache_.get(), Key(block), Noise(block, kSize));
    }
    EXPECT_GE(Stats().ghosts, 100u);
  }

  // XORs a byte of the file.
  static void Damage(const std::string& path, uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 0x5A);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
    ASSERT_TRUE(file.good());
  }

  static Superblock Layout(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string head(Superblock::kSize, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    Superblock layout;
    EXPECT_OK(Superblock::Decode(head, path, &layout));
    return layout;
  }

  const std::string path_;
  const std::string copy_;
  std::shared_ptr<SecondaryCache> cache_;
};

// Whether the cache was closed in between or not.
TEST_F(OrderTest, WhatWasUsedStaysAndWhatWasNotGoes) {
  std::vector<std::vector<uint64_t>> left;
  for (const bool restart : {false, true}) {
    Remove();
    MakeOrder();
    const uint64_t blocks = Stats().blocks;
    if (restart) {
      Open();
      EXPECT_EQ(blocks, Stats().recovered);
      EXPECT_EQ(blocks, Stats().blocks);
    }
    Insert(5000, 5000 + blocks / 3);
    left.push_back(Held(0, 4999));
    uint64_t used = 0;
    for (uint64_t block : left.back()) {
      used += block < kFull && block % 3 == 0 ? 1 : 0;
    }
    EXPECT_GT(used, 150u);
  }
  EXPECT_EQ(left[0], left[1]);
}

TEST_F(OrderTest, A1IsThereAgain) {
  MakeOrder();
  Open();
  EXPECT_GE(Stats().ghosts, 100u);
  EXPECT_FALSE(IsAdmitted(20000));
  for (uint64_t block = 10000; block < 10100; block++) {
    EXPECT_TRUE(IsAdmitted(block)) << block;
  }
  EXPECT_GE(Stats().ghost_hits, 100u);
}

// A block that was asked for twice, and was in the primary cache when that went.
TEST_F(OrderTest, WhatIsMarkedIsThereAgain) {
  MakeOrder();
  Get(cache_.get(), Key(10050));
  Open();
  Offer(cache_.get(), Key(10050), Noise(10050, kSize));
  EXPECT_EQ(1u, Stats().admitted);
}

TEST_F(OrderTest, SoItIsWithManyShards) {
  Open(";num_shard_bits=2");
  Insert(0, kFull);
  for (uint64_t block = 10000; block < 10100; block++) {
    Get(cache_.get(), Key(block));
    Offer(cache_.get(), Key(block), Noise(block, kSize));
  }
  const uint64_t ghosts = Stats().ghosts;
  Open(";num_shard_bits=2");
  EXPECT_EQ(ghosts, Stats().ghosts);
}

// After a kill blocks go in the order in which they came, and A1 is empty.
TEST_F(OrderTest, WithoutACleanCloseItIsThatOfInsertion) {
  Open();
  Insert(0, kFull);
  Insert(3000, 3000 + Stats().blocks / 2);
  for (uint64_t block = 10000; block < 10100; block++) {
    Get(cache_.get(), Key(block));
    Offer(cache_.get(), Key(block), Noise(block, kSize));
  }
  CopyFile();
  const uint64_t blocks = Stats().blocks;
  OpenAt(copy_);
  EXPECT_EQ(blocks, Stats().recovered);
  EXPECT_EQ(0u, Stats().ghosts);
  EXPECT_FALSE(IsAdmitted(10000));
  Insert(5000, 5000 + blocks / 4);
  const std::vector<uint64_t> left = Held(0, 3000 + blocks / 2);
  // The last of the first ones, and all of the second ones.
  uint64_t second = 0;
  for (uint64_t block : left) {
    second += block >= 3000 ? 1 : 0;
    EXPECT_GT(block, kFull - blocks / 2);
  }
  EXPECT_EQ(blocks / 2, second);
}

// So it is for more than half of a round of the hand.
TEST_F(OrderTest, WithoutACleanCloseTheNewestBlocksGoLast) {
  Open();
  Insert(0, kFull);
  Insert(3000, 3000 + Stats().blocks / 2);
  CopyFile();
  const uint64_t blocks = Stats().blocks;
  OpenAt(copy_);
  Insert(5000, 5000 + blocks * 6 / 10);
  const std::vector<uint64_t> left = Held(0, 3000 + blocks / 2);
  ASSERT_FALSE(left.empty());
  EXPECT_GE(left.front(), 3000u);
  EXPECT_EQ(3000 + blocks / 2 - 1, left.back());
  EXPECT_NEAR(static_cast<double>(blocks) * 0.4, static_cast<double>(left.size()), 20);
}

// A saved order is good for one opening: it does not fit what comes after it.
TEST_F(OrderTest, ItIsTakenOnce) {
  MakeOrder();
  Open();
  CopyFile();
  OpenAt(copy_);
  EXPECT_GT(Stats().recovered, 1000u);
  EXPECT_EQ(0u, Stats().ghosts);
}

TEST_F(OrderTest, WhatIsDamagedIsNoOrderAndNoError) {
  MakeOrder();
  const uint64_t blocks = Stats().blocks;
  cache_.reset();
  const Superblock layout = Layout(path_);
  for (const uint64_t at : {0u, 4u, 7u, 8u, 20u, 40u, 300u, 1000u}) {
    cache_.reset();
    CopyFile();
    Damage(copy_, layout.OrderOffset(0) + at);
    OpenAt(copy_);
    EXPECT_EQ(blocks, Stats().recovered) << at;
    EXPECT_EQ(0u, Stats().ghosts) << at;
    EXPECT_EQ(0u, Stats().io_errors) << at;
    EXPECT_EQ(0u, Stats().corrupt) << at;
    Insert(5000, 5100);
    EXPECT_EQ(100u, Held(5000, 5100).size()) << at;
  }
}

// With a right checksum: what it says is bounded.
TEST_F(OrderTest, WhatIsForgedIsBounded) {
  MakeOrder();
  const uint64_t blocks = Stats().blocks;
  cache_.reset();
  const Superblock layout = Layout(path_);
  std::string state;
  {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(layout.OrderOffset(0)));
    std::string bytes(layout.OrderSize(), '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    state = DecodeOrder(layout.uuid, 0, bytes).ToString();
    ASSERT_GT(state.size(), 500u);
  }
  for (size_t at = 0; at < state.size(); at += at < 40 ? 4 : 97) {
    std::string forged = state;
    forged.replace(at, 4, 4, '\xff');
    const std::string bytes = EncodeOrder(layout.uuid, 0, forged);
    ASSERT_LE(bytes.size(), layout.OrderSize());
    cache_.reset();
    CopyFile();
    {
      std::fstream file(copy_, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(layout.OrderOffset(0)));
      file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      ASSERT_TRUE(file.good());
    }
    OpenAt(copy_);
    EXPECT_EQ(blocks, Stats().recovered) << at;
    Insert(5000, 5040);
    EXPECT_EQ(40u, Held(5000, 5040).size()) << at;
    EXPECT_LE(Stats().ghosts, (8u << 20) / 512) << at;
  }
}

// What a close writes beyond the blocks that wait.
TEST_F(OrderTest, ACloseWritesLittle) {
  MakeOrder();
  cache_.reset();
  EXPECT_LE(Layout(path_).OrderSize(), (8u << 20) / 900);
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
