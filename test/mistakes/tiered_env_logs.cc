// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Write-ahead logs in a tier. RocksDB does not know which there were: one whose stub is lost would
// not be missed.

#include <atomic>
#include <vector>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/stub.h"
#include "test/mistakes/tiered_env_durable.h"
#include "test/tiered_env/support/hooks.h"
#include "test_util/sync_point.h"
#include "utilities/merge_operators.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class LogMistakes : public DurableMistakes {
 protected:
  static constexpr char kLogs[] = "0..1=fast;2..=slow;wal=fast";

  void OpenLogs(size_t recycled = 0) {
    NewFs(Tiers(), kLogs);
    Options options = DbOptions();
    options.recycle_log_file_num = recycled;
    Open(options);
  }
  void FillSynced(int count) {
    WriteOptions synced;
    synced.sync = true;
    for (int i = 0; i < count; i++) {
      const std::string key = "synced " + std::to_string(random_());
      ASSERT_OK(db_->Put(synced, key, "value"));
      model_[key] = "value";
    }
  }
  // A database that is closed: of its log the merge operands are in no SST. `options`: to open it.
  void LeaveMergesInLog(Options* options, std::string* base) {
    NewFs(Tiers(), kLogs);
    *options = DbOptions();
    options->merge_operator = MergeOperators::CreateStringAppendOperator();
    Open(*options);
    ASSERT_FALSE(HasFailure());
    FillSynced(100);
    ASSERT_OK(db_->Flush(FlushOptions()));
    WriteOptions synced;
    synced.sync = true;
    for (const char* operand : {"a", "b"}) {
      ASSERT_OK(db_->Merge(synced, "merged", operand));
    }
    model_["merged"] = "a,b";
    *base = Newest();
    Close();
    NewFs(Tiers(), kLogs);
    options->env = env_.get();
  }
  // Of the log that was begun last.
  std::string Newest() const {
    std::vector<std::string> logs = FilesOf(".log");
    std::sort(logs.begin(), logs.end());
    return logs.empty() ? "" : logs.back();
  }
  std::string PathOf(const std::string& base) const {
    Stub stub;
    EXPECT_OK(Stub::Decode(ReadFile(db_name_ + "/" + base), base, &stub));
    return TierPath(stub.tier) + "/" + stub.path;
  }
  // The database is not opened, and no tool works on it, until the stub is written anew.
  void ExpectKept(const std::string& base, const std::string& path) {
    const std::string bytes = ReadFile(path);
    for (int i = 0; i < 2; i++) {
      const Status s = TryOpen(Tiers(), kLogs);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      for (const std::string& text : {base, path, std::string("check --repair")}) {
        EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
      }
      Close();
    }
    uint64_t files = 0;
    uint64_t size = 0;
    for (const Status& s : {PurgeTiers(fs_.get(), db_name_, &files, &size),
                            DrainTier(fs_.get(), db_name_, "fast", &files),
                            EvacuateTiers(fs_.get(), db_name_, &files)}) {
      EXPECT_NE(s.ToString().find(base), std::string::npos) << s.ToString();
    }
    EXPECT_EQ(RepairDB(db_name_, DbOptions()).code(), Status::kCorruption);
    EXPECT_TRUE(ReadFile(path) == bytes);
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
    ASSERT_EQ(check.problems.size(), 1u);
    EXPECT_TRUE(check.problems[0].repaired) << check.problems[0].what;
    ExpectWhole(Tiers(), kLogs);
  }
};

TEST_F(LogMistakes, AStubOfALiveLogIsLost) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  Fill(5000);
  Settle();
  FillSynced(1000);
  Close();
  const std::string base = Newest();
  const std::string path = PathOf(base);
  fs::remove(db_name_ + "/" + base);
  ExpectKept(base, path);
}

// It is no empty log of RocksDB's.
TEST_F(LogMistakes, AStubOfALiveLogLosesItsBytes) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  Fill(5000);
  Settle();
  FillSynced(1000);
  Close();
  const std::string base = Newest();
  const std::string path = PathOf(base);
  WriteFile(db_name_ + "/" + base, "");
  ExpectKept(base, path);
}

