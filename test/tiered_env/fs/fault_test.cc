// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Errors and unlucky moments.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "plugin/tiered_env/files/stub.h"
#include "rocksdb/convenience.h"
#include "rocksdb/version.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class TieredFaultTest : public TieredTest {
 protected:
  TieredFaultTest() {
    hooks_ = std::make_shared<HookedFs>();
    target_ = hooks_;
  }

  // A database with all SSTs in fast, and the same with a placement by which they leave.
  void FillFast() {
    NewFs(Tiers(), "0..=fast");
    Open();
    Fill(5000);
    Settle();
    Close();
  }

  std::shared_ptr<HookedFs> hooks_;
};

TEST_F(TieredFaultTest, ADirectorySyncThatFailsAfterTheSwapLosesNothing) {
  FillFast();
  NewFs(Tiers(), "0..=slow");
  std::atomic<bool> swapped{false};
  static thread_local bool swapping = false;  // by the mover
  hooks_->before_rename = [&](const std::string& from, const std::string&) {
    swapping = Contains(from, ".sst");
    swapped = swapped || swapping;
    return IOStatus::OK();
  };
  hooks_->before_sync_directory = [&](const std::string& directory) {
    return swapping && directory == db_name_ ? IOStatus::IOError("injected") : IOStatus::OK();
  };
  Options options = DbOptions();
  options.max_open_files = -1;
  Open(options);
  ASSERT_OK(WaitForMoves(fs_.get()));
  ASSERT_TRUE(swapped);
  hooks_->before_sync_directory = nullptr;
  Open();
  Verify();
  Settle();
  Verify();
  Close();
  uint64_t files;
  uint64_t bytes;
  ASSERT_OK(PurgeTiers(fs_.get(), db_name_, &files, &bytes));  // the old ones were put aside
  EXPECT_GT(files, 0u);
  EXPECT_EQ(FilesIn("fast"), 0u);
  Open();
  Verify();
}

// A directory is synced when a file is about to be made in its folder: that sync is not the file's.
TEST_F(TieredFaultTest, AnotherThreadSyncsJustBeforeAFileIsThere) {
  checkpoints_ = "linked";
  NewFs(Tiers(), "0..=slow");
  Open();
  Fill(5000);
  Settle();
  std::string directory = db_name_;
  const auto sync = [&] {
    std::unique_ptr<FSDirectory> opened;
    IOStatus s = fs_->NewDirectory(directory, IOOptions(), &opened, nullptr);
    return s.ok() ? opened->FsyncWithDirOptions(IOOptions(), nullptr, DirFsyncOptions()) : s;
  };
  const std::string folders = TierPath("fast") + "/";
  std::atomic<int> made{0};
  std::atomic<bool> durable{false};
  const auto before_it_is_there = [&](const std::string& path) {
    if (!Contains(path, folders) || !Contains(path, ".sst")) {
      return IOStatus::OK();
    }
    IOStatus s = sync();
    made++;
    durable = false;
    return s;
  };
  const auto expect_durable = [&] {
    EXPECT_GT(made, 0);
    EXPECT_TRUE(durable);
    made = 0;
  };
  Close();
  hooks_->before_create = before_it_is_there;
  hooks_->before_link = [&](const std::string&, const std::string& to) {
    return before_it_is_there(to);
  };
  hooks_->before_sync_directory = [&](const std::string& synced) {
    durable = durable || Contains(synced, folders);
    return IOStatus::OK();
  };

  Reopen(Tiers(), "0..=fast");
  ASSERT_OK(WaitForMoves(fs_.get()));
  expect_durable();

  Options options = DbOptions();
  options.disable_auto_compactions = true;
  Open(options);
  Fill(100);
  ASSERT_OK(db_->Flush(FlushOptions()));
  expect_durable();

  const std::string sst = FilesOf(".sst").front();
  directory = folder_ + "/other";
  ASSERT_OK(fs_->CreateDir(directory, IOOptions(), nullptr));
  ASSERT_OK(fs_->LinkFile(db_name_ + "/" + sst, directory + "/" + sst, IOOptions(), nullptr));
  ASSERT_OK(sync());
  expect_durable();
}

