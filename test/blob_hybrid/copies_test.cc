// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Copies of a database, files that come from others, databases of one path in two Envs, and a
// database that leaves the plugin: with values in blob files that have been moved, or merged, and
// while they are. All open with and without the plugin.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "rocksdb/sst_file_writer.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/blob_hybrid/support.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

constexpr int kKeys = 500;
constexpr int kCopies = 4;

// The parameter: whether values are medium, else they are large.
class CopiesTest : public HybridDb, public testing::WithParamInterface<bool> {
 protected:
  CopiesTest() {
    if (GetParam()) {
      UseMedium();
    }
    options_.write_buffer_size = 64 << 10;
    options_.blob_file_size = 64 << 10;
    options_.target_file_size_base = 8 << 10;
    hybrid_.gc_garbage_ratio = 0.1;
  }

  // Every second key has version 1, and its first value was collected.
  void MakeAndCollect() {
    Fill(0, kKeys, 0);
    Flush();
    Fill(0, kKeys, 1, 2);
    Flush();
    Compact();
    Compact();
    EXPECT_GT(Moved(Stats()), 0u);
  }

  // Values that were moved or merged.
  uint64_t Moved(const BlobHybridStats& stats) const {
    EXPECT_EQ(0u, GetParam() ? stats.moved_values : stats.merged_values);
    return GetParam() ? stats.merged_values : stats.moved_values;
  }

  static void ExpectValues(DB* db) {
    ASSERT_OK(db->VerifyChecksum());
    int found = 0;
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next(), found++) {
      ASSERT_EQ(KeyOf(found), it->key().ToString());
      ASSERT_EQ(ValueOf(found, found % 2 == 0 ? 1 : 0), it->value().ToString());
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(kKeys, found);
  }

  // A copy, first as any RocksDB would open it, then with the plugin, where it can be written to
  // and collected.
  void ExpectCopy(const std::string& path) {
    std::unique_ptr<DB> copy;
    ASSERT_OK(OpenDb(options_, path, &copy));
    ExpectValues(copy.get());
    copy.reset();
    Options options = options_;
    BlobHybridOptions hybrid = hybrid_;
    ASSERT_OK(UseBlobHybrid(hybrid, &options, &options));
    ASSERT_OK(OpenDb(options, path, &copy));
    ExpectValues(copy.get());
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < kKeys; i += 3) {
        ASSERT_OK(copy->Put(WriteOptions(), KeyOf(i), ValueOf(i, i % 2 == 0 ? 1 : 0)));
      }
      CompactRangeOptions all;
      all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      ASSERT_OK(copy->CompactRange(all, nullptr, nullptr));
    }
    BlobHybridStats stats;
    ASSERT_OK(GetBlobHybridStats(copy.get(), copy->DefaultColumnFamily(), &stats));
    EXPECT_GT(Moved(stats), 0u);
    ExpectValues(copy.get());
  }
};

TEST_P(CopiesTest, Checkpoint) {
  Open();
  MakeAndCollect();
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(root_ + "/copy"));
  ExpectCopy(root_ + "/copy");
}

TEST_P(CopiesTest, Backup) {
  Open();
  MakeAndCollect();
  BackupEngine* raw = nullptr;
  ASSERT_OK(BackupEngine::Open(Env::Default(), BackupEngineOptions(root_ + "/backup"), &raw));
  const std::unique_ptr<BackupEngine> engine(raw);
  ASSERT_OK(engine->CreateNewBackup(db_.get()));
  // Another one, of which most files are shared.
  Put(0, 1);
  ASSERT_OK(engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/true));
  ASSERT_OK(engine->VerifyBackup(1, /*verify_with_checksum=*/true));
  ASSERT_OK(engine->VerifyBackup(2, /*verify_with_checksum=*/true));
  for (const BackupID id : {1u, 2u}) {
    const std::string path = root_ + "/restored" + std::to_string(id);
    ASSERT_OK(engine->RestoreDBFromBackup(id, path, path));
    ExpectCopy(path);
  }
}