TEST_F(LogMistakes, AStubOfARecycledLogIsLost) {
  OpenLogs(/*recycled=*/2);
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 5; i++) {
    FillSynced(100);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  FillSynced(100);
  Close();
  const std::string base = Newest();
  const std::string path = PathOf(base);
  fs::remove(db_name_ + "/" + base);
  const std::string bytes = ReadFile(path);
  ExpectKept(base, path);
  // A crash before the stub of the log that it was to become.
  WriteFile(FolderIn("fast") + "/000999.log.0123456789abcdef", bytes);
  ExpectWhole(Tiers(), kLogs);
}

// Nothing was written to it: an opening is as it was.
TEST_F(LogMistakes, AnEmptyLogIsOfACrash) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  FillSynced(100);
  Close();
  WriteFile(FolderIn("fast") + "/000999.log.0123456789abcdef", "");
  ExpectWhole(Tiers(), kLogs);
  // When its stub was made, and not written; with the file, and without it.
  WriteFile(db_name_ + "/001999.log", "");
  ExpectWhole(Tiers(), kLogs);
  WriteFile(FolderIn("fast") + "/002999.log.0123456789abcdef", "");
  WriteFile(db_name_ + "/002999.log", "");
  ExpectWhole(Tiers(), kLogs);
}

// Nobody reads the MANIFEST along without the mover. A kill in the middle must not leave a stub
// without its file.
TEST_F(LogMistakes, AnObsoleteLogLosesItsStubFirst) {
  NewFs(Tiers(), kLogs, "mover=false");
  Open();
  ASSERT_FALSE(HasFailure());
  FillSynced(100);
  const std::string base = Newest();
  const std::string path = PathOf(base);
  std::atomic<int> deleted{0};
  SyncPoint::GetInstance()->SetCallBack("TieredFileSystem::DeleteFile:StubIsGone", [&](void* gone) {
    if (BaseOf(*static_cast<std::string*>(gone)) == base) {
      deleted++;
      EXPECT_TRUE(fs::exists(path));
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  SyncPoint::GetInstance()->DisableProcessing();
  EXPECT_EQ(deleted, 1);
  EXPECT_FALSE(fs::exists(path));
}

// As such a kill has left it under an earlier version. Tools go on, and delete the stub.
TEST_F(LogMistakes, AnObsoleteLogIsNotMissed) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  FillSynced(100);
  const std::string stub = db_name_ + "/" + Newest();
  const std::string bytes = ReadFile(stub);
  ASSERT_OK(db_->Flush(FlushOptions()));
  FillSynced(100);
  const std::string needed = Newest();
  const std::string path = PathOf(needed);
  Close();
  ASSERT_FALSE(fs::exists(stub));
  WriteFile(stub, bytes);
  NewFs(Tiers(), kLogs);
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  Verify();
  Close();
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_EQ(check.problems[0].path, stub);
  EXPECT_TRUE(check.problems[0].harmless) << check.problems[0].what;
  TieredAdoption adoption;
  ASSERT_OK(AdoptTiers(fs_.get(), db_name_, /*force=*/false, &adoption));
  EXPECT_TRUE(adoption.adopted);
  uint64_t files = 0;
  uint64_t size = 0;
  for (const bool dry_run : {true, false}) {
    NewFs(Tiers(), kLogs);
    EXPECT_OK(PurgeTiers(fs_.get(), db_name_, &files, &size, {}, dry_run));
    EXPECT_EQ(fs::exists(stub), dry_run);
  }
  // One that RocksDB would replay is missed, and nothing is deleted then.
  WriteFile(stub, bytes);
  fs::rename(path, folder_ + "/away");
  NewFs(Tiers(), kLogs);
  const Status s = PurgeTiers(fs_.get(), db_name_, &files, &size);
  EXPECT_NE(s.ToString().find(needed), std::string::npos) << s.ToString();
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
  bool found = false;
  for (const TieredProblem& problem : check.problems) {
    found = found || (BaseOf(problem.path) == needed && !problem.harmless && !problem.repaired);
  }
  EXPECT_TRUE(found);
  // Nor is the other one not missed while its tier may be elsewhere.
  fs::rename(folder_ + "/away", path);
  WriteFile(stub, bytes);
  const std::string folder = FolderIn("fast");
  fs::rename(folder, folder_ + "/away");
  EXPECT_FALSE(TryOpen(Tiers(), kLogs).ok());
  Close();
  EXPECT_TRUE(fs::exists(stub));
  fs::rename(folder_ + "/away", folder);
  ExpectWhole(Tiers(), kLogs);
  EXPECT_FALSE(fs::exists(stub));
}

// What one column family has flushed, another one has not: its records are in the first log.
TEST_F(LogMistakes, ALogThatAnotherColumnFamilyNeedsIsMissed) {
  std::vector<ColumnFamilyHandle*> handles;
  const auto open = [&] {
    NewFs(Tiers(), kLogs);
    Options options = DbOptions();
    options.create_missing_column_families = true;
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(options, db_name_, {{kDefaultColumnFamilyName, options}, {"other", options}},
                      &handles, result);
    }));
  };
  const auto close = [&] {
    for (ColumnFamilyHandle* handle : handles) {
      ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
    }
    Close();
  };
  open();
  ASSERT_FALSE(HasFailure());
  WriteOptions synced;
  synced.sync = true;
  ASSERT_OK(db_->Put(synced, handles[1], "key", "value"));
  const std::string base = Newest();
  const std::string path = PathOf(base);
  FillSynced(100);
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_NE(Newest(), base);
  close();
  ASSERT_FALSE(HasFailure());
  fs::rename(path, folder_ + "/away");
  NewFs(Tiers(), kLogs);
  uint64_t files = 0;
  uint64_t size = 0;
  const Status s = PurgeTiers(fs_.get(), db_name_, &files, &size);
  EXPECT_NE(s.ToString().find(base), std::string::npos) << s.ToString();
  EXPECT_TRUE(fs::exists(db_name_ + "/" + base));
  fs::rename(folder_ + "/away", path);
  open();
  ASSERT_FALSE(HasFailure());
  Verify();
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), handles[1], "key", &value));
  EXPECT_EQ(value, "value");
  close();
}

