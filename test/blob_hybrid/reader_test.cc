// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Blob files are read ahead where values are read in sequence, and only there.

#include "plugin/blob_hybrid/reader.h"

#include <atomic>

#include "db/blob/blob_log_format.h"
#include "test/blob_hybrid/support.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr uint64_t kPage = 4096;

TEST(SequenceTest, BeginsWithTheFirstValue) {
  Sequence sequence;
  EXPECT_FALSE(sequence.Add(30, 100));
  EXPECT_TRUE(sequence.Add(130, 100));
  EXPECT_TRUE(sequence.Add(230, 1));
  EXPECT_FALSE(Sequence().Add(0, 100));
}

TEST(SequenceTest, PassesOverAPage) {
  Sequence sequence;
  EXPECT_FALSE(sequence.Add(1000, 100));
  EXPECT_TRUE(sequence.Add(1100 + kPage, 100));
  EXPECT_TRUE(sequence.Add(1200 + 2 * kPage, 100));
  EXPECT_FALSE(sequence.Add(1300 + 3 * kPage + 1, 100));
  EXPECT_TRUE(sequence.Add(1400 + 4 * kPage + 1, 100));
}

TEST(SequenceTest, EndsWithAValueBefore) {
  Sequence sequence;
  EXPECT_FALSE(sequence.Add(100000, 100));
  EXPECT_FALSE(sequence.Add(99999, 100));
  EXPECT_FALSE(sequence.Add(10, 100));
  EXPECT_TRUE(sequence.Add(110, 100));
  EXPECT_FALSE(sequence.Add(209, 100));
}

// 20000 bytes pay for a gap of as much, but only once.
TEST(SequenceTest, PassesOverAsMuchAsWasReadInSequence) {
  Sequence sequence;
  EXPECT_FALSE(sequence.Add(1000, 10000));
  EXPECT_TRUE(sequence.Add(11000, 10000));
  Sequence other = sequence;
  EXPECT_FALSE(other.Add(21000 + 20001, 100));
  EXPECT_TRUE(sequence.Add(21000 + 20000, 5000));
  other = sequence;
  EXPECT_FALSE(other.Add(46000 + 5001, 100));
  EXPECT_TRUE(sequence.Add(46000 + 5000, 100));
}

// Counts what is read of values in blob files, not of headers and footers of these.
class Reads : public EventListener {
 public:
  bool ShouldBeNotifiedOnFileIO() override { return true; }

  void OnFileReadFinish(const FileOperationInfo& info) override {
    if (Slice(info.path).ends_with(".blob") && info.length > 100) {
      reads++;
      bytes += info.length;
    }
  }

  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> bytes{0};
};

class ReaderTest : public HybridDb {
 protected:
  static constexpr int kKeys = 400;

  ReaderTest() { hybrid_.gc_garbage_ratio = 0.3; }

  // The values of version 0 that are left of a blob file move to a new one.
  template <typename Overwritten>
  void MoveAllBut(const Overwritten& overwritten) {
    options_.listeners.push_back(reads_);
    Open();
    Fill(0, kKeys, 0);
    Flush();
    moved_ = 0;
    for (int i = 0; i < kKeys; i++) {
      if (overwritten(i)) {
        Put(i, 1);
      } else {
        moved_++;
      }
    }
    Flush();
    Compact();
    reads_->reads = reads_->bytes = 0;
    Compact();
    EXPECT_EQ(moved_, Stats().moved_values);
    reads = reads_->reads;
    bytes = reads_->bytes;
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i, overwritten(i) ? 1 : 0), Get(i)) << i;
    }
  }

  // Of those that moved.
  uint64_t MovedBytes() const {
    return moved_ * (1000 + BlobLogRecord::CalculateAdjustmentForRecordHeader(KeyOf(0).size()));
  }

  const std::shared_ptr<Reads> reads_ = std::make_shared<Reads>();
  uint64_t moved_ = 0;
  uint64_t reads = 0;
  uint64_t bytes = 0;
};

TEST_F(ReaderTest, AheadInSequence) {
  MoveAllBut([](int i) { return i < kKeys / 2; });
  EXPECT_EQ(kKeys / 2u, moved_);
  EXPECT_LE(reads, 12u);
  EXPECT_LT(bytes, MovedBytes() * 11 / 10);
}

TEST_F(ReaderTest, AsMuchAsTheOptionSays) {
  hybrid_.readahead_size = 8 << 10;
  MoveAllBut([](int i) { return i < kKeys / 2; });
  EXPECT_GE(reads, MovedBytes() / (10 << 10));
  EXPECT_LT(reads, 2 * MovedBytes() / (8 << 10));
  EXPECT_LT(bytes, MovedBytes() * 11 / 10);
}

// With the pages that they are in.
TEST_F(ReaderTest, AloneWhereTheyAreFew) {
  MoveAllBut([](int i) { return i % 16 != 0; });
  EXPECT_EQ(kKeys / 16u, moved_);
  EXPECT_EQ(moved_, reads);
  EXPECT_LE(bytes, moved_ * 2 * kPage);
}

TEST_F(ReaderTest, NeverAhead) {
  hybrid_.readahead_size = 0;
  MoveAllBut([](int i) { return i < kKeys / 2; });
  EXPECT_EQ(moved_, reads);
  EXPECT_EQ(MovedBytes(), bytes);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
