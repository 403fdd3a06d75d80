// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Damaged devices and stubs, found and read: what the fuzzer does, without one. The seed is
// printed; ROCKTIER_SEED sets it.

#include <random>

#include "gtest/gtest.h"
#include "test/raw_wal_fs/image.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {
namespace {

class DamageTest : public ::testing::Test {
 protected:
  DamageTest() : random_(rocktier::Seed()) { image_ = MakeImage(rocktier::Scratch() + "/damage"); }

  // Turns one bit over, and back.
  void CheckFlip(Image* damaged, std::string* bytes, size_t at, int only = -1) {
    const char before = (*bytes)[at];
    (*bytes)[at] = static_cast<char>(before ^ (1 << random_() % 8));
    ASSERT_EQ(CheckImage(image_, *damaged, Fault::kDamaged, only), "") << "byte " << at;
    (*bytes)[at] = before;
  }

  std::mt19937_64 random_;
  Image image_;
};

TEST_F(DamageTest, NothingIsMissingWithoutDamage) {
  EXPECT_EQ(CheckImage(image_, image_, Fault::kDamaged), "");
}

TEST_F(DamageTest, EveryByteOfAHeaderCounts) {
  Image damaged = image_;
  for (size_t block = Superblock::kDataOffset; block < image_.device.size(); block += 512) {
    for (size_t at = block; at < block + FrameHeader::kSize && !HasFatalFailure(); at++) {
      CheckFlip(&damaged, &damaged.device, at);
    }
  }
}

TEST_F(DamageTest, AnyByteMayFlip) {
  Image damaged = image_;
  const size_t data = image_.device.size() - Superblock::kDataOffset;
  for (int i = 0; i < 3000 && !HasFatalFailure(); i++) {
    CheckFlip(&damaged, &damaged.device, Superblock::kDataOffset + random_() % data);
  }
  for (size_t at = 0; at < 2 * Superblock::kSize && !HasFatalFailure(); at += 1 + random_() % 9) {
    CheckFlip(&damaged, &damaged.device, at % Superblock::kSize);
  }
}

TEST_F(DamageTest, AnyByteOfAStubMayFlip) {
  for (size_t log = 0; log < image_.logs.size(); log++) {
    Image damaged = image_;
    std::string* stub = &damaged.logs[log].stub;
    for (size_t at = 0; at < stub->size() && !HasFatalFailure();
         at += at < 400 ? 1 : 1 + random_() % 9) {
      CheckFlip(&damaged, stub, at, static_cast<int>(log));
    }
  }
}

TEST_F(DamageTest, AFlippedByteDoesNotMakeAStubAPlainFile) {
  std::string stub = image_.logs[0].stub;
  for (size_t at = 0; at < Stub::kSize; at++) {
    stub[at] = static_cast<char>(stub[at] ^ 4);
    Stub read;
    EXPECT_FALSE(Stub::Decode(stub, "stub", &read).IsNotFound()) << at;
    stub[at] = static_cast<char>(stub[at] ^ 4);
  }
}

TEST_F(DamageTest, AStubMayEndAnywhere) {
  for (size_t log = 0; log < image_.logs.size(); log++) {
    Image damaged = image_;
    while (!damaged.logs[log].stub.empty()) {
      damaged.logs[log].stub.pop_back();
      ASSERT_EQ(CheckImage(image_, damaged, Fault::kDamaged, static_cast<int>(log)), "")
          << damaged.logs[log].stub.size();
    }
  }
}

TEST_F(DamageTest, InputsOfTheFuzzer) {
  for (int i = 0; i < 5000; i++) {
    std::string input(1 + 8 * (1 + random_() % 12), '\0');
    for (char& c : input) {
      c = static_cast<char>(random_());
    }
    ASSERT_EQ(CheckInput(image_, reinterpret_cast<const uint8_t*>(input.data()), input.size()), "")
        << Slice(input).ToString(/*hex=*/true);
  }
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
