// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The bound of space holds while keys are overwritten and deleted. ROCKTIER_SEED: another seed.

#include <map>

#include "test/blob_hybrid/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 3000;
constexpr size_t kValue = 1000;
constexpr double kTolerance = 1.05;

class SpaceTest : public HybridDb {
 protected:
  SpaceTest() : random_(Seed()) {
    options_.disable_auto_compactions = false;
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.max_bytes_for_level_base = 32 << 10;
    options_.max_bytes_for_level_multiplier = 4;
    options_.level0_file_num_compaction_trigger = 4;
    options_.blob_file_size = 128 << 10;
    hybrid_.max_space_amplification = 1.5;
    hybrid_.space_floor = 256 << 10;
  }

  void Write(int i) {
    Put(i, version_++, kValue);
    live_[i] = KeyOf(i).size() + kValue;
    written_++;
  }

  void Delete(int i) {
    ASSERT_OK(db_->Delete(WriteOptions(), KeyOf(i)));
    live_.erase(i);
  }

  uint64_t LiveBytes() const {
    uint64_t live = 0;
    for (const auto& [i, bytes] : live_) {
      live += bytes;
    }
    return live;
  }

  uint64_t DiskBytes() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    return meta.size + meta.blob_file_size;
  }

  // What is not flushed yet is live, and not on disk; what is being flushed may add up to the bound.
  void ExpectBound(const char* where) {
    const double base = static_cast<double>(std::max(LiveBytes(), hybrid_.space_floor));
    const double slack = 2.0 * static_cast<double>(options_.write_buffer_size);
    const double amplification = (static_cast<double>(DiskBytes()) - slack) / base;
    worst_ = std::max(worst_, amplification);
    EXPECT_LE(amplification, hybrid_.max_space_amplification * kTolerance)
        << where << " after " << written_ << " writes\n"
        << Stats().ToString();
  }

  void Load() {
    Open();
    for (int i = 0; i < kKeys; i++) {
      Write(i);
    }
  }

  void Finish() {
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(SettleBlobHybrid(db_.get()));
    ExpectBound("at the end");
    const BlobHybridStats stats = Stats();
    printf("worst amplification %.3f, flushes that waited: %d, jobs: %d, moved: %d MB\n", worst_,
           static_cast<int>(stats.flush_waits), static_cast<int>(stats.jobs),
           static_cast<int>(stats.moved_bytes >> 20));
    EXPECT_EQ(0u, stats.job_errors);
    EXPECT_EQ(0u, stats.read_errors);
    EXPECT_EQ(0u, stats.bound_missed);
  }

  Random64 random_;
  std::map<int, uint64_t> live_;
  int version_ = 0;
  int written_ = 0;
  double worst_ = 0;
};

TEST_F(SpaceTest, UniformOverwrites) {
  Load();
  for (int i = 0; i < 10 * kKeys; i++) {
    Write(static_cast<int>(random_.Uniform(kKeys)));
    if (i % 500 == 0) {
      ExpectBound("uniform");
    }
  }
  Finish();
}

TEST_F(SpaceTest, SkewedOverwrites) {
  Load();
  for (int i = 0; i < 10 * kKeys; i++) {
    const double u = static_cast<double>(random_.Uniform(1 << 20)) / (1 << 20);
    Write(static_cast<int>(kKeys * u * u * u * u));
    if (i % 500 == 0) {
      ExpectBound("skewed");
    }
  }
  Finish();
}

// Hot keys in a small range, so that no compaction touches the rest.
TEST_F(SpaceTest, ColdGarbageIsFound) {
  Load();
  for (int i = 0; i < kKeys; i += 2) {
    Write(i);
  }
  for (int i = 0; i < 5 * kKeys; i++) {
    Write(static_cast<int>(random_.Uniform(100)));
    if (i % 500 == 0) {
      ExpectBound("cold");
    }
  }
  Finish();
  EXPECT_GT(Stats().jobs, 0u);
}

TEST_F(SpaceTest, DeletionOfEverything) {
  Load();
  for (int i = 0; i < kKeys; i++) {
    Delete(i);
  }
  Flush();
  Finish();
  EXPECT_LT(DiskBytes(), hybrid_.space_floor * 3 / 2);
}

