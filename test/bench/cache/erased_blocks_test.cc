// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/erased_blocks.h"

#include "test_util/testharness.h"

namespace rocktier_bench {
namespace {

constexpr uint64_t kTurnover = 1000;
constexpr uint64_t kBytes = 100;

class ErasedBlocksTest : public testing::Test {
 protected:
  void Hit(uint64_t key, uint64_t block, uint64_t file) { Read(key, block, file, true); }
  void Miss(uint64_t key, uint64_t block, uint64_t file) { Read(key, block, file, false); }

  ErasedBlocks erased_{kTurnover};

 private:
  void Read(uint64_t key, uint64_t block, uint64_t file, bool hit) {
    ErasedBlocks::Read read;
    read.key = key;
    read.block = block;
    read.file = file;
    read.bytes = kBytes;
    read.hit = hit;
    read.found = true;
    erased_.OnRead(read);
  }
};

TEST_F(ErasedBlocksTest, AMissOfAKeyWhoseBlockWasCompactedCounts) {
  Miss(7, 1, 10);
  erased_.OnCompacted({10});
  Miss(7, 2, 11);
  EXPECT_EQ(2u, erased_.counts().misses);
  EXPECT_EQ(1u, erased_.counts().erased);
  Hit(7, 2, 11);
  Miss(7, 2, 11);  // evicted: the SST is there
  EXPECT_EQ(1u, erased_.counts().erased);
  EXPECT_EQ(4u, erased_.counts().lookups);
  EXPECT_EQ(1u, erased_.counts().compacted_files);
}

TEST_F(ErasedBlocksTest, KeysBetweenTwoOfABlockWereInIt) {
  Hit(10, 1, 10);
  Hit(13, 1, 10);
  Hit(20, 2, 10);
  erased_.OnCompacted({10});
  Miss(12, 5, 11);
  EXPECT_EQ(1u, erased_.counts().erased);
  Miss(15, 6, 11);  // in the one block, in the other, or in one between them
  EXPECT_EQ(1u, erased_.counts().erased);
  EXPECT_EQ(1u, erased_.counts().perhaps_erased);
  Miss(30, 7, 11);
  EXPECT_EQ(1u, erased_.counts().erased);
  EXPECT_EQ(1u, erased_.counts().perhaps_erased);
}

TEST_F(ErasedBlocksTest, WhatWasUsedATurnoverAgoWouldBeGone) {
  Hit(1, 1, 10);
  Hit(2, 2, 10);
  erased_.OnCompacted({10});
  for (uint64_t i = 0; i < kTurnover / kBytes; i++) {
    Miss(1000 * (i + 1), 100 + i, 12);
  }
  Miss(1, 3, 11);
  EXPECT_EQ(1u, erased_.counts().erased);  // just within it
  Miss(2, 4, 11);
  EXPECT_EQ(1u, erased_.counts().erased);
}

TEST_F(ErasedBlocksTest, RestartForgetsCountsAndNoBlocks) {
  Hit(1, 1, 10);
  erased_.OnCompacted({10});
  erased_.Restart();
  EXPECT_EQ(0u, erased_.counts().lookups);
  Miss(1, 2, 11);
  EXPECT_EQ(1u, erased_.counts().erased);
}

}  // namespace
}  // namespace rocktier_bench