// In the middle of the deletion of its log, of which RocksDB's records are not flushed.
TEST_F(LogMistakes, ADatabaseIsDestroyedAgain) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  FillSynced(100);
  const std::string log = db_name_ + "/" + Newest();
  Close();
  bool taken = false;
  SyncPoint::GetInstance()->SetCallBack("TieredFileSystem::DeleteFile:StubIsGone", [&](void* path) {
    if (*static_cast<std::string*>(path) == log) {
      taken = true;
      for (const char* part : {"db", "fast", "slow"}) {
        fs::copy(folder_ + "/" + part, folder_ + "/then-" + part, fs::copy_options::recursive);
      }
      WriteFile(folder_ + "/then-db/CURRENT", ReadFile(folder_ + "/CURRENT"));
    }
  });
  fs::copy(db_name_ + "/CURRENT", folder_ + "/CURRENT");
  for (const auto& entry : fs::directory_iterator(db_name_)) {
    if (entry.path().filename().string().compare(0, 8, "MANIFEST") == 0) {
      fs::copy(entry.path(), folder_ + "/" + entry.path().filename().string());
    }
  }
  SyncPoint::GetInstance()->EnableProcessing();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  SyncPoint::GetInstance()->DisableProcessing();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(fs::is_empty(TierPath("fast")));
  fs::remove_all(TierPath("fast"));
  fs::remove_all(TierPath("slow"));
  for (const char* part : {"db", "fast", "slow"}) {
    fs::rename(folder_ + "/then-" + part, folder_ + "/" + part);
  }
  for (const auto& entry : fs::directory_iterator(folder_)) {  // as if they came after it
    if (entry.path().filename().string().compare(0, 8, "MANIFEST") == 0) {
      fs::copy(entry.path(), db_name_ + "/" + entry.path().filename().string(),
               fs::copy_options::overwrite_existing);
    }
  }
  NewFs(Tiers(), kLogs);
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_TRUE(fs::is_empty(TierPath("fast")));
  EXPECT_FALSE(fs::exists(db_name_));
}

