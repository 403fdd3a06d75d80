// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Names in directories, of which a loss of power takes what was not synced, whoever made them: a
// process that was killed before, too. What was written to the device stays.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "file/filename.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/sst_file_manager.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/power_fs.h"
#include "test/support/seed.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

const IOOptions kIO;

class RawWalNamesTest : public RawWalTest {
 protected:
  RawWalNamesTest() {
    power_ = std::make_shared<PowerFs>(folder_ + "/attic");
    MakeFolders();
    options_.device = device_;
    options_.size = 24 << 20;
    options_.segment_size = 64 << 10;
    options_.tail_size = 32 << 10;
    options_.failover_latency = 10000;  // a slow disk shall change nothing
    options_.metrics_interval = 0;      // it would count as changes
  }
  ~RawWalNamesTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
  }

  void MakeFolders() const {
    std::filesystem::create_directories(ArchivalDirectory(db_name_));
    std::filesystem::create_directories(standby_);
  }
  // As another process would.
  void Mount() {
    CloseAll();
    ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(options_, power_, &fs_));
    env_ = NewCompositeEnv(fs_);
  }
  void CloseAll() {
    db_.reset();
    env_.reset();
    fs_.reset();
  }
  void LosePower() {
    CloseAll();
    power_->Fail(&random_, /*least=*/true);
  }

  std::string Path(uint64_t number) const { return LogFileName(db_name_, number); }
  void NewLog(uint64_t number, std::unique_ptr<FSWritableFile>* log) {
    FileOptions options;
    options.io_options.type = IOType::kWAL;
    ASSERT_OK(fs_->NewWritableFile(Path(number), options, log, nullptr));
    ASSERT_OK((*log)->Append("bytes", kIO, nullptr));
  }
  // With a sync.
  void WriteLog(uint64_t number) {
    std::unique_ptr<FSWritableFile> log;
    ASSERT_NO_FATAL_FAILURE(NewLog(number, &log));
    ASSERT_OK(log->Sync(kIO, nullptr));
    ASSERT_OK(log->Close(kIO, nullptr));
  }
  std::string Read(uint64_t number) {
    std::unique_ptr<FSSequentialFile> file;
    char scratch[100];
    Slice bytes;
    const Status opened = fs_->NewSequentialFile(Path(number), FileOptions(), &file, nullptr);
    EXPECT_OK(opened);
    if (opened.ok()) {
      EXPECT_OK(file->Read(sizeof(scratch), kIO, &bytes, scratch, nullptr));
    }
    return bytes.ToString();
  }
  // What RocksDB calls first when it opens a database, and last when it closes it.
  Status LockAndUnlock() {
    FileLock* lock = nullptr;
    const Status s = fs_->LockFile(db_name_ + "/LOCK", kIO, &lock, nullptr);
    return s.ok() ? Status(fs_->UnlockFile(lock, kIO, nullptr)) : s;
  }
  uint64_t SegmentsUsed() const {
    raw_wal_fs::RawWalStats stats;
    EXPECT_OK(raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
    return stats.segments_used;
  }

  const std::string standby_ = folder_ + "/standby";
  raw_wal_fs::RawWalOptions options_;
  std::shared_ptr<PowerFs> power_;
  std::mt19937_64 random_{1};
};

// RocksDB has a log renamed before it has it deleted, if it limits the rate of that, and a process
// may be killed between. The name that the log had must not come back without it.
TEST_F(RawWalNamesTest, AFreedLogHasNoNameThatMayComeBack) {
  for (const uint64_t number : {uint64_t{1}, uint64_t{2}}) {
    SCOPED_TRACE(number);
    ASSERT_NO_FATAL_FAILURE(Mount());
    ASSERT_NO_FATAL_FAILURE(WriteLog(number));
    std::string path = Path(number);
    if (number == 2) {
      path = ArchivedLogFileName(db_name_, number);
      ASSERT_OK(fs_->RenameFile(Path(number), path, kIO, nullptr));
    }
    ASSERT_OK(fs_->RenameFile(path, path + ".trash", kIO, nullptr));
    ASSERT_NO_FATAL_FAILURE(Mount());
    ASSERT_OK(fs_->DeleteFile(path + ".trash", kIO, nullptr));
    LosePower();
    ASSERT_NO_FATAL_FAILURE(Mount());
    EXPECT_OK(LockAndUnlock());
    EXPECT_EQ(SegmentsUsed(), 0u);
  }
}

