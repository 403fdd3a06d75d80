// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The bound of space holds while keys are overwritten and deleted, and answers are right.
// ROCKTIER_SEED: another seed.

#include "test/blob_hybrid/space.h"

#include <atomic>
#include <thread>

#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

TEST_F(SpaceTest, UniformOverwrites) {
  Load();
  Overwrite(10 * kKeys, [this] { return Uniform(); });
  Finish();
}

TEST_F(SpaceTest, SkewedOverwrites) {
  Load();
  Overwrite(10 * kKeys, [this] { return Skewed(); });
  Finish();
}

// Hot keys in a small range, so that no compaction touches the rest.
TEST_F(SpaceTest, ColdGarbageIsFound) {
  Load();
  for (int i = 0; i < kKeys; i += 2) {
    Write(i);
  }
  Overwrite(5 * kKeys, [this] { return static_cast<int>(random_.Uniform(100)); });
  Finish();
  EXPECT_GT(Stats().jobs, 0u);
}

TEST_F(SpaceTest, DeletionOfEverything) { LoadAndDeleteAll(); }

TEST_F(SpaceTest, RangeDeletionOfNearlyEverything) {
  Load();
  ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(100), KeyOf(kKeys)));
  for (int i = 100; i < kKeys; i++) {
    Forget(i);
  }
  Flush();
  Finish();
  EXPECT_LT(DiskBytes(), hybrid_.space_floor * 3 / 2);
}

TEST_F(SpaceTest, Churn) {
  Open();
  WriteAndExpire(5 * kKeys);
  Finish();
}

#ifndef NDEBUG
// A compaction ends when the job has looked and has not surveyed: there is nothing left to do, and
// nothing is missed.
TEST_F(SpaceTest, FilesChangeAfterTheLook) {
  auto* points = SyncPoint::GetInstance();
  points->SetCallBack("GcJob::Step:Looked",
                      [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
  Open();
  WriteAndExpire(5 * kKeys);
  points->ClearCallBack("GcJob::Step:Looked");
  Finish();
}
#endif

// What was written without the plugin is put in order when the family is next written to.
TEST_F(SpaceTest, GarbageOfEarlierTimes) {
  OpenWithoutPlugin();
  for (int i = 0; i < 4 * kKeys; i++) {
    Write(Uniform());
  }
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  Close();
  Open();
  Write(0);
  Flush();
  Finish();
}

// Values that move are there twice until their file is gone. All files have the same garbage here,
// and the job must not move the values of all of them before the first one is gone.
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

// What DeleteFilesInRange() leaves in blob files RocksDB does not count as garbage: it frees such a
// file only when no SST refers to an older one any more.
class DeletedFilesTest : public SpaceTest {
 protected:
  DeletedFilesTest() {
    options_.target_file_size_base = 4 << 10;  // many SSTs
    options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1 << 10;
    hybrid_.space_floor = 1;
  }

  // All keys are in the last level. `step`: from one that is written to the next.
  void LoadAll(int step) {
    Open();
    for (int i = 0; i < kKeys; i++) {
      Write(static_cast<int>(int64_t{i} * step % kKeys));
    }
    Flush();
    Compact();
    Settle();
  }

  // Deletes the SSTs of half of the keys: one that has others too, some hundred, stays.
  void DeleteFiles() {
    const std::string from = KeyOf(kKeys * 2 / 5);
    const Slice begin(from);
    ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin, nullptr));
    for (int i = 0; i < kKeys; i++) {
      if (Get(i) == "none") {
        Forget(i);
      }
    }
    ASSERT_LT(live_.size(), kKeys * 11 / 20);
    ASSERT_GT(DiskBytes(), LiveBytes() * 17 / 10);
  }

  // The job finds it when it is woken. Returns the most space that is taken until it has settled.
  uint64_t Collect() {
    std::atomic<bool> settled{false};
    std::thread settler([&] {
      Write(0);
      Flush();
      EXPECT_OK(SettleBlobHybrid(db_.get()));
      settled = true;
    });
    uint64_t most = 0;
    while (!settled) {
      most = std::max(most, DiskBytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    settler.join();
    return most;
  }

  void ExpectFreed() {
    EXPECT_LT(DiskBytes(), LiveBytes() * 3 / 2);
    ExpectAnswers();
  }
};

// Nothing refers to the newer half of the files, and nothing in the older half is garbage.
TEST_F(DeletedFilesTest, YoungFilesAreFreed) {
  LoadAll(1);
  DeleteFiles();
  Collect();
  ExpectFreed();
}

// All files have the same garbage. None is freed before the oldest one.
TEST_F(DeletedFilesTest, ValuesAreNotThereTwiceForLong) {
  LoadAll(7919);
  DeleteFiles();
  const uint64_t before = DiskBytes();
  const uint64_t most = Collect();
  printf("before %d KB, most %d KB\n", static_cast<int>(before >> 10),
         static_cast<int>(most >> 10));
  EXPECT_LT(most, before * 105 / 100);
  ExpectFreed();
}

// As docs/troubleshoot.md says.
TEST_F(DeletedFilesTest, AForcedCollectionFreesThemWithoutTheJob) {
  hybrid_.max_space_amplification = 0;
  LoadAll(1);
  DeleteFiles();
  CompactRangeOptions range;
  range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  range.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  range.blob_garbage_collection_age_cutoff = 1;
  ASSERT_OK(db_->CompactRange(range, nullptr, nullptr));
  ExpectFreed();
}

// A snapshot keeps what it sees; the space comes back when it is gone.
// What SSTs have besides is not the user's, but for a tenth where records are small.
TEST_F(SpaceTest, KeysAndValuesOfSstsAreData) {
  options_.compression = kNoCompression;
  hybrid_.space_floor = 0;
  for (const size_t bytes : {150, 0}) {
    Open();
    for (int i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), std::string(bytes, 'v')));
    }
    Compact();
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    ASSERT_TRUE(meta.blob_files.empty());
    const size_t records = kKeys * (KeyOf(0).size() + bytes);
    EXPECT_EQ(bytes == 0 ? 111 : 100 * meta.size / records, Stats().space_amplification_percent);
    EXPECT_GT(meta.size, records);
    Close();
  }
}

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
    Write(Uniform());
  }
  Flush();
  Settle();
  ExpectBound("after the snapshot");
  ExpectAnswers();
}

