// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory, with write-ahead logs or SSTs in other directories than the database's.

#include <atomic>
#include <filesystem>
#include <vector>

#include "plugin/tiered_env/files/names.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/volatile.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// RocksDB lists it too after OPTIONS were written, and newer ones are not opened if they cannot.
#if ROCKSDB_MAJOR < 11
constexpr bool kMayFailAfterOptions = true;
void ForgiveOptions(Options* options) { options->fail_if_options_file_error = false; }
#else
constexpr bool kMayFailAfterOptions = false;
void ForgiveOptions(Options* /*options*/) {}
#endif

// Does not list a directory of logs when that is asked after LOCK was taken, and after OPTIONS were
// written.
class UnlistedFs : public FileSystemWrapper {
 public:
  UnlistedFs() : FileSystemWrapper(FileSystem::Default()) {}
  static const char* kClassName() { return "UnlistedFs"; }
  const char* Name() const override { return kClassName(); }

  std::atomic<bool> fails{false};  // once
  std::atomic<int> failures{0};

  IOStatus GetChildren(const std::string& directory, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override {
    if (BaseOf(directory) == "logs" && fails.exchange(false)) {
      failures++;
      return IOStatus::IOError(directory, "cannot be listed");
    }
    return target_->GetChildren(directory, options, result, dbg);
  }
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override {
    fails = true;
    return target_->LockFile(path, options, lock, dbg);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    IOStatus s = target_->RenameFile(from, to, options, dbg);
    fails = fails || (kMayFailAfterOptions && BaseOf(to).compare(0, 8, "OPTIONS-") == 0);
    return s;
  }
};

class WalDirTest : public TieredTest {
 protected:
  void OpenMemory(uint64_t ttl_seconds) {
    NewFs(
        "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}",
        "0..=memory");
    Options options = DbOptions();
    options.wal_dir = folder_ + "/logs";
    options.WAL_ttl_seconds = ttl_seconds;
    Open(options);
  }
  VolatileStats Stats() const {
    TieredStats stats;
    EXPECT_OK(GetTieredStats(fs_.get(), &stats));
    return stats.in_memory;
  }
  void LoseMemory() { std::filesystem::remove_all(TierPath("memory")); }
  size_t RetainedAtHome() const {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      count += IsKept(base) && (EndsWith(base, ".log") || EndsWith(base, ".seg")) ? 1 : 0;
    }
    return count;
  }
  // Opens a database of which one column family has its SSTs elsewhere.
  void OpenWithCfPath(const std::string& more);

  ColumnFamilyHandle* elsewhere_ = nullptr;
};

void WalDirTest::OpenWithCfPath(const std::string& more) {
  const std::string path = folder_ + "/elsewhere";
  NewFs("memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}",
        "0..=memory", more + "db_paths=" + path);
  Options options = DbOptions();
  options.env = env_.get();
  options.create_missing_column_families = true;
  options.disable_auto_compactions = true;
  ColumnFamilyOptions beside(options);
  beside.cf_paths = {{path, 1 << 30}};
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(OpenInto(&db_, [&](auto* result) {
    return DB::Open(options, db_name_, {{kDefaultColumnFamilyName, options}, {"elsewhere", beside}},
                    &handles, result);
  }));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(handles[0]));
  elsewhere_ = handles[1];
}

// From the first log of the database on.
TEST_F(WalDirTest, LogsAreRetainedThere) {
  for (const uint64_t ttl_seconds : {0, 1000}) {
    SCOPED_TRACE(ttl_seconds);
    OpenMemory(ttl_seconds);
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_GT(Stats().references, 400u);
    EXPECT_TRUE(WaitFor([this] { return Stats().segments > 0; }));
    for (int round = 0; round < 2; round++) {
      Close();
      LoseMemory();
      OpenMemory(ttl_seconds);
      ASSERT_FALSE(HasFailure());
      EXPECT_GT(Stats().rebuilt_files, 0u);
      Verify();
      Fill(5000);
      Settle();
      // All may be at the bottom, and so without sequence numbers.
      ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "true"}}));
      Fill(500);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    Verify();
    Close();
    Options options = DbOptions();
    options.wal_dir = folder_ + "/logs";
    ASSERT_OK(DestroyDB(db_name_, options));
    std::error_code error;  // RocksDB leaves the directory there if it had an archive
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/logs", error) || error);
    EXPECT_FALSE(std::filesystem::exists(db_name_));
    EXPECT_EQ(FilesIn("memory"), 0u);
    model_.clear();
  }
}

