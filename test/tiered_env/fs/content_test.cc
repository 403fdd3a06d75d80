// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Logs, MANIFESTs, OPTIONS and blob files in tiers.

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "plugin/tiered_env/files/names.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/transaction_log.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class TieredContentTest : public TieredTest {
 protected:
  // Opens a database that keeps its old logs, and has some. With these options.
  Options FillArchive() {
    Options options = DbOptions();
    options.WAL_ttl_seconds = 1000;
    Open(options);
    if (!HasFailure()) {
      Fill(20000);
      Settle();
    }
    return options;
  }
  // After what is under way in the background: it may delete what it made obsolete.
  void ExpectAll(const std::string& end, const std::string& tier, size_t at_least = 1) const {
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    const std::vector<std::string> files = FilesOf(end);
    EXPECT_GE(files.size(), at_least);
    for (const std::string& base : files) {
      EXPECT_EQ(TierOf(base), tier) << base;
    }
  }
  std::vector<std::string> WithPrefix(const std::string& prefix) const {
    std::vector<std::string> result;
    for (const std::string& base : FilesOf("")) {
      if (base.compare(0, prefix.size(), prefix) == 0) {
        result.push_back(base);
      }
    }
    return result;
  }
};

TEST_F(TieredContentTest, Logs) {
  NewFs(Tiers(), "wal=fast");
  Open();
  Fill(5000);
  ExpectAll(".log", "fast");
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "a", "b"));
  model_["a"] = "b";
  for (int i = 0; i < 5; i++) {
    Fill(300);
    Open();
    ExpectAll(".log", "fast");
    Verify();
  }
  EXPECT_EQ(FilesIn("fast"), FilesOf(".log").size());
}

// Also when nobody has asked anything of it yet.
TEST_F(TieredContentTest, FilesAreThereFromTheBeginning) {
  NewFs(Tiers(), "wal=fast;meta=slow;blob=slow");
  Open();
  for (const char* base : {"/000900.log", "/MANIFEST-000901", "/000902.blob"}) {
    std::unique_ptr<FSWritableFile> file;
    ASSERT_OK(fs_->NewWritableFile(db_name_ + base, FileOptions(), &file, nullptr));
    uint64_t size = 1;
    EXPECT_OK(fs_->GetFileSize(db_name_ + base, IOOptions(), &size, nullptr));
    EXPECT_EQ(size, 0u);
    ASSERT_OK(file->Close(IOOptions(), nullptr));
    file.reset();
    EXPECT_OK(fs_->DeleteFile(db_name_ + base, IOOptions(), nullptr));
  }
}

// RocksDB says how much room it will want when it has the file.
TEST_F(TieredContentTest, RoomIsAllocatedAsWithoutTiers) {
  NewFs(Tiers(), "wal=fast;meta=slow");
  Open();
  const auto blocks = [](FileSystem* fs, const std::string& path) {
    std::unique_ptr<FSWritableFile> file;
    EXPECT_OK(fs->NewWritableFile(path, FileOptions(), &file, nullptr));
    file->SetPreallocationBlockSize(1 << 20);
    file->PrepareWrite(0, 100, IOOptions(), nullptr);
    EXPECT_OK(file->Append(std::string(100, 'x'), IOOptions(), nullptr));
    uint64_t result = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(DirectoryOf(path) + "/..")) {
      struct stat is;
      const std::string name = entry.path().filename().string();
      if (name.rfind(BaseOf(path), 0) == 0 && stat(entry.path().c_str(), &is) == 0) {
        result = std::max(result, static_cast<uint64_t>(is.st_blocks));
      }
    }
    return result;
  };
  const uint64_t without = blocks(FileSystem::Default().get(), folder_ + "/db/000800.log");
  for (const char* base : {"/000900.log", "/MANIFEST-000901", "/000902.blob"}) {
    EXPECT_EQ(blocks(fs_.get(), db_name_ + base), without) << base;
  }
}