TEST_F(SpaceTest, RangeDeletionOfNearlyEverything) {
  Load();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(100), KeyOf(kKeys)));
  live_.erase(live_.lower_bound(100), live_.end());
  Flush();
  Finish();
  EXPECT_LT(DiskBytes(), hybrid_.space_floor * 3 / 2);
}

// Keys come and go as with a time to live: first in, first out.
TEST_F(SpaceTest, Churn) {
  Open();
  for (int i = 0; i < 5 * kKeys; i++) {
    Write(i);
    if (i >= kKeys) {
      Delete(i - kKeys);
    }
    if (i % 500 == 0) {
      ExpectBound("churn");
    }
  }
  Finish();
}

// What was written without the plugin is put in order when the family is next written to.
TEST_F(SpaceTest, GarbageOfEarlierTimes) {
  OpenWithoutPlugin();
  for (int i = 0; i < 4 * kKeys; i++) {
    Write(static_cast<int>(random_.Uniform(kKeys)));
  }
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  Close();
  Open();
  Write(0);
  Flush();
  Finish();
}

// A snapshot keeps what it sees; the space comes back when it is gone.
TEST_F(SpaceTest, SnapshotIsReleased) {
  Load();
  Flush();
  const Snapshot* snapshot = db_->GetSnapshot();
  const int pinned = version_;
  for (int i = 0; i < kKeys; i++) {
    Write(i);
  }
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ReadOptions at;
  at.snapshot = snapshot;
  for (int i = 0; i < kKeys; i += 7) {
    EXPECT_EQ(ValueOf(i, i, kValue), Get(KeyOf(i), at));
    EXPECT_EQ(ValueOf(i, pinned + i, kValue), Get(i));
  }
  db_->ReleaseSnapshot(snapshot);
  for (int i = 0; i < 2 * kKeys; i++) {
    Write(static_cast<int>(random_.Uniform(kKeys)));
  }
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ExpectBound("after the snapshot");
}

// Closing while the job is at work, and flushes wait for it.
TEST_F(SpaceTest, CloseAtAnyTime) {
  hybrid_.max_space_amplification = 1.1;
  hybrid_.space_floor = 1;
  for (int round = 0; round < 10; round++) {
    Open();
    const int writes = static_cast<int>(random_.Uniform(kKeys));
    for (int i = 0; i < writes; i++) {
      Write(static_cast<int>(random_.Uniform(kKeys)));
    }
    if (round % 2 == 0) {
      ASSERT_OK(db_->Close());
    }
    Close();
  }
  Open();
  for (const auto& [i, bytes] : live_) {
    EXPECT_EQ(bytes, KeyOf(i).size() + Get(i).size());
  }
}

// Dropping a family while the job is at work in it.
TEST_F(SpaceTest, DropFamilyAtAnyTime) {
  hybrid_.max_space_amplification = 1.1;
  hybrid_.space_floor = 1;
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  ASSERT_OK(OpenDb(options, path_, &db_));
  for (int round = 0; round < 5; round++) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options, "family" + std::to_string(round), &family));
    const int writes = static_cast<int>(random_.Uniform(kKeys));
    for (int i = 0; i < writes; i++) {
      const int key = static_cast<int>(random_.Uniform(200));
      ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(key), ValueOf(key, i, kValue)));
      Write(key);
    }
    ASSERT_OK(db_->DropColumnFamily(family));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
  for (const auto& [i, bytes] : live_) {
    EXPECT_EQ(bytes, KeyOf(i).size() + Get(i).size());
  }
}

// When the job may not compact, writers go on, and it is counted; afterwards the bound is kept again.
TEST_F(SpaceTest, WritersGoOnWithoutTheJob) {
  Load();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  db_->DisableManualCompaction();
  for (int i = 0; i < 4 * kKeys; i++) {
    Write(static_cast<int>(random_.Uniform(kKeys)));
  }
  Flush();
  EXPECT_GT(Stats().bound_missed, 0u);
  db_->EnableManualCompaction();
  for (int i = 0; i < kKeys; i++) {
    Write(static_cast<int>(random_.Uniform(kKeys)));
  }
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ExpectBound("with the job again");
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