// What RocksDB finds it may take for durable: it may go on with other logs, and sync these.
TEST_F(RawWalNamesTest, WhatAnOpeningFindsIsThereForGood) {
  ASSERT_NO_FATAL_FAILURE(Mount());
  std::unique_ptr<FSWritableFile> log;
  ASSERT_NO_FATAL_FAILURE(NewLog(1, &log));
  power_->FailAfter(1);
  log.reset();  // which would make it durable
  CloseAll();
  power_->Restart();
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_OK(LockAndUnlock());
  LosePower();
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_OK(LockAndUnlock());
  EXPECT_EQ(Read(1), "bytes");
}

// A process is killed anywhere while it makes a directory the standby of a device. The next one
// begins a log that names it.
TEST_F(RawWalNamesTest, AStandbyThatALogNamesIsThereForGood) {
  options_.standby = standby_;
  bool open = false;
  for (uint64_t changes = 1; !open; changes++) {
    SCOPED_TRACE(changes);
    ASSERT_LT(changes, 100u);
    std::filesystem::remove_all(db_name_);
    std::filesystem::remove_all(standby_);
    std::filesystem::remove(device_);
    MakeFolders();
    ASSERT_NO_FATAL_FAILURE(Mount());
    power_->FailAfter(changes);
    open = LockAndUnlock().ok();
    CloseAll();
    power_->Restart();
    ASSERT_NO_FATAL_FAILURE(Mount());
    ASSERT_NO_FATAL_FAILURE(WriteLog(1));
    LosePower();
    ASSERT_NO_FATAL_FAILURE(Mount());
    ASSERT_OK(LockAndUnlock());
    EXPECT_EQ(Read(1), "bytes");
    LosePower();
  }
}

// The device is written past the FileSystem: nothing here can take its name away.
TEST_F(RawWalNamesTest, ADeviceThatIsAFileIsSyncedByName) {
  ASSERT_NO_FATAL_FAILURE(Mount());
  ASSERT_OK(LockAndUnlock());
  ASSERT_NO_FATAL_FAILURE(Mount());
  int syncs = 0;
  int early = 0;  // writes before it
  SyncPoint::GetInstance()->SetCallBack("FormatDevice::SyncDirectoryOf", [&](void*) { syncs++; });
  SyncPoint::GetInstance()->SetCallBack("PosixDevice::Write",
                                        [&](void*) { early += syncs == 0 ? 1 : 0; });
  SyncPoint::GetInstance()->EnableProcessing();
  ASSERT_OK(LockAndUnlock());
  SyncPoint::GetInstance()->DisableProcessing();
  EXPECT_EQ(syncs, 1);
  EXPECT_EQ(early, 0);
}

constexpr uint64_t kKeys = 400;

std::string KeyOf(uint64_t n) { return "key" + std::to_string(n % kKeys); }
std::string ValueOf(uint64_t n) {
  return std::to_string(n) + ":" + std::string(20 + n % 150, static_cast<char>('a' + n % 26));
}

// A database that is killed, or loses power, at any moment, and again while it is opened.
class RawWalLossTest : public RawWalNamesTest {
 protected:
  // The write n of KeyOf(n) is counted as n + 1; 0: there is none.
  using Writes = std::vector<uint64_t>;