TEST_F(TieredContentTest, AFileThatIsRenamedToItself) {
  NewFs(Tiers(), "0..=fast;wal=slow");
  Open();
  Fill(1000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  for (const std::string& base : FilesOf("")) {
    const std::string path = db_name_ + "/" + base;
    if (std::filesystem::is_regular_file(path)) {
      EXPECT_OK(fs_->RenameFile(path, db_name_ + "//" + base, IOOptions(), nullptr));
    }
  }
  ExpectQuiet();
  Open();
  ExpectAll(".sst", "fast");
  Verify();
}

TEST_F(TieredContentTest, RecycledLogs) {
  NewFs(Tiers(), "wal=fast");
  Options options = DbOptions();
  options.recycle_log_file_num = 3;
  options.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  Open(options);
  for (int i = 0; i < 5; i++) {
    Fill(20000);
    ExpectAll(".log", "fast");
    Open(options);
    Verify();
  }
  // Those that were at home when the rule came.
  Reopen(Tiers(), "");
  Open(options);
  Fill(10000);
  NewFs(Tiers(), "wal=slow");
  Open(options);
  Fill(20000);
  Open(options);
  Verify();
}

TEST_F(TieredContentTest, ArchivedLogs) {
  NewFs(Tiers("budget=1G"), "wal=fast");
  Options options = FillArchive();
  ASSERT_FALSE(HasFailure());
  size_t archived = 0;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_ + "/archive")) {
    EXPECT_EQ(TierOf("archive/" + entry.path().filename().string()), "fast");
    archived++;
  }
  EXPECT_GT(archived, 3u);
  const auto count = [&] {
    std::unique_ptr<TransactionLogIterator> it;
    EXPECT_OK(db_->GetUpdatesSince(1, &it));
    SequenceNumber next = 1;
    for (; it->Valid(); it->Next()) {
      const BatchResult batch = it->GetBatch();
      EXPECT_EQ(batch.sequence, next);
      next += static_cast<SequenceNumber>(batch.writeBatchPtr->Count());
    }
    return next;
  };
  EXPECT_EQ(count(), 20001u);
  Open(options);
  EXPECT_EQ(count(), 20001u);
  EXPECT_EQ(StatsOf("fast").bytes, 0u);  // logs count for no budget
  Verify();
  Close();
  options.env = env_.get();
  EXPECT_OK(DestroyDB(db_name_, options));
  EXPECT_TRUE(std::filesystem::is_empty(TierPath("fast")));
}

// The power failed while they were archived, and has left both names. That in the archive goes, so
// that neither takes away what the other one needs.
TEST_F(TieredContentTest, LogsOfTwoNames) {
  NewFs(Tiers(), "wal=fast");
  Options options = FillArchive();
  ASSERT_FALSE(HasFailure());
  Close();
  std::vector<std::string> archived;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_ + "/archive")) {
    archived.push_back(entry.path().filename().string());
    std::filesystem::create_hard_link(entry.path(), db_name_ + "/" + archived.back());
  }
  ASSERT_GT(archived.size(), 3u);
  const auto contents = [&](const std::string& path) {
    std::string result;
    EXPECT_OK(ReadFileToString(env_.get(), db_name_ + path, &result));
    return result;
  };
  std::map<std::string, std::string> before;
  for (const std::string& name : archived) {
    before[name] = contents("/archive/" + name);
    EXPECT_NE(before[name], "");
  }
  Open(options);
  for (const std::string& name : archived) {
    EXPECT_FALSE(std::filesystem::exists(db_name_ + "/" + name)) << name;
    EXPECT_EQ(contents("/archive/" + name), before[name]) << name;
  }
  Verify();
}

// The power failed after they were archived, and before they were synced in their tier. If that is
// not there, they stay.
TEST_F(TieredContentTest, ArchivedLogsThatAreLost) {
  NewFs(Tiers(), "wal=fast");
  Options options = FillArchive();
  ASSERT_FALSE(HasFailure());
  const auto archived = [&] {
    return std::distance(std::filesystem::directory_iterator(db_name_ + "/archive"), {});
  };
  const auto count = archived();
  ASSERT_GT(count, 3);
  options.WAL_ttl_seconds = 0;
  Reopen(Tiers(), "");
  Open(options);
  Settle();
  Close();
  std::filesystem::rename(TierPath("fast"), TierPath("away"));
  NewFs(Tiers(), "");
  Open(options);
  EXPECT_EQ(archived(), count);
  Close();
  std::filesystem::rename(TierPath("away"), TierPath("fast"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath("fast"))) {
    if (entry.is_regular_file() && !IsOfFolder(entry)) {
      std::filesystem::remove(entry.path());
    }
  }
  NewFs(Tiers(), "");
  Open(options);
  EXPECT_EQ(archived(), 0);
  Verify();
}

// In a directory of their own they stay there.
TEST_F(TieredContentTest, WalDir) {
  NewFs(Tiers(), "wal=fast;0..=slow");
  Options options = DbOptions();
  options.wal_dir = folder_ + "/logs";
  Open(options);
  Fill(5000);
  Settle();
  EXPECT_EQ(FilesIn("fast"), 0u);
  EXPECT_GT(FilesIn("slow"), 0u);
  Fill(100);
  Open(options);
  Verify();
  Close();
  EXPECT_OK(DestroyDB(db_name_, options));
  EXPECT_EQ(FilesIn("slow"), 0u);
}