TEST_F(TieredFaultTest, ARenameThatHappenedAndFailedLosesNothing) {
  FillFast();
  NewFs(Tiers(), "0..=slow");
  hooks_->before_rename = [&](const std::string& from, const std::string& to) {
    if (Contains(from, ".sst")) {
      std::filesystem::rename(from, to);
      return IOStatus::IOError("injected");
    }
    return IOStatus::OK();
  };
  Open();
  ASSERT_OK(WaitForMoves(fs_.get()));
  hooks_->before_rename = nullptr;
  Verify();
  Open();
  Settle();
  Verify();
  EXPECT_EQ(FilesIn("fast"), 0u);
}

// Else power may fail after it, with the old names and without the old files.
TEST_F(TieredFaultTest, OrphansArePutAsideWhenTheNamesAreDurable) {
  FillFast();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath("fast"))) {
    if (Contains(entry.path().filename().string(), ".sst")) {
      std::filesystem::copy(entry.path(), entry.path().string() + "00");
      break;
    }
  }
  NewFs(Tiers(), "0..=fast");
  bool synced = false;
  bool put_aside = false;
  hooks_->before_sync_directory = [&](const std::string& directory) {
    synced = synced || directory == db_name_;
    return IOStatus::OK();
  };
  hooks_->before_rename = [&](const std::string& from, const std::string& to) {
    if (Contains(to, TierPath("fast")) && Contains(to, "/lost/")) {
      put_aside = true;
      EXPECT_TRUE(synced) << from;
    }
    return IOStatus::OK();
  };
  Open();
  EXPECT_TRUE(put_aside);
  Verify();
}

// What is at home and is opened while it leaves must not be taken for its stub.
TEST_F(TieredFaultTest, AFileThatLeavesHomeWhileItIsOpened) {
  NewFs(Tiers(), "");
  Open();
  Fill(5000);
  Settle();
  const std::string path = db_name_ + "/" + FilesOf(".sst").at(0);
  Close();
  const uint64_t real_size = std::filesystem::file_size(path);
  for (int way = 0; way < 4; way++) {
    NewFs(Tiers(), "");
    Open();
    Settle();
    ASSERT_EQ(TierOf(path.substr(db_name_.size() + 1)), "home");
    Close();
    NewFs(Tiers(), "0..=slow");
    std::atomic<bool> go{false};
    std::atomic<bool> gone{false};
    std::atomic<bool> asked{false};
    const auto me = std::this_thread::get_id();
    auto* sync = SyncPoint::GetInstance();
    sync->SetCallBack("Relocator::Move:BeforeCopy", [&](void*) {
      while (!go) {
        std::this_thread::yield();
      }
    });
    sync->SetCallBack("TieredFileSystem::WithPlace:Resolved", [&](void* argument) {
      if (std::this_thread::get_id() == me && *static_cast<std::string*>(argument) == path &&
          !asked.exchange(true)) {
        go = true;
        while (TierOf(path.substr(db_name_.size() + 1)) == "home") {
          std::this_thread::yield();
        }
        gone = true;
      }
    });
    Options options = DbOptions();
#if ROCKSDB_MAJOR < 11  // newer ones check what they open only
    options.skip_checking_sst_file_sizes_on_db_open = true;
#endif
    options.max_open_files = 10;
    options.skip_stats_update_on_db_open = true;
    Open(options);
    sync->EnableProcessing();
    asked = false;
    if (way == 0) {
      uint64_t size = 0;
      ASSERT_OK(fs_->GetFileSize(path, IOOptions(), &size, nullptr));
      EXPECT_EQ(size, real_size);
    } else if (way == 1) {
      std::unique_ptr<FSSequentialFile> file;
      ASSERT_OK(fs_->NewSequentialFile(path, FileOptions(), &file, nullptr));
      std::string buffer(real_size + 1, '\0');
      Slice bytes;
      ASSERT_OK(file->Read(buffer.size(), IOOptions(), &bytes, buffer.data(), nullptr));
      EXPECT_EQ(bytes.size(), real_size);
    } else if (way == 2) {
      std::unique_ptr<FSRandomAccessFile> file;
      ASSERT_OK(fs_->NewRandomAccessFile(path, FileOptions(), &file, nullptr));
      std::string buffer(real_size, '\0');
      Slice bytes;
      ASSERT_OK(file->Read(0, buffer.size(), IOOptions(), &bytes, buffer.data(), nullptr));
      EXPECT_EQ(bytes.size(), real_size);
    } else {
      Verify();
      go = gone = true;
    }
    EXPECT_TRUE(gone);
    go = true;
    sync->DisableProcessing();
    sync->ClearAllCallBacks();
    ASSERT_OK(WaitForMoves(fs_.get()));
    Verify();
    Close();
  }
}

