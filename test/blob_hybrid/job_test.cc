// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The job and flushes that wait for it, where there is little or nothing that it can do.

#include "test/blob_hybrid/support.h"
#include "test/support/no_threads.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 500;

class JobTest : public HybridDb {
 protected:
  JobTest() {
    options_.disable_auto_compactions = false;
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.max_bytes_for_level_base = 32 << 10;
    options_.max_bytes_for_level_multiplier = 4;
    options_.blob_file_size = 128 << 10;
    hybrid_.max_space_amplification = 1.2;
    hybrid_.space_floor = 64 << 10;
  }

  // Values that are overwritten again and again: without the job above the bound soon.
  void Overwrite(ColumnFamilyHandle* family) {
    for (int version = 0; version < 10; version++) {
      for (int i = 0; i < kKeys; i++) {
        ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(i), ValueOf(i, version)));
      }
    }
    ASSERT_OK(db_->Flush(FlushOptions(), family));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(SettleBlobHybrid(db_.get()));
  }

  void ExpectValues(ColumnFamilyHandle* family) {
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), family, KeyOf(i), &value));
      EXPECT_EQ(ValueOf(i, 9), value);
    }
  }
};

TEST_F(JobTest, WorksHere) {
  Open();
  Overwrite(db_->DefaultColumnFamily());
  EXPECT_GT(Stats().jobs, 0u);
  ExpectValues(db_->DefaultColumnFamily());
}

// It begins with a later event. RocksDB has its threads already.
TEST_F(JobTest, BeginsWhenAThreadCanBeHad) {
  OpenWithoutPlugin();
  Put(0, 0);
  Flush();
  Compact();
  Close();
  Open();
  {
    const rocktier::NoThreads none;
    Put(0, 1);
    Flush();
    ASSERT_OK(SettleBlobHybrid(db_.get()));
  }
  Overwrite(db_->DefaultColumnFamily());
  EXPECT_GT(Stats().jobs, 0u);
  ExpectValues(db_->DefaultColumnFamily());
}

// Stops the job when a flush has ended.
class Stopper : public EventListener {
 public:
  void OnFlushCompleted(DB* db, const FlushJobInfo& /*info*/) override {
    db->DisableManualCompaction();
  }
};

// A flush waits for as much as it may add itself, not for all that was there before.
TEST_F(JobTest, WritersGoOnWhileMuchIsCollected) {
  const FlushPatience patience(std::chrono::seconds(120));
  const int keys = 4 * kKeys;
  options_.target_file_size_base = 4 << 10;  // many jobs
  OpenWithoutPlugin();
  Fill(0, keys, 0);
  Flush();
  Fill(0, keys, 1, 2);
  Flush();
  Compact();
  Close();
  options_.listeners = {std::make_shared<Stopper>()};
  Open();
  Put(0, 1);
  Flush();
  const BlobHybridStats stats = Stats();
  EXPECT_EQ(1u, stats.flush_waits);
  EXPECT_EQ(0u, stats.bound_missed);
  EXPECT_GT(stats.jobs, 0u);
  EXPECT_GT(stats.space_amplification_percent, 120u);
  db_->EnableManualCompaction();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_LE(Stats().space_amplification_percent, 120u);
  for (int i = 0; i < keys; i++) {
    ASSERT_EQ(ValueOf(i, i % 2 == 0 ? 1 : 0), Get(i));
  }
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