// Closing while the job is at work, and flushes wait for it.
TEST_F(SpaceTest, CloseAtAnyTime) {
  hybrid_.max_space_amplification = 1.1;
  hybrid_.space_floor = 1;
  ASSERT_NO_FATAL_FAILURE(WriteAndClose());
  ExpectAnswers();
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
    const int writes = Uniform();
    for (int i = 0; i < writes; i++) {
      const int key = static_cast<int>(random_.Uniform(200));
      ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(key), ValueOf(key, i, kValue)));
      Write(key);
    }
    ASSERT_OK(db_->DropColumnFamily(family));
    // A flush that ends tells listeners of stalls by the options of the family
    // (SuperVersionContext::Clean), which it does not hold: with any listener RocksDB may crash
    // there if the family goes meanwhile.
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
  ExpectAnswers();
}

// When the job may not compact, writers go on, and it is counted; afterwards the bound is kept
// again.
TEST_F(SpaceTest, WritersGoOnWithoutTheJob) {
  Load();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  db_->DisableManualCompaction();
  for (int i = 0; i < 4 * kKeys; i++) {
    Write(Uniform());
  }
  Flush();
  EXPECT_GT(Stats().bound_missed, 0u);
  db_->EnableManualCompaction();
  for (int i = 0; i < kKeys; i++) {
    Write(Uniform());
  }
  Flush();
  Settle();
  ExpectBound("with the job again");
  ExpectAnswers();
}

class LogTest : public SpaceTest, public testing::WithParamInterface<MergeLevel> {
 protected:
  LogTest() { UseLog(GetParam()); }

  void LoadAndOverwrite(const std::function<int()>& key) {
    Load();
    Overwrite(5 * kKeys, key);
    Finish();
    EXPECT_GT(Stats().merged_values, 0u);
  }
};

TEST_P(LogTest, UniformOverwrites) {
  LoadAndOverwrite([this] { return Uniform(); });
}

TEST_P(LogTest, SkewedOverwrites) {
  LoadAndOverwrite([this] { return Skewed(); });
}

// RocksDB moves most files of keys that come in order, up to the merge level and beyond.
TEST_P(LogTest, KeysInOrder) {
  int next = 0;
  LoadAndOverwrite([&next] { return kKeys + next++; });
}

TEST_P(LogTest, DeletionOfEverything) { LoadAndDeleteAll(); }

TEST_P(LogTest, Churn) {
  Open();
  WriteAndExpire(5 * kKeys);
  Finish();
  EXPECT_GT(Stats().merged_values, 0u);
}

// Closing while the job merges, and flushes wait for it.
TEST_P(LogTest, CloseAtAnyTime) {
  hybrid_.transient_log_budget = 0.05;
  hybrid_.space_floor = 1;
  ASSERT_NO_FATAL_FAILURE(WriteAndClose());
  ExpectAnswers();
}

INSTANTIATE_TEST_CASE_P(Levels, LogTest,
                        testing::Values(MergeLevel::kLast, MergeLevel::kLastButOne));

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