  Options NewOptions() {
    Options options = DbOptions();
    options.write_buffer_size = 64 << 10;
    options.recycle_log_file_num = random_() % 3 == 0 ? 2 : 0;
    options.avoid_flush_during_recovery = random_() % 3 == 0;
    if (random_() % 2 == 0) {  // logs are renamed first, and then deleted by a thread
      options.sst_file_manager.reset(NewSstFileManager(
          env_.get(), fs_, /*info_log=*/nullptr, /*trash_dir=*/"", /*rate_bytes_per_sec=*/1 << 30,
          /*delete_existing_trash=*/true, /*status=*/nullptr, /*max_trash_db_ratio=*/100));
    }
    return options;
  }
  void SetMode() {
    const uint64_t mode = random_() % 3;
    options_.hedge = !options_.standby.empty() && mode == 0;
    options_.durable = !options_.standby.empty() && mode == 1 ? raw_wal_fs::Durable::kBoth
                                                              : raw_wal_fs::Durable::kOne;
  }

  void Work() {
    while (!power_->failed()) {
      Status s;
      if (random_() % 500 == 0) {
        s = db_->Flush(FlushOptions());
        durable_ = s.ok() ? last_ : durable_;
      } else {
        const uint64_t n = issued_++;
        WriteOptions options;
        options.sync = random_() % 20 == 0;
        s = db_->Put(options, KeyOf(n), ValueOf(n));
        last_[n % kKeys] = s.ok() ? n + 1 : last_[n % kKeys];
        durable_ = s.ok() && options.sync ? last_ : durable_;
      }
      if (!s.ok()) {
        ASSERT_TRUE(power_->failed()) << s.ToString();
      }
    }
  }

  // Each key has what was durable, or something later.
  void Check() {
    for (uint64_t key = 0; key < kKeys; key++) {
      std::string value;
      const Status s = db_->Get(ReadOptions(), KeyOf(key), &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      const uint64_t found = s.ok() ? strtoull(value.c_str(), nullptr, 10) + 1 : 0;
      ASSERT_GE(found, durable_[key]) << KeyOf(key);
      ASSERT_LE(found, issued_) << KeyOf(key);
      ASSERT_TRUE(found == 0 || (value == ValueOf(found - 1) && KeyOf(found - 1) == KeyOf(key)));
      last_[key] = found;
    }
  }

  void FailOften(int rounds) {
    random_.seed(Seed());
    bool killed = false;
    for (int round = 0; round < rounds; round++) {
      SCOPED_TRACE(round);
      SetMode();
      ASSERT_NO_FATAL_FAILURE(Mount());
      Options options = NewOptions();
      power_->FailAfter(random_() % (random_() % 2 == 0 ? 200 : 5000));
      if (OpenDb(options, db_name_, &db_).ok()) {
        durable_ = killed ? last_ : durable_;  // what it finds it takes for durable
        ASSERT_NO_FATAL_FAILURE(Work());
      }
      ASSERT_TRUE(power_->failed());
      db_.reset();
      options.sst_file_manager.reset();
      CloseAll();
      killed = random_() % 3 == 0;  // and the machine has not noticed
      if (killed) {
        power_->Restart();
      } else {
        power_->Fail(&random_, random_() % 2 == 0);
      }
      if (killed && random_() % 2 == 0) {
        continue;  // and power may fail while it is opened again
      }
      durable_ = killed ? last_ : durable_;
      killed = false;
      if (!std::filesystem::exists(db_name_ + "/CURRENT")) {
        ASSERT_EQ(durable_, Writes(kKeys));
        continue;
      }
      ASSERT_NO_FATAL_FAILURE(Mount());
      options.env = env_.get();
      ASSERT_OK(OpenDb(options, db_name_, &db_));
      ASSERT_NO_FATAL_FAILURE(Check());
      ASSERT_OK(db_->Flush(FlushOptions()));
      durable_ = last_;
      CloseAll();
    }
    printf("%d losses of power, %llu writes\n", rounds, static_cast<unsigned long long>(issued_));
    EXPECT_GT(issued_, 0u);
  }

  uint64_t issued_ = 0;
  Writes last_ = Writes(kKeys);
  Writes durable_ = Writes(kKeys);
};

TEST_F(RawWalLossTest, FailsAtAnyMoment) { FailOften(Rounds(30)); }

TEST_F(RawWalLossTest, FailsAtAnyMomentBesideAStandby) {
  options_.standby = standby_;
  FailOften(Rounds(30));
}

}  // namespace
}  // namespace rocktier