// A reader that was opened while the mover was at it must not hold on to what was deleted.
TEST_F(TieredFaultTest, SpaceOfMovedFilesIsFree) {
  FillFast();
  db_name_ += "//";  // what RocksDB calls a file has more slashes than one then
  NewFs(Tiers(), "0..=slow");
  Options options = DbOptions();
  options.max_open_files = -1;
  Open(options);
  Verify();
  Settle();
  Verify();
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string name = std::filesystem::read_symlink(entry.path(), ignored).string();
    EXPECT_FALSE(Contains(name, folder_) && Contains(name, "(deleted)")) << name;
  }
}

TEST_F(TieredFaultTest, ATornStubIsNoObstacle) {
  FillFast();
  std::string damaged = Stub().Encode();
  damaged[30] ^= 1;
  std::ofstream(db_name_ + "/000900.sst") << damaged;
  std::ofstream(db_name_ + "/000901.sst") << damaged.substr(0, 100);
  NewFs(Tiers(), "0..=fast");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->NewWritableFile(db_name_ + "/000900.sst", FileOptions(), &file, nullptr));
  ASSERT_OK(file->Close(IOOptions(), nullptr));
  std::ofstream(db_name_ + "/000900.sst") << damaged;
  Open();
  Verify();
  EXPECT_FALSE(std::filesystem::exists(db_name_ + "/000900.sst"));
  EXPECT_FALSE(std::filesystem::exists(db_name_ + "/000901.sst"));
}

// The log of a database that was closed, and not destroyed yet, is closed.
TEST_F(TieredFaultTest, MovesAfterAnotherDatabaseWasClosed) {
  FillFast();
  NewFs(Tiers(), "0..=slow");
  std::atomic<bool> go{false};
  auto* sync = SyncPoint::GetInstance();
  sync->SetCallBack("Relocator::Move:BeforeCopy", [&](void*) {
    while (!go) {
      std::this_thread::yield();
    }
  });
  sync->EnableProcessing();
  Open();
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
  ASSERT_OK(other->Close());
  go = true;
  ASSERT_OK(WaitForMoves(fs_.get()));
  EXPECT_GT(StatsOf("slow").moves, 0u);
  other.reset();
  Verify();
  Close();
  std::ifstream in(db_name_ + "/LOG");
  const std::string log(std::istreambuf_iterator<char>(in), {});
  EXPECT_TRUE(Contains(log, "tiered_env: moved"));
}