TEST_F(TieredContentTest, ManifestAndOptions) {
  NewFs(Tiers(), "meta=fast;0..1=fast;2..=slow");
  Options options = DbOptions();
  options.max_manifest_file_size = 2000;
  Open(options);
  Fill(20000);
  Settle();
  ASSERT_OK(db_->SetOptions({{"max_bytes_for_level_multiplier", "5"}}));
  for (const char* prefix : {"MANIFEST-", "OPTIONS-"}) {
    const std::vector<std::string> files = WithPrefix(prefix);
    EXPECT_GE(files.size(), 1u);
    for (const std::string& base : files) {
      EXPECT_EQ(TierOf(base), "fast") << base;
    }
  }
  ExpectUpperInFast();
  for (const char* base : {"CURRENT", "IDENTITY", "LOCK"}) {
    EXPECT_EQ(TierOf(base), "home");
  }
  for (int i = 0; i < 3; i++) {
    Open(options);
    ExpectQuiet();
    ExpectUpperInFast();
    Verify();
  }
  Reopen(Tiers(), "");
  Verify();
  Settle();
  Close();
  EXPECT_EQ(WithPrefix("MANIFEST-").size(), 1u);
  EXPECT_EQ(TierOf(WithPrefix("MANIFEST-")[0]), "home");
}

TEST_F(TieredContentTest, BlobFiles) {
  NewFs(Tiers(), "blob=slow;0..=fast");
  Options options = DbOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 50;
  options.enable_blob_garbage_collection = true;
  options.blob_garbage_collection_age_cutoff = 1;
  options.blob_garbage_collection_force_threshold = 0.3;
  options.blob_file_size = 256 << 10;
  Open(options);
  Fill(40000);
  ExpectQuiet();
  ExpectAll(".blob", "slow");
  Verify();
  const size_t blobs = FilesOf(".blob").size();
  EXPECT_EQ(FilesIn("slow"), blobs);  // those that are garbage are gone
  Reopen(Tiers(), "blob=fast;0..=slow");
  Open(options);
  ExpectQuiet();
  ExpectAll(".blob", "fast");
  ExpectAll(".sst", "slow");
  Verify();
}

TEST_F(TieredContentTest, Trash) {
  NewFs(Tiers(), "0..=fast;blob=slow");
  Options options = DbOptions();
  options.sst_file_manager.reset(
      NewSstFileManager(env_.get(), nullptr, "", /*rate_bytes_per_sec=*/100, true, nullptr,
                        /*max_trash_db_ratio=*/1000, /*bytes_max_delete_chunk=*/10000));
  Open(options);
  Fill(20000);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Settle();
  EXPECT_GT(FilesOf(".sst.trash").size(), 0u);
  for (const std::string& base : FilesOf(".sst.trash")) {
    EXPECT_EQ(TierOf(base), "fast");
  }
  const uint64_t with_trash = StatsOf("fast").bytes;
  EXPECT_GT(with_trash, BytesIn("slow"));
  Close();
  options.sst_file_manager.reset(NewSstFileManager(env_.get()));
  Open(options);
  EXPECT_EQ(FilesOf(".trash").size(), 0u);
  ExpectQuiet();
  EXPECT_EQ(FilesIn("fast"), FilesOf(".sst").size());
  Verify();
}

// A database in a subdirectory of another one is none of its business.
TEST_F(TieredContentTest, DatabaseInADatabase) {
  NewFs(Tiers("budget=1G"), "0..=fast");
  Open();
  Fill(5000);
  Settle();
  std::unique_ptr<DB> inner;
  ASSERT_OK(OpenDb(DbOptions(), db_name_ + "/inner", &inner));
  for (int i = 0; i < 5000; i++) {
    ASSERT_OK(inner->Put(WriteOptions(), std::to_string(i), std::string(100, 'v')));
  }
  ASSERT_OK(inner->Flush(FlushOptions()));
  std::ofstream(db_name_ + "/inner/000900.sst.tiers-tmp") << "being moved";
  Open();
  EXPECT_TRUE(std::filesystem::exists(db_name_ + "/inner/000900.sst.tiers-tmp"));
  std::string value;
  EXPECT_OK(inner->Get(ReadOptions(), "4999", &value));
  inner.reset();
  ExpectQuiet();
  Verify();
  ASSERT_OK(OpenDb(DbOptions(), db_name_ + "/inner", &inner));
  EXPECT_OK(inner->Get(ReadOptions(), "4999", &value));
}

}  // namespace

}  // namespace rocktier
