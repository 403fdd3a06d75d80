// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The bound of space holds while keys are overwritten and deleted. ROCKTIER_SEED: another seed.

#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "rocksdb/table.h"
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
    versions_[i] = version_;
    Put(i, version_++, kValue);
    live_[i] = KeyOf(i).size() + kValue + overhead_;
    written_++;
  }

  // Again and again, at any time; opens it in the end.
  void WriteAndClose() {
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
  uint64_t overhead_ = 0;  // of a live value where it is
  int version_ = 0;
  int written_ = 0;
  std::map<int, int> versions_;  // of keys that were written last
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

// Values that move are there twice until their file is gone. All files have the same garbage here, and the job must not move
// the values of all of them before the first one is gone.
TEST_F(SpaceTest, CollectionItselfTakesLittleSpace) {
  options_.target_file_size_base = 4 << 10;  // many SSTs
  options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
  OpenWithoutPlugin();
  for (int version = 0; version < 2; version++) {
    for (int i = 0; i < kKeys; i++) {
      const int key = i * 7919 % kKeys;  // each SST refers to all files
      if (version == 0 || key % 2 == 0) {
        Write(key);
      }
    }
  }
  Compact();
  Close();
  Open();
  const uint64_t before = DiskBytes();
  ASSERT_GT(before, LiveBytes() * 145 / 100);
  std::atomic<bool> settled{false};
  std::thread settler([&] {
    Write(0);
    Flush();  // wakes the job, and waits for it
    EXPECT_OK(SettleBlobHybrid(db_.get()));
    settled = true;
  });
  uint64_t most = 0;
  while (!settled) {
    most = std::max(most, DiskBytes());
  }
  settler.join();
  printf("before %d KB, most %d KB\n", static_cast<int>(before >> 10),
         static_cast<int>(most >> 10));
  EXPECT_LT(most, before * 110 / 100);
  EXPECT_GT(Stats().moved_values, 0u);
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
  ASSERT_NO_FATAL_FAILURE(WriteAndClose());
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
    // A flush that ends tells listeners of stalls by the options of the family (SuperVersionContext::Clean), which it does not hold:
    // with any listener RocksDB may crash there if the family goes meanwhile.
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
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

// All values are medium: the log is what its budget allows, and the space is what its bound allows.
class LogTest : public SpaceTest, public testing::WithParamInterface<MergeLevel> {
 protected:
  LogTest() {
    options_.min_blob_size = 2000;
    options_.target_file_size_base = 64 << 10;
    options_.max_bytes_for_level_base = 128 << 10;
    // Sequence number and lengths, and its share of an SST's index and properties.
    overhead_ = 40;
    hybrid_.medium_value_size = 200;
    hybrid_.transient_log_budget = 0.2;
    hybrid_.merge_level = GetParam();
  }

  void ExpectLog(const char* where) {
    const double base = static_cast<double>(std::max(LiveBytes(), hybrid_.space_floor));
    // What is being flushed may add up to the bound.
    const double slack = 2.0 * static_cast<double>(options_.write_buffer_size);
    const double share = (static_cast<double>(Stats().medium_bytes) - slack) / base;
    worst_log_ = std::max(worst_log_, share);
    EXPECT_LE(share, hybrid_.transient_log_budget * kTolerance)
        << where << " after " << written_ << " writes\n"
        << Stats().ToString();
    ExpectBound(where);
  }

  void Overwrite(const std::function<int()>& key) {
    Load();
    for (int i = 0; i < 5 * kKeys; i++) {
      Write(key());
      if (i % 500 == 0) {
        ExpectLog("overwriting");
      }
    }
    Finish();
    ExpectLog("at the end");
    const BlobHybridStats stats = Stats();
    printf("worst log %.3f, merged: %d MB, jobs for the log: %d\n", worst_log_,
           static_cast<int>(stats.merged_bytes >> 20), static_cast<int>(stats.log_jobs));
    EXPECT_GT(stats.merged_values, 0u);
    EXPECT_EQ(0u, stats.not_separated);
    for (const auto& [i, version] : versions_) {
      EXPECT_EQ(ValueOf(i, version, kValue), Get(i));
    }
  }

  double worst_log_ = 0;
};

TEST_P(LogTest, UniformOverwrites) {
  Overwrite([this] { return static_cast<int>(random_.Uniform(kKeys)); });
}

TEST_P(LogTest, SkewedOverwrites) {
  Overwrite([this] {
    const double u = static_cast<double>(random_.Uniform(1 << 20)) / (1 << 20);
    return static_cast<int>(kKeys * u * u * u * u);
  });
}

// RocksDB moves most files of keys that come in order, up to the merge level and beyond.
TEST_P(LogTest, KeysInOrder) {
  int next = 0;
  Overwrite([&next] { return kKeys + next++; });
}

// Closing while the job merges, and flushes wait for it.
TEST_P(LogTest, CloseAtAnyTime) {
  hybrid_.transient_log_budget = 0.05;
  hybrid_.space_floor = 1;
  ASSERT_NO_FATAL_FAILURE(WriteAndClose());
  for (const auto& [i, version] : versions_) {
    EXPECT_EQ(ValueOf(i, version, kValue), Get(i));
  }
}

INSTANTIATE_TEST_CASE_P(Levels, LogTest,
                        testing::Values(MergeLevel::kLast, MergeLevel::kLastButOne));

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