// RocksDB deletes files while they are copied. That is no failure of a tier.
TEST_F(TieredFaultTest, AFileThatIsDeletedWhileItIsCopied) {
  FillFast();
  NewFs(Tiers(), "0..=slow");
  std::atomic<bool> copying{false};
  std::atomic<bool> go{false};
  auto* sync = SyncPoint::GetInstance();
  sync->SetCallBack("Relocator::Move:BeforeCopy", [&](void*) {
    copying = true;
    while (!go) {
      std::this_thread::yield();
    }
  });
  sync->EnableProcessing();
  Open();
  while (!copying) {
    std::this_thread::yield();
  }
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  go = true;
  ASSERT_OK(WaitForMoves(fs_.get()));
  sync->DisableProcessing();
  sync->ClearAllCallBacks();
  EXPECT_EQ(StatsOf("slow").errors, 0u);
  EXPECT_EQ(FilesIn("fast"), 0u);
  Verify();
}

TEST_F(TieredFaultTest, ASlowMoverDoesNotHoldUpClosing) {
  FillFast();
  NewFs(Tiers(), "0..=slow");
  TieredOptions slow;
  slow.tiers = Tiers();
  slow.placement = "0..=slow";
  slow.mover_bytes_per_second = 1000;
  env_.reset();
  ASSERT_OK(NewTieredFileSystem(slow, hooks_, &fs_));
  env_ = NewCompositeEnv(fs_);
  std::atomic<bool> copying{false};
  auto* sync = SyncPoint::GetInstance();
  sync->SetCallBack("Relocator::Move:BeforeCopy", [&](void*) { copying = true; });
  sync->EnableProcessing();
  Open();
  while (!copying) {
    std::this_thread::yield();
  }
  Close();  // 64 KB would take a minute
  sync->DisableProcessing();
  NewFs(Tiers(), "0..=fast");
  Open();
  Verify();
  ASSERT_OK(WaitForMoves(fs_.get()));  // one that was copied in time goes back
  EXPECT_EQ(FilesIn("slow"), 0u);
}

TEST_F(TieredFaultTest, PreparingAgainChangesNothing) {
  FillFast();
  NewFs(Tiers(), "0..=fast");
  Open();
  ASSERT_OK(env_->PrepareOptions(ConfigOptions()));
  Fill(5000);
  Settle();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), "fast");
  }
  EXPECT_GT(StatsOf("fast").bytes, 0u);
  Verify();
  auto* options = fs_->GetOptions<TieredOptions>();
  ASSERT_NE(options, nullptr);
  options->placement = "0..=slow";
  const Status s = env_->PrepareOptions(ConfigOptions());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("placement=0..=slow: "), std::string::npos) << s.ToString();
}

// RocksDB does not do that; but what was written last is what is there.
TEST_F(TieredFaultTest, AFileThatIsWrittenAnewWhileItIsMoved) {
  NewFs(Tiers(), "");
  Open();
  Fill(100);
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_EQ(FilesOf(".sst").size(), 1u);
  const std::string base = FilesOf(".sst")[0];
  const std::string path = db_name_ + "/" + base;
  Close();
  const size_t size = std::filesystem::file_size(path);
  for (const std::string& contents : {std::string(size, 'x'), std::string("short")}) {
    std::filesystem::copy_file(path, folder_ + "/kept");
    NewFs(Tiers(), "0..=slow");
    bool written = false;
    SyncPoint::GetInstance()->SetCallBack("Relocator::Move:AfterCopy", [&](void*) {
      if (!written) {
        written = true;
        EXPECT_OK(WriteStringToFile(env_.get(), contents, path));
      }
    });
    SyncPoint::GetInstance()->EnableProcessing();
    FileLock* lock = nullptr;
    ASSERT_OK(env_->LockFile(db_name_ + "/LOCK", &lock));
    while (!written) {
      ASSERT_OK(WaitForMoves(fs_.get()));
    }
    ASSERT_OK(env_->UnlockFile(lock));
    SyncPoint::GetInstance()->DisableProcessing();
    std::string read;
    EXPECT_OK(ReadFileToString(env_.get(), path, &read));
    EXPECT_EQ(read.size(), contents.size());
    EXPECT_TRUE(read == contents);
    EXPECT_EQ(FilesIn("slow"), TierOf(base) == "slow" ? 1u : 0u);
    ASSERT_OK(env_->DeleteFile(path));
    std::filesystem::rename(folder_ + "/kept", path);
  }
  Reopen(Tiers(), "0..=slow");
  ExpectQuiet();
  Verify();
}