// As DestroyDB() deletes it with an SstFileManager that limits the rate. Whenever it is killed, it
// can be called again.
TEST_F(LogMistakes, ADatabaseIsDestroyedAgainWithALogInTheTrash) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  FillSynced(100);
  const std::string log = db_name_ + "/" + Newest();
  const std::string trash = log + ".trash";
  const std::string path = PathOf(Newest());
  const std::string bytes = ReadFile(log);
  Close();
  bool reached = false;
  SyncPoint::GetInstance()->SetCallBack("TieredFileSystem::DeleteFile:StubIsGone", [&](void* gone) {
    if (*static_cast<std::string*>(gone) == trash) {
      reached = true;
      EXPECT_FALSE(fs::exists(path));  // without its stub it would be missed
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  FileLock* lock = nullptr;
  NewFs(Tiers(), kLogs);
  ASSERT_OK(env_->LockFile(db_name_ + "/LOCK", &lock));
  ASSERT_OK(env_->RenameFile(log, trash));
  ASSERT_OK(env_->DeleteFile(trash));
  ASSERT_OK(env_->UnlockFile(lock));
  SyncPoint::GetInstance()->DisableProcessing();
  EXPECT_TRUE(reached);
  // Between the deletion of the file and that of the stub. RocksDB does not look into the trash.
  WriteFile(trash, bytes);
  NewFs(Tiers(), kLogs);
  TieredCheck check;
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
  ASSERT_EQ(check.problems.size(), 1u);
  EXPECT_TRUE(check.problems[0].harmless) << check.problems[0].what;
  NewFs(Tiers(), kLogs);
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(fs::exists(db_name_));
  EXPECT_TRUE(fs::is_empty(TierPath("fast")));
}

// What is at the new name stays until something else can be there.
TEST_F(LogMistakes, ARenameThatFailsReplacesNothing) {
  const auto hooks = std::make_shared<HookedFs>();
  target_ = hooks;
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  FillSynced(10);
  const std::string base = Newest();
  Close();
  const std::string to = folder_ + "/other/" + base;
  fs::create_directory(folder_ + "/other");
  ASSERT_OK(WriteStringToFile(Env::Default(), "old", to));
  NewFs(Tiers(), kLogs);
  int failures = 0;
  hooks->before_create = [&](const std::string& path) {
    failures += path == to ? 1 : 0;
    return path == to ? IOStatus::IOError(path, "too many open files") : IOStatus::OK();
  };
  EXPECT_FALSE(fs_->RenameFile(db_name_ + "/" + base, to, IOOptions(), nullptr).ok());
  hooks->before_create = nullptr;
  EXPECT_EQ(failures, 1);
  ASSERT_TRUE(fs::exists(to));
  EXPECT_EQ(ReadFile(to), "old");
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// The records of its logs are in SSTs then: whoever replays them applies merge operands twice.
TEST_F(LogMistakes, LostIsDeletedAfterARepair) {
  Options options;
  std::string base;
  ASSERT_NO_FATAL_FAILURE(LeaveMergesInLog(&options, &base));
  const std::string path = PathOf(base);
  ASSERT_OK(RepairDB(db_name_, options));
  ASSERT_FALSE(fs::exists(db_name_ + "/" + base));
  const std::string stub = "lost/" + base;
  ASSERT_TRUE(fs::exists(db_name_ + "/" + stub));
  EXPECT_TRUE(fs::exists(PathOf(stub)));
  EXPECT_FALSE(fs::exists(path));
  fs::remove_all(db_name_ + "/lost");
  TieredCheck check;
  NewFs(Tiers(), kLogs);
  ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/true, &check));
  for (const TieredProblem& problem : check.problems) {
    EXPECT_TRUE(problem.harmless) << problem.path << " " << problem.what;
  }
  EXPECT_FALSE(fs::exists(db_name_ + "/" + base));
  NewFs(Tiers(), kLogs);
  options.env = env_.get();
  Open(options);
  ASSERT_FALSE(HasFailure());
  Verify();
}

// The log has two names in its tier then, and the stub of the one is gone. RepairDB() does not
// mind.
TEST_F(LogMistakes, ARepairThatCannotMakeDurableThatALogIsInLost) {
  const auto hooks = std::make_shared<HookedFs>();
  target_ = hooks;
  Options options;
  std::string base;
  ASSERT_NO_FATAL_FAILURE(LeaveMergesInLog(&options, &base));
  const std::string path = PathOf(base);
  bool gone = false;
  int failures = 0;
  hooks->before_delete = [&](const std::string& deleted) {
    gone = gone || deleted == db_name_ + "/" + base;
    return IOStatus::OK();
  };
  hooks->before_sync_directory = [&](const std::string& directory) {
    const bool fails = gone && directory == db_name_ && failures == 0;
    failures += fails ? 1 : 0;
    return fails ? IOStatus::IOError(directory, "injected") : IOStatus::OK();
  };
  ASSERT_OK(RepairDB(db_name_, options));
  hooks->before_delete = nullptr;
  hooks->before_sync_directory = nullptr;
  EXPECT_EQ(failures, 1);
  EXPECT_FALSE(fs::exists(db_name_ + "/" + base));
  EXPECT_TRUE(fs::exists(path));
  for (const bool without : {false, true}) {
    SCOPED_TRACE(without);
    NewFs(Tiers(), kLogs);
    options.env = env_.get();
    Open(options);
    ASSERT_FALSE(HasFailure());
    Verify();
    Close();
    EXPECT_FALSE(fs::exists(path)) << "it was put aside";
    fs::remove_all(db_name_ + "/lost");
  }
}

// An operator sets wal_dir anew, and moves what is called a log. The stubs lead to the folder of
// the home still.
TEST_F(LogMistakes, StubsThatAreMovedToAWalDir) {
  const std::string logs = folder_ + "/logs";
  const auto move = [](const std::string& from, const std::string& to) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(from)) {
      if (entry.path().extension() == ".log") {
        paths.push_back(entry.path());
      }
    }
    EXPECT_FALSE(paths.empty());
    for (const fs::path& path : paths) {
      fs::rename(path, fs::path(to) / path.filename());
    }
  };
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    OpenLogs();
    ASSERT_FALSE(HasFailure());
    FillSynced(100);
    if (flushed) {  // the last log has no record: it is not missed at home
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    Close();
    fs::create_directory(logs);
    move(db_name_, logs);
    for (int i = 0; i < 2; i++) {
      NewFs(Tiers(), kLogs);
      Options options = DbOptions();
      options.wal_dir = logs;
      const Status s = OpenDb(options, db_name_, &db_);
      EXPECT_FALSE(s.ok());
      EXPECT_NE(s.ToString().find("wal_dir, move it back"), std::string::npos) << s.ToString();
      Close();
    }
    move(logs, db_name_);
    fs::remove_all(logs);
    ExpectWhole(Tiers(), kLogs);
  }
}