// Backups and checkpoints while values move and blob files vanish.
TEST_P(CopiesTest, CopiesWhileValuesMove) {
  options_.disable_auto_compactions = false;
  hybrid_.max_space_amplification = GetParam() ? 0 : 1.2;
  hybrid_.transient_log_budget = 0.1;
  hybrid_.space_floor = 1;
  hybrid_.gc_bytes_per_second = 0;
  Open();
  MakeAndCollect();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    // Each blob file has a few values that stay when the others have been overwritten.
    for (int n = 0; !stop; n++) {
      const int i = n % 8 == 0 ? n / 8 % kKeys : n * 7 % (kKeys / 5);
      EXPECT_OK(db_->Put(WriteOptions(), KeyOf(i), ValueOf(i, i % 2 == 0 ? 1 : 0)));
    }
  });
  BackupEngine* raw_engine = nullptr;
  ASSERT_OK(
      BackupEngine::Open(Env::Default(), BackupEngineOptions(root_ + "/backup"), &raw_engine));
  const std::unique_ptr<BackupEngine> engine(raw_engine);
  for (int round = 0; round < kCopies; round++) {
    const uint64_t moved = Moved(Stats());
    while (Moved(Stats()) < moved + kKeys / 5) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const std::string path = root_ + "/copy" + std::to_string(round);
    Checkpoint* raw = nullptr;
    EXPECT_OK(Checkpoint::Create(db_.get(), &raw));
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    EXPECT_OK(checkpoint->CreateCheckpoint(path));
    EXPECT_OK(engine->CreateNewBackup(db_.get()));
  }
  stop = true;
  writer.join();
  options_.disable_auto_compactions = true;
  hybrid_.max_space_amplification = 0;
  for (int round = 0; round < kCopies; round++) {
    ExpectCopy(root_ + "/copy" + std::to_string(round));
    const std::string path = root_ + "/restored" + std::to_string(round);
    ASSERT_OK(engine->RestoreDBFromBackup(static_cast<BackupID>(round + 1), path, path));
    ExpectCopy(path);
  }
}

// Values of SSTs that are ingested are in place, until they are compacted: then they are separated
// as others are, and collected.
TEST_P(CopiesTest, Ingestion) {
  Open();
  MakeAndCollect();
  for (const int version : {2, 3}) {
    SstFileWriter writer(EnvOptions(), options_);
    const std::string file = root_ + "/" + std::to_string(version) + ".sst";
    ASSERT_OK(writer.Open(file));
    for (int i = 0; i < kKeys; i += version) {
      ASSERT_OK(writer.Put(KeyOf(i), ValueOf(i, version)));
    }
    ASSERT_OK(writer.Finish());
    ASSERT_OK(db_->IngestExternalFile({file}, IngestExternalFileOptions()));
  }
  const auto expect = [&] {
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i, i % 3 == 0 ? 3 : i % 2 == 0 ? 2 : 0), Get(i)) << i;
    }
  };
  expect();
  Compact();
  expect();
  Compact();
  expect();
  EXPECT_EQ(0u, Stats().large_garbage_bytes);
  EXPECT_EQ(0u, Stats().read_errors);
  EXPECT_GT(GetParam() ? Stats().small_bytes : Stats().large_live_bytes, kKeys * 1000u);
  Close();
  OpenWithoutPlugin();
  expect();
}

// A database that has used the plugin, and has garbage, or values in the log.
class LeavingTest : public CopiesTest {
 protected:
  // Closes it.
  void MakeAndLeave() {
    Open();
    MakeAndCollect();
    Fill(0, kKeys, 2, 3);
    Flush();
    EXPECT_FALSE(BlobFiles().empty());
    EXPECT_EQ(GetParam(), Stats().medium_bytes > 0);
    Close();
  }

  // Of every third key the second version; the last one of every fifth, if it was written.
  void ExpectLeft(int last = 0) {
    for (int i = 0; i < kKeys; i++) {
      const int version = last > 0 && i % 5 == 0 ? last : i % 3 == 0 ? 2 : i % 2 == 0 ? 1 : 0;
      ASSERT_EQ(ValueOf(i, version), Get(i)) << i;
    }
    ASSERT_OK(db_->VerifyChecksum());
  }

  int FilesWith(const std::string& suffix) {
    std::vector<std::string> files;
    EXPECT_OK(Env::Default()->GetChildren(path_, &files));
    return static_cast<int>(std::count_if(files.begin(), files.end(), [&](const auto& file) {
      return Slice(file).ends_with(suffix);
    }));
  }
};

// RocksDB collects by age what the plugin has left.
TEST_P(LeavingTest, CollectedByAge) {
  MakeAndLeave();
  options_.enable_blob_garbage_collection = true;
  options_.blob_garbage_collection_age_cutoff = 1;
  OpenWithoutPlugin();
  const auto before = BlobFiles();
  ExpectLeft();
  Fill(0, kKeys, 3, 5);
  Flush();
  ExpectLeft(3);
  Compact();
  ExpectLeft(3);
  const auto after = BlobFiles();
  for (const uint64_t file : before) {
    EXPECT_EQ(0u, after.count(file)) << file;
  }
  EXPECT_EQ(GetParam(), after.empty());
  Close();
  OpenWithoutPlugin();
  ExpectLeft(3);
}