// One failure at home must not forbid it for long: there is nothing after it.
TEST_F(TieredFaultTest, HomeIsTriedAgainAtOnce) {
  NewFs(Tiers(), "");
  Options options = DbOptions();
  options.max_bgerror_resume_count = 0;
  Open(options);
  Fill(100);
  std::atomic<int> failures{1};
  hooks_->before_create = [&](const std::string& path) {
    IOStatus s = IOStatus::IOError("injected");
    s.SetRetryable(true);
    return Contains(path, ".sst") && failures-- > 0 ? s : IOStatus::OK();
  };
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  EXPECT_OK(db_->Resume());
  ASSERT_OK(db_->Flush(FlushOptions()));
  Verify();
}

// A stub finds no room. That is no failure of its tier, nor would another one help.
TEST_F(TieredFaultTest, AFullHomeIsNoFailureOfTheTiers) {
  NewFs(Tiers(), "0..=fast");
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  Open(options);
  Fill(100);
  std::atomic<int> failures{1};
  hooks_->before_create = [&](const std::string& path) {
    const bool is_stub = path.compare(0, db_name_.size() + 1, db_name_ + "/") == 0 &&
                         std::filesystem::path(path).extension() == ".sst";
    return is_stub && failures-- > 0 ? IOStatus::NoSpace(path, "injected") : IOStatus::OK();
  };
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_LT(failures, 1);
  EXPECT_EQ(StatsOf("fast").errors, 0u);
  EXPECT_EQ(StatsOf("slow").errors, 0u);
  EXPECT_EQ(StatsOf("home").errors, 1u);
  Fill(100);
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(WaitForMoves(fs_.get()));  // brings the first one there, too
  EXPECT_EQ(Census()["L0 fast"], 2);
  Verify();
  Close();
  hooks_->before_create = nullptr;
}

TEST_F(TieredFaultTest, ATierWithoutDirectIo) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  hooks_->only_buffered = TierPath("slow");
  Options options = DbOptions();
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  Open(options);
  Fill(20000);
  ExpectQuiet();
  ExpectUpperInFast();
  EXPECT_GT(StatsOf("slow").files, 0u);
  Verify();
  Reopen(Tiers(), "0..1=slow;2..=fast");
  Open(options);
  Verify();
  ExpectQuiet();
  Verify();
}

// A file that was begun with direct I/O goes on in one without, or of other pages.
TEST_F(TieredFaultTest, SpillIntoATierWithOtherDirectIo) {
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  options.writable_file_max_buffer_size = 4096;
  options.write_buffer_size = 8 << 20;
  std::string* const kLimits[] = {&hooks_->only_buffered, &hooks_->large_pages};
  for (std::string* const limit : kLimits) {
    NewFs(Tiers("budget=20K", "budget=1M"), "0..=fast");
    *limit = TierPath("slow");
    Open(options);
    Fill(3000);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_GT(Census()["L0 slow"], 0);
    EXPECT_GT(StatsOf("fast").spills, 0u);
    EXPECT_EQ(StatsOf("slow").errors, 0u);
    Verify();
    limit->clear();
  }
}