// Logs of the newest home are not those of the one that takes its place.
TEST_F(LogMistakes, AnOldHomeThatIsAdopted) {
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  FillSynced(100);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Close();
  fs::copy(db_name_, folder_ + "/old", fs::copy_options::recursive);
  fs::remove(folder_ + "/old/" + Newest());  // has nothing, and the newest home deletes it
  const auto old = model_;
  OpenLogs();
  FillSynced(100);
  const std::string path = PathOf(Newest());
  const std::string bytes = ReadFile(path);
  Close();
  fs::rename(db_name_, folder_ + "/newest");
  fs::rename(folder_ + "/old", db_name_);
  NewFs(Tiers(), kLogs);
  TieredAdoption adoption;
  ASSERT_OK(AdoptTiers(fs_.get(), db_name_, /*force=*/true, &adoption));
  EXPECT_TRUE(adoption.adopted);
  EXPECT_EQ(adoption.missing.size(), 0u);
  model_ = old;
  ExpectWhole(Tiers(), kLogs);
  bool found = false;
  for (const auto& entry : fs::directory_iterator(FolderIn("fast") + "/lost")) {
    found = found || ReadFile(entry.path().string()) == bytes;
  }
  EXPECT_TRUE(found);
}

}  // namespace

}  // namespace rocktier