// How to get rid of blob files, as the README tells, and back.
TEST_P(LeavingTest, WithoutBlobFiles) {
  MakeAndLeave();
  Options plain = options_;
  plain.enable_blob_files = false;
  plain.enable_blob_garbage_collection = true;
  plain.blob_garbage_collection_age_cutoff = 1;
  ASSERT_OK(OpenDb(plain, path_, &db_));
  EXPECT_GT(FilesWith(".blob"), 0);
  Compact();
  EXPECT_TRUE(BlobFiles().empty());
  ExpectLeft();
  Close();
  EXPECT_EQ(0, FilesWith(".blob"));
  ASSERT_OK(OpenDb(plain, path_, &db_));
  ExpectLeft();
  Close();

  Open();
  ExpectLeft();
  Fill(0, kKeys, 3, 5);
  Flush();
  EXPECT_FALSE(BlobFiles().empty());
  Compact();
  Compact();
  ExpectLeft(3);
  EXPECT_EQ(GetParam(), BlobFiles().empty());
}

// Where there are no blob files there is no job.
class LargeCopiesTest : public CopiesTest {};

// Ingestion wakes the job: what the new SSTs overwrite is garbage.
TEST_P(LargeCopiesTest, IngestionOverEverything) {
  LeaveToTheJob();
  hybrid_.max_space_amplification = 1.5;
  hybrid_.space_floor = 1;
  Open();
  MakeAndCollect();
  const uint64_t before = Stats().large_live_bytes;
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(root_ + "/deletions.sst"));
  for (int i = 0; i < kKeys; i++) {
    if (i % 10 != 0) {
      ASSERT_OK(writer.Delete(KeyOf(i)));
    }
  }
  ASSERT_OK(writer.Finish());
  ASSERT_OK(db_->IngestExternalFile({root_ + "/deletions.sst"}, IngestExternalFileOptions()));
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  EXPECT_LT(Stats().blob_file_bytes, before / 5);
  for (int i = 0; i < kKeys; i++) {
    ASSERT_EQ(i % 10 == 0 ? ValueOf(i, i % 2 == 0 ? 1 : 0) : "none", Get(i)) << i;
  }
}

// Two databases of one path, each in an Env of its own.
class EnvsTest : public HybridDb {
 protected:
  EnvsTest() : memory_(NewMemEnv(Env::Default())) { hybrid_.gc_garbage_ratio = 0.1; }
  ~EnvsTest() override { Close(); }

  void OpenIn(Env* env) {
    options_.env = env;
    Open();
  }

  // Every second key has the next version, and its first value is known to be garbage.
  void MakeGarbage(int version) {
    Fill(0, kKeys, version);
    Flush();
    Fill(0, kKeys, version + 1, 2);
    Flush();
    Compact();
    EXPECT_EQ(0u, Stats().moved_values);
  }

  // RocksDB tells no listener of it.
  void CompactAllFiles() {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::vector<std::string> names;
    for (const SstFileMetaData& file : meta.levels.back().files) {
      names.push_back(file.name);
    }
    ASSERT_OK(db_->CompactFiles(CompactionOptions(), names, meta.levels.back().level));
  }

  void ExpectValues(int version) {
    for (int i = 0; i < kKeys; i++) {
      ASSERT_EQ(ValueOf(i, version + (i % 2 == 0 ? 1 : 0)), Get(i)) << i;
    }
  }

  const std::unique_ptr<Env> memory_;
};

// Both have the same keys, sizes and numbers of files, so that references to one are good in the
// other.
TEST_F(EnvsTest, ValuesAreOfTheDatabaseThatIsCompacted) {
  OpenIn(memory_.get());
  MakeGarbage(2);
  const std::set<uint64_t> blobs = BlobFiles();
  Close();
  OpenIn(Env::Default());
  MakeGarbage(0);
  ASSERT_EQ(blobs, BlobFiles());
  std::unique_ptr<DB> other = std::move(db_);
  OpenIn(memory_.get());  // no event has told of it yet
  CompactAllFiles();
  ExpectValues(2);
  Compact();
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  ExpectValues(2);
  db_ = std::move(other);
  CompactAllFiles();
  EXPECT_EQ(kKeys / 2u, Stats().moved_values);
  ExpectValues(0);
}

INSTANTIATE_TEST_CASE_P(Medium, CopiesTest, testing::Bool());
INSTANTIATE_TEST_CASE_P(Medium, LeavingTest, testing::Bool());
INSTANTIATE_TEST_CASE_P(Large, LargeCopiesTest, testing::Values(false));

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