// A stub without its file would be missed by the next opening.
TEST_F(TieredFaultTest, ALogThatCannotBeMadeLeavesNoStub) {
  NewFs("fast={path=" + TierPath("fast") + "}", "wal=fast");
  Open();
  ASSERT_FALSE(HasFailure());
  Fill(100);
  std::atomic<int> made{0};  // the stub, and then the log at home
  hooks_->before_create = [&](const std::string& path) {
    const bool is_log = path.compare(0, db_name_.size() + 1, db_name_ + "/") == 0 &&
                        std::filesystem::path(path).extension() == ".log";
    return is_log && made++ > 0 ? IOStatus::IOError("injected") : IOStatus::OK();
  };
  hooks_->before_sync_directory = [&](const std::string& directory) {
    return directory == db_name_ && made > 0 ? IOStatus::IOError("injected") : IOStatus::OK();
  };
  EXPECT_FALSE(db_->Flush(FlushOptions()).ok());
  EXPECT_EQ(made, 2);
  Close();
  hooks_->before_create = nullptr;
  hooks_->before_sync_directory = nullptr;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
    uint64_t size = 0;
    if (entry.path().extension() == ".log") {
      EXPECT_OK(fs_->GetFileSize(entry.path().string(), IOOptions(), &size, nullptr));
    }
  }
  NewFs("fast={path=" + TierPath("fast") + "}", "wal=fast");
  Open();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// The next tier takes what one that fails does not.
TEST_F(TieredFaultTest, ATierThatFails) {
  NewFs(Tiers(), "0..=fast");
  Open();
  hooks_->before_create = [&](const std::string& path) {
    return Contains(path, TierPath("fast")) ? IOStatus::IOError("injected") : IOStatus::OK();
  };
  Fill(5000);
  Settle();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), "slow");
  }
  EXPECT_GT(StatsOf("fast").errors, 0u);
  EXPECT_EQ(FilesIn("fast"), 0u);
  Verify();
}

// Inputs of a compaction are deleted there, not durably or not at all. What others write goes on.
TEST_F(TieredFaultTest, ADeletionInATierThatFailsStopsNoWrites) {
  for (const bool deletes : {true, false}) {
    SCOPED_TRACE(deletes);
    db_name_ = folder_ + (deletes ? "/first" : "/second");
    model_.clear();
    Reopen(Tiers(), "0..1=fast;2..=slow");
    Fill(20000);
    Settle();
    ASSERT_GT(StatsOf("slow").files, 0u);
    const auto fails = [start = TierPath("slow")](const std::string& path) {
      return Contains(path, start) ? IOStatus::IOError(path, "injected") : IOStatus::OK();
    };
    hooks_->before_create = fails;
    hooks_->before_sync_directory = fails;
    if (!deletes) {
      hooks_->before_delete = fails;
    }
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    Fill(100);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(Census()["L0 fast"], 1);
    EXPECT_GT(StatsOf("slow").errors, 0u);
    Verify();
    Close();
    hooks_->before_create = nullptr;
    hooks_->before_sync_directory = nullptr;
    hooks_->before_delete = nullptr;
    Reopen(Tiers(), "0..1=fast;2..=slow");
    ExpectQuiet();
    ExpectUpperInFast();
    Verify();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));  // ExpectQuiet() counts what the tiers have
  }
}

// Else power may fail after it: the log would be there again, and its stub would be missed.
TEST_F(TieredFaultTest, ALogThatIsDestroyedIsGoneBeforeItsStub) {
  Reopen(Tiers(), "wal=fast");
  Fill(100);
  Close();
  const std::string log = FilesOf(".log").front();
  ASSERT_EQ(TierOf(log), "fast");
  NewFs(Tiers(), "wal=fast");
  hooks_->before_sync_directory = [start = TierPath("fast")](const std::string& directory) {
    return Contains(directory, start) ? IOStatus::IOError(directory, "injected") : IOStatus::OK();
  };
  EXPECT_FALSE(DestroyDB(db_name_, DbOptions()).ok());
  EXPECT_EQ(TierOf(log), "fast");
  hooks_->before_sync_directory = nullptr;
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(std::filesystem::exists(db_name_ + "/" + log));
  EXPECT_EQ(FilesIn("fast"), 0u);
}

}  // namespace

}  // namespace rocktier