// What the recipe log does not know is not retained: nobody would look for it there.
TEST_F(WalDirTest, ADirectoryThatCannotBeListedIsLeftAlone) {
  OpenMemory(0);
  Fill(100);
  Close();
  auto unlisted = std::make_shared<UnlistedFs>();
  target_ = unlisted;
  NewFs("memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}",
        "0..=memory");
  // As if it were there for the first time.
  for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
    if (IsKept(entry.path().filename().string())) {
      std::filesystem::remove(entry.path());
    }
  }
  Options options = DbOptions();
  options.wal_dir = folder_ + "/logs";
  ForgiveOptions(&options);
  Open(options);
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(unlisted->failures, kMayFailAfterOptions ? 2 : 1);
  for (int i = 0; i < 3; i++) {
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  Close();
  target_ = nullptr;
  LoseMemory();
  OpenMemory(0);
  ASSERT_FALSE(HasFailure());
  Verify();
}

// SSTs in a directory of cf_paths are not missing: what nothing needs goes as it does without them.
TEST_F(WalDirTest, FilesInCfPathsAreNotMissing) {
  const std::string persist = "on_close=persist;";
  for (int round = 0; round < 3; round++) {
    SCOPED_TRACE(round);
    OpenWithCfPath(persist);
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(RetainedAtHome(), 0u);
    Verify();
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->Put(WriteOptions(), elsewhere_, "key", "value"));
    ASSERT_OK(db_->Flush(FlushOptions(), elsewhere_));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(elsewhere_));
    EXPECT_FALSE(std::filesystem::is_empty(folder_ + "/elsewhere"));
    EXPECT_TRUE(WaitFor([this] { return Stats().segments > 0; }));
    Close();
    EXPECT_GT(RetainedAtHome(), 0u);  // nobody has deleted them when it is closed
  }
  // One that is missing there is, and nothing is deleted.
  std::filesystem::rename(folder_ + "/elsewhere", folder_ + "/away");
  NewFs("memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}",
        "0..=memory", "db_paths=" + folder_ + "/elsewhere");
  EXPECT_TRUE(RecoverTiers(fs_.get(), db_name_).IsCorruption());
  EXPECT_GT(RetainedAtHome(), 0u);
}

// RocksDB calls its own archives of logs so: what has the name need not be one.
class ArchiveNameTest : public VolatileTest {
 protected:
  void OpenWithWalDir(const std::string& wal_dir) {
    MountMemory();
    Options options = DbOptions();
    options.wal_dir = wal_dir;
    Open(options);
  }
  // Loses the tier again and again, with logs there.
  void LoseAll(const std::string& wal_dir) {
    for (int round = 0; round < 3; round++) {
      SCOPED_TRACE(round);
      LoseMemory();
      OpenWithWalDir(wal_dir);
      ASSERT_FALSE(HasFailure());
      Verify();
      Fill(500);
      ASSERT_OK(db_->Flush(FlushOptions()));
      EXPECT_GT(Stats().references, 400u);
      Close();
    }
  }
};

TEST_F(ArchiveNameTest, ADatabaseThatIsCalledSo) {
  db_name_ = folder_ + "/archive";
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Fill(3000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Settle();
  LoseAndVerify();
  Fill(500);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  LoseMemory();
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  Verify();
  Fill(500);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_TRUE(FilesOf("").empty());  // RepairDB has left a folder
  EXPECT_TRUE(Kept("").empty());
  EXPECT_EQ(FilesIn("memory") + FilesIn("slow"), 0u);
}

TEST_F(ArchiveNameTest, AWalDirThatIsCalledSo) {
  const std::string wal_dir = folder_ + "/archive";
  for (const bool linked : {false, true}) {
    SCOPED_TRACE(linked);
    if (linked) {
      std::filesystem::remove_all(wal_dir);
      std::filesystem::create_directory(folder_ + "/disk");
      std::filesystem::create_directory_symlink(folder_ + "/disk", wal_dir);
    }
    LoseAll(wal_dir);
    ASSERT_FALSE(HasFailure());
    Options options = DbOptions();
    options.wal_dir = wal_dir;
    ASSERT_OK(DestroyDB(db_name_, options));
    std::error_code error;
    EXPECT_TRUE(std::filesystem::is_empty(wal_dir, error) || error);
    EXPECT_FALSE(std::filesystem::exists(db_name_));
    model_.clear();
  }
}

TEST_F(ArchiveNameTest, AWalDirThatIsTheArchiveOfTheDatabase) { LoseAll(db_name_ + "/archive"); }

}  // namespace

}  // namespace rocktier
