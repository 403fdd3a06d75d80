// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A device that stalls or fails beside a standby: writes go on there, nothing is lost, and new logs
// come back when it is well.

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/standby.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "rocksdb/sst_file_manager.h"
#include "rocksdb/transaction_log.h"
#include "test/raw_wal_fs/standby_support.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/no_threads.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

// As in db_bench: made before what RocksDB keeps in static objects, and destroyed after it.
std::shared_ptr<FileSystem> kept_to_the_end;  // NOLINT(cert-err58-cpp)

// A tmpfs of 1 MiB. Unmounted when it goes.
class SmallDisk {
 public:
  ~SmallDisk() {
    if (!place_.empty()) {
      umount2(place_.c_str(), MNT_DETACH);
    }
  }
  // Returns why there can be none, "" if there is one.
  std::string Mount(const std::string& place) {
    if (mount("none", place.c_str(), "tmpfs", 0, "size=1M") != 0) {
      return std::string("mount: ") + strerror(errno);
    }
    place_ = place;
    return "";
  }

 private:
  std::string place_;
};

// Has the lock of a standby, as another process that writes to it.
class OtherWriter {
 public:
  explicit OtherWriter(const std::string& standby)
      : fd_(open((standby + "/STANDBY.lock").c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_TRUE(WaitFor([this] { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }));
  }
  ~OtherWriter() { close(fd_); }
  OtherWriter(const OtherWriter&) = delete;
  OtherWriter& operator=(const OtherWriter&) = delete;

 private:
  const int fd_;
};

class RawWalFailoverTest : public RawWalStandbyTest {
 protected:
  void SetUp() override {
    RawWalStandbyTest::SetUp();
    NewFs(WithStandby());
    Open();
  }
  void TearDown() override {
    trouble_.End();
    RawWalStandbyTest::TearDown();
  }

  Trouble trouble_;
};

// The disk of the standby is full: a small one, which only root can mount, or calls that fail as
// they do there. RocksDB does not resume by itself.
class RawWalFullStandbyTest : public RawWalStandbyTest, public ::testing::WithParamInterface<bool> {
 protected:
  void TearDown() override {
    trouble_.End();
    Close();
  }

  // Opens the database. False, and the reason is printed, if there can be no such disk here.
  bool Begin() {
    const bool is_small_disk = GetParam();
    const std::string problem = is_small_disk ? disk_.Mount(standby_) : "";
    if (!problem.empty()) {
      printf("skipped: a small disk: %s\n", problem.c_str());
      return false;
    }
    SyncPoint::GetInstance()->SetCallBack("Spill::Append", [this](void* status) {
      if (full_) {
        *static_cast<IOStatus*>(status) = IOStatus::NoSpace("the standby");
      }
    });
    Renew();
    return true;
  }
  void Renew() {
    NewFs(WithStandby());
    env_ = NewCompositeEnv(std::make_shared<UnknownFreeSpace>(fs_));
    Options options = DbOptions();
    options.max_bgerror_resume_count = 0;
    Open(options);
  }
  // Can be called again.
  void Fill() {
    if (!GetParam()) {
      full_ = true;
      return;
    }
    std::ofstream filler(standby_ + "/filler", std::ios::binary);
    const std::string block(4096, 'f');
    while (filler << block << std::flush) {
    }
  }
  // The last page of a file has room for a small one.
  Status PutWithSync(const std::string& key) {
    WriteOptions sync;
    sync.sync = true;
    return db_->Put(sync, key, std::string(10000, 'v'));
  }
  // The device is back, and the disk of the standby as full as before.
  void ResumeAndCheck() {
    trouble_.End();
    ASSERT_TRUE(AwaitHealth());
    ASSERT_TRUE(WaitFor([this] { return db_->Resume().ok(); }));
    Write(10);
    Check();
    Renew();
    Check();
  }
  // The same, with an opening instead.
  void ReopenAndCheck() {
    trouble_.End();
    Renew();
    Check();
    ASSERT_TRUE(AwaitHealth());
    Write(10);
    Check();
  }

 private:
  SmallDisk disk_;
  std::atomic<bool> full_{false};

 protected:
  Trouble trouble_;
};

TEST_P(RawWalFullStandbyTest, AWriteThatWouldGoOnThereFails) {
  if (!Begin()) {
    return;
  }
  Write(10);
  Fill();
  trouble_.Stall();
  const Status s = PutWithSync("fails");
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("nor can the log go on in standby="), std::string::npos)
      << s.ToString();
  EXPECT_NE(s.ToString().find("No space left on device"), std::string::npos) << s.ToString();
  EXPECT_FALSE(PutWithSync("fails").ok()) << "before it resumes";
  Check();
  ResumeAndCheck();
}

TEST_P(RawWalFullStandbyTest, AWriteToALogThatIsThereFails) {
  if (!Begin()) {
    return;
  }
  Write(10);
  trouble_.Stall();
  Write(10);
  EXPECT_EQ(Stats().failovers, 1u);
  Fill();
  const Status s = PutWithSync("fails");
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_FALSE(PutWithSync("fails").ok()) << "before it resumes";
  Check();
  ResumeAndCheck();
}

TEST_P(RawWalFullStandbyTest, WhatWasAcknowledgedIsThereAfterAReopenInsteadOfAResume) {
  if (!Begin()) {
    return;
  }
  Write(10);
  trouble_.Stall();
  Write(10);
  Fill();
  EXPECT_FALSE(PutWithSync("fails").ok());
  ReopenAndCheck();
  // Before anything of the log is there.
  Fill();  // the old log is gone
  trouble_.Stall();
  EXPECT_FALSE(PutWithSync("fails").ok());
  ReopenAndCheck();
}

INSTANTIATE_TEST_CASE_P(Disk, RawWalFullStandbyTest, ::testing::Values(true, false),
                        [](const auto& each) {
                          return std::string(each.param ? "Small" : "Failing");
                        });

TEST_F(RawWalStandbyTest, AFileSystemThatStandsStill) {
  MountedDisk disk(Trouble::Where::kDevice);
  if (!Mount(&disk)) {
    return;
  }
  device_ = folder_ + "/disk/device";
  NewFs(WithStandby());
  Open();
  Write(20);
  ASSERT_TRUE(disk.Freeze());
  const auto begin = std::chrono::steady_clock::now();
  Write(20);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(20);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(Stats().failovers, 2u);
  ASSERT_TRUE(disk.Thaw());
  EXPECT_LT(took, std::chrono::seconds(120)) << "the disk stood still until now";
  ASSERT_TRUE(AwaitHealth());
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(20);
  EXPECT_EQ(Stats().failovers, 2u);
  Reopen();
  Check();
  db_.reset();
  env_.reset();
  fs_.reset();
}

// Without sync a thread of the log writes to the device.
TEST_F(RawWalStandbyTest, AFileSystemThatStandsStillForWritesWithoutSync) {
  MountedDisk disk(Trouble::Where::kDevice);
  if (!Mount(&disk)) {
    return;
  }
  device_ = folder_ + "/disk/device";
  NewFs(WithStandby());
  Open();
  const std::string value(20000, 'v');
  bool in_time = false;
  {
    FrozenFor frozen(&disk, std::chrono::seconds(120));
    for (int i = 0; i < 300; i++) {
      const std::string key = "key" + std::to_string(i);
      ASSERT_OK(db_->Put(WriteOptions(), key, value));
      written_[key] = value;
      if (i % 100 == 99) {
        ASSERT_OK(db_->Flush(FlushOptions()));
      }
    }
    in_time = frozen.still();
  }
  EXPECT_TRUE(in_time);
  EXPECT_GT(Stats().failovers, 0u);
  Reopen();
  Check();
  db_.reset();
  env_.reset();
  fs_.reset();
}

TEST_F(RawWalStandbyTest, BothWritersWriteAndTellErrors) {
  for (const bool ring : {true, false}) {
    SyncPoint::GetInstance()->SetCallBack("PatientWriter::New", [ring](void* may_use_ring) {
      *static_cast<bool*>(may_use_ring) = ring;
    });
    SyncPoint::GetInstance()->EnableProcessing();
    NewFs(WithStandby());
    Open();
    Write(50);
    EXPECT_EQ(Stats().failovers, 0u) << "no error, and nothing that took so long";
    EXPECT_GT(Stats().syncs, 0u);
    Reopen();
    Check();
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
  }
}

TEST_F(RawWalFailoverTest, AStallOfTheDeviceIsNoneOfWrites) {
  Write(10);
  EXPECT_EQ(Stats().failovers, 0u);
  EXPECT_EQ(InStandby(), 0);
  trouble_.Stall();
  Write(20);
  EXPECT_GE(trouble_.waiting(), 1);
  EXPECT_LE(trouble_.waiting(), 2)
      << "no write of this log but the one that was given up, and a question each second";
  EXPECT_EQ(Stats().failovers, 1u);
  EXPECT_EQ(Stats().stalls, 1u);
  EXPECT_EQ(Stats().stalled, 1u);
  EXPECT_EQ(InStandby(), 1);
  Check();
  // A log that is begun while the device stalls waits for nothing.
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  EXPECT_EQ(Stats().failovers, 2u);
  trouble_.End();
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, NewLogsComeBackAndDeletedOnesGo) {
  Write(10);
  trouble_.Stall();
  Write(10);
  // The log is deleted while a write to it may still come: it keeps its segment.
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  EXPECT_TRUE(WaitFor([this] { return trouble_.waiting() >= 2; })) << "it is asked each second";
  EXPECT_GE(Stats().segments_used, 1u);
  trouble_.End();
  ASSERT_TRUE(AwaitHealth());
  ASSERT_OK(db_->Flush(FlushOptions()));
  const uint64_t failovers = Stats().failovers;
  Write(10);
  EXPECT_EQ(Stats().failovers, failovers);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(1);
  EXPECT_TRUE(WaitFor([this] { return InStandby() == 0 && Stats().segments_used == 1; }))
      << InStandby() << " files, " << Stats().segments_used << " segments";
  Check();
  Reopen();
  Check();
}

// New logs go to the standby meanwhile, which says nothing of the device.
TEST_F(RawWalFailoverTest, ManyNewLogsDoNotKeepItFromComingBack) {
  db_.reset();
  NewFs("standby=" + standby_ + ";" + kLongLatency + ";failback_after=2");
  Open();
  trouble_.Stall();
  Write(5);
  trouble_.End();
  EXPECT_TRUE(WaitFor([this] {
    Write(1);
    EXPECT_OK(db_->Flush(FlushOptions()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Stats().stalled == 0;
  }));
  EXPECT_EQ(Stats().stalls, 1u);
}

TEST_F(RawWalFailoverTest, UnsyncedBytesGoAlong) {
  WriteOptions no_sync;
  for (int i = 0; i < 300; i++) {
    const std::string key = "unsynced" + std::to_string(i);
    const std::string value(static_cast<size_t>(1 + i * 31 % 5000), 'u');
    ASSERT_OK(db_->Put(no_sync, key, value));
    written_[key] = value;
    if (i == 100) {
      ASSERT_OK(db_->FlushWAL(/*sync=*/false));
    }
    if (i == 150) {
      trouble_.Stall();
    }
  }
  Write(3);
  EXPECT_EQ(Stats().failovers, 1u);
  trouble_.End();
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, ReadersOfTheLogSeeAllOfIt) {
  Write(50);
  trouble_.Stall();
  Write(50);
  trouble_.End();
  CheckUpdates();
}

// GetUpdatesSince() reads the device, which has no limit.
TEST_F(RawWalFailoverTest, AReaderThatWaitsIsTheOnlyOne) {
  Options options = DbOptions();
  options.WAL_ttl_seconds = 3600;  // the logs stay
  Open(options);
  Write(50);
  trouble_.Stall();
  std::unique_ptr<TransactionLogIterator> updates;
  std::future<Status> reader =
      std::async(std::launch::async, [&] { return db_->GetUpdatesSince(1, &updates); });
  EXPECT_TRUE(WaitFor([this] { return trouble_.waiting() >= 1; }));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; i++) {
    Write(10);
    EXPECT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
  EXPECT_EQ(reader.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  trouble_.End();
  ASSERT_OK(reader.get());
  size_t count = 0;
  for (; updates->Valid(); updates->Next()) {
    count++;
  }
  EXPECT_GE(count, 50u);
  const Status s = updates->status();  // the newest log is the next iterator's
  EXPECT_TRUE(s.ok() || s.IsTryAgain()) << s.ToString();
  updates.reset();
  Check();
}

TEST_F(RawWalFailoverTest, TheSizeOfAnArchivedLogIsInItsStub) {
  Options options = DbOptions();
  options.WAL_ttl_seconds = 3600;
  Open(options);
  Write(20);
  const std::string log = NewestLog();
  uint64_t written = 0;
  ASSERT_OK(fs_->GetFileSize(log, IOOptions(), &written, nullptr));
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(1);
  ASSERT_OK(db_->Flush(FlushOptions()));  // nobody has the first one open any more
  const std::string archived = db_name_ + "/archive" + log.substr(log.rfind('/'));
  ASSERT_TRUE(WaitFor([&] { return std::filesystem::exists(archived); }));
  trouble_.Stall();
  uint64_t size = 0;
  std::future<IOStatus> asked = std::async(
      std::launch::async, [&] { return fs_->GetFileSize(archived, IOOptions(), &size, nullptr); });
  EXPECT_EQ(asked.wait_for(std::chrono::seconds(120)), std::future_status::ready);
  trouble_.End();
  ASSERT_OK(asked.get());
  EXPECT_EQ(size, written);
  // That of another database's log is none of it, as ever.
  std::filesystem::create_directories(folder_ + "/other/archive");
  const std::string copy = folder_ + "/other/archive" + log.substr(log.rfind('/'));
  std::filesystem::copy_file(archived, copy);
  EXPECT_FALSE(fs_->GetFileSize(copy, IOOptions(), &size, nullptr).ok());
}

// With WAL_size_limit_MB RocksDB asks for the sizes of archived logs after a flush, and flushes not
// again before it has them.
TEST_F(RawWalFailoverTest, NoFlushWaitsForTheSizesOfArchivedLogs) {
  Options options = DbOptions();
  options.WAL_size_limit_MB = 1000;
  options.WAL_ttl_seconds = 6;  // it looks every 3 seconds
  Open(options);
  Write(10);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(1);
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  trouble_.Stall();
  FlushOptions no_wait;
  no_wait.wait = false;
  const auto is_idle = [this] {
    uint64_t running = 1;
    uint64_t pending = 1;
    EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kNumRunningFlushes, &running));
    EXPECT_TRUE(db_->GetIntProperty(DB::Properties::kMemTableFlushPending, &pending));
    return running + pending == 0;
  };
  for (int i = 0; i < 3; i++) {
    Write(1);
    ASSERT_OK(db_->Flush(no_wait));
    ASSERT_TRUE(WaitFor(is_idle, std::chrono::seconds(120))) << i;
  }
  trouble_.End();
  Check();
}

TEST_F(RawWalFailoverTest, ADeviceThatFailsIsTheSame) {
  Write(10);
  trouble_.Fail();
  Write(10);
  EXPECT_EQ(Stats().failovers, 1u);
  EXPECT_GE(Stats().io_errors, 1u);
  Check();
  trouble_.End();
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, WithBothBrokenItFailsAndResumesWhenOneIsBack) {
  Write(10);
  std::filesystem::rename(standby_, standby_ + "-away");
  trouble_.Fail();
  WriteOptions sync;
  sync.sync = true;
  const Status s = db_->Put(sync, "fails", "v");
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("standby="), std::string::npos) << s.ToString();
  EXPECT_FALSE(db_->Put(sync, "fails", "v").ok());
  std::filesystem::rename(standby_ + "-away", standby_);
  ASSERT_TRUE(WaitFor([this] { return db_->Resume().ok(); }));
  Write(10);
  Check();
  trouble_.End();
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, AnotherDirectoryInItsPlaceIsNotWrittenTo) {
  Write(10);
  std::filesystem::rename(standby_, standby_ + "-away");  // as when its disk is unmounted
  std::filesystem::create_directory(standby_);
  trouble_.Stall();
  WriteOptions sync;
  sync.sync = true;
  const Status s = db_->Put(sync, "fails", "v");
  EXPECT_NE(s.ToString().find("was it unmounted"), std::string::npos) << s.ToString();
  std::filesystem::remove_all(standby_);
  std::filesystem::rename(standby_ + "-away", standby_);
  ASSERT_TRUE(WaitFor([this] { return db_->Resume().ok(); }));
  Write(10);
  trouble_.End();
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, WhatIsMissingInTheStandbyIsMissed) {
  Write(10);
  trouble_.Stall();
  Write(10);
  trouble_.End();
  db_.reset();
  const std::string path = FramesFile();
  std::filesystem::rename(path, folder_ + "/away");
  ExpectRefused("goes on in standby=");
  std::filesystem::copy_file(folder_ + "/away", path);
  std::filesystem::resize_file(path, 8192);
  ExpectRefused("less: its end is damaged");
  std::filesystem::resize_file(path, 100);
  ExpectRefused("goes on in standby=");
  std::filesystem::rename(folder_ + "/away", path);
  std::filesystem::rename(standby_ + "/STANDBY", folder_ + "/mark");
  ExpectRefused("is not that one");
  EXPECT_FALSE(std::filesystem::exists(standby_ + "/STANDBY")) << "it holds frames";
  std::filesystem::rename(folder_ + "/mark", standby_ + "/STANDBY");
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, WithoutTheStandbyWhatThereIsIsExported) {
  Write(10);
  trouble_.Stall();
  Write(10);
  trouble_.End();
  db_.reset();
  fs_.reset();
  env_.reset();
  std::filesystem::remove_all(standby_);
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  uint64_t logs = 0;
  EXPECT_FALSE(raw_wal_fs::ExportLogs(options, db_name_, &logs).ok());
  options.force = true;
  Status s;
  ASSERT_TRUE(WaitFor([&] {  // until the write that was given up has ended
    s = raw_wal_fs::ExportLogs(options, db_name_, &logs);
    return !s.IsBusy();
  }));
  ASSERT_OK(s);
  EXPECT_EQ(logs, 1u);
  Options plain;
  ASSERT_OK(OpenDb(plain, db_name_, &db_));
  EXPECT_EQ(Get("key9"), written_["key9"]) << "of the device";
}

TEST_F(RawWalFailoverTest, ADamagedFrameIsMissed) {
  trouble_.Stall();
  Write(20);
  trouble_.End();
  db_.reset();
  std::fstream file(FramesFile(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3 * 4096 + 100);
  file << "damage";
  file.close();
  // As after a loss of power that took the word behind the last sync.
  std::fstream stub(NewestLog(), std::ios::in | std::ios::out | std::ios::binary);
  stub.seekp(4088);
  stub.write("\0\0\0\0\0\0\0\0", 8);
  stub.close();
  ExpectRefused("orruption");
}

TEST_F(RawWalFailoverTest, DatabasesOfOneDeviceShareTheStandby) {
  std::shared_ptr<FileSystem> other_fs;
  ASSERT_OK(FileSystem::CreateFromString(ConfigOptions(), Uri(WithStandby()), &other_fs));
  const std::unique_ptr<Env> other_env = NewCompositeEnv(other_fs);
  Options options = DbOptions();
  options.env = other_env.get();
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(options, folder_ + "/other", &other));
  WriteOptions sync;
  sync.sync = true;
  trouble_.Stall();
  Write(10);
  for (int i = 0; i < 10; i++) {
    ASSERT_OK(other->Put(sync, "key" + std::to_string(i), "other"));
  }
  EXPECT_EQ(InStandby(), 2);
  trouble_.End();
  other.reset();
  Reopen();
  Check();
  ASSERT_OK(OpenDb(options, folder_ + "/other", &other));
  EXPECT_EQ(Get(other.get(), "key9"), "other");
}

TEST_F(RawWalFailoverTest, NobodyWaitsForADeletion) {
  Write(10);
  trouble_.Stall();  // nobody has found out
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_TRUE(WaitFor([this] { return Stats().stalled == 1; })) << "a header took too long";
  Write(10);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  db_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
  trouble_.End();
  Reopen();
  Check();
  // What could not be deleted goes with later logs.
  EXPECT_TRUE(WaitFor([this] {
    Write(1);
    EXPECT_OK(db_->Flush(FlushOptions()));
    return Stats().segments_used <= 1 && InStandby() == 0;
  })) << Stats().segments_used
      << " segments, " << InStandby() << " files";
}

TEST_F(RawWalFailoverTest, NobodyWaitsForTheSizeOfADeletedLog) {
  db_.reset();
  Options options = DbOptions();
  std::shared_ptr<Logger> log;
  options.sst_file_manager.reset(
      NewSstFileManager(env_.get(), log, "", /*rate_bytes_per_sec=*/1 << 20, true, nullptr, 0.25));
  Open(options);
  Write(10);
  trouble_.Stall();
  Write(10);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(db_->Flush(FlushOptions()));
    Write(10);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(120));
  trouble_.End();
  Check();
  db_.reset();
  options.sst_file_manager.reset();
}

// Its log has nothing on the device, and the directory of its stub is not mounted.
TEST_F(RawWalFailoverTest, AWalDirThatIsNotMountedHasALogInTheStandby) {
  db_name_ = folder_ + "/other";
  const std::string wal = folder_ + "/wal";
  Options options = DbOptions();
  options.wal_dir = wal;
  Open(options);
  trouble_.Stall();
  Write(1);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  trouble_.End();
  ASSERT_TRUE(AwaitHealth());
  Close();  // deletes the first log, too
  const std::string id = Alone().id;
  ASSERT_NE(id, "");
  std::filesystem::rename(wal, wal + "-away");
  NewFs(WithStandby());
  options.env = env_.get();
  const Status s = OpenDb(options, db_name_, &db_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("log " + id + ", created as " + wal), std::string::npos)
      << s.ToString();
  NewFs(WithStandby());
  std::filesystem::remove_all(wal);
  std::filesystem::rename(wal + "-away", wal);
  options.env = env_.get();
  Open(options);
  Check();
}

TEST_F(RawWalFailoverTest, ItOpensWithItsStandbyOnly) {
  trouble_.Stall();
  Write(10);
  trouble_.End();
  db_.reset();
  const std::string other = folder_ + "/other";
  for (const std::string& more : {std::string(), "standby=" + other, "standby=" + other}) {
    NewFs(more);
    const Status s = OpenDb(DbOptions(), db_name_, &db_);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("standby"), std::string::npos) << s.ToString();
    std::filesystem::create_directory(other);
  }
  NewFs("standby=" + standby_);
  Open();
  Check();
  // The standby of one device is no other's.
  const std::string device = device_;
  device_ = folder_ + "/device2";
  db_.reset();
  NewFs("standby=" + standby_);
  const Status s = OpenDb(DbOptions(), folder_ + "/db2", &db_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("another log device"), std::string::npos) << s.ToString();
  device_ = device;
}

TEST_F(RawWalFailoverTest, ACopyIsRefused) {
  trouble_.Stall();
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  trouble_.End();
  db_.reset();
  NewFs(WithStandby());
  std::filesystem::copy(db_name_, db_name_ + "2", std::filesystem::copy_options::recursive);
  const Status s = OpenDb(DbOptions(), db_name_ + "2", &db_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("is a copy of"), std::string::npos) << s.ToString();
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, ACopyIsAdopted) {
  Write(10);
  trouble_.Stall();
  Write(10);
  ASSERT_OK(db_->PauseBackgroundWork());
  trouble_.End();
  db_.reset();
  fs_.reset();
  env_.reset();
  std::filesystem::copy(db_name_, db_name_ + "2", std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(db_name_);
  db_name_ += "2";
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  raw_wal_fs::RawWalAdoption adoption;
  Status s = raw_wal_fs::AdoptLogs(options, db_name_, &adoption);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  options.standby = standby_;
  options.force = true;
  ASSERT_TRUE(WaitFor([&] {  // until the write that was given up has ended
    s = raw_wal_fs::AdoptLogs(options, db_name_, &adoption);
    return !s.IsBusy();
  }));
  ASSERT_OK(s);
  EXPECT_EQ(adoption.foreign.size(), 1u);
  EXPECT_TRUE(adoption.missing.empty());
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, NothingIsAdoptedWhileAnotherProcessHasTheStandby) {
  trouble_.Stall();
  Write(10);
  trouble_.End();
  Close();
  std::filesystem::copy(db_name_, db_name_ + "2", std::filesystem::copy_options::recursive);
  std::filesystem::remove_all(db_name_);
  db_name_ += "2";
  raw_wal_fs::RawWalOptions options = ToolOptions();
  options.force = true;
  raw_wal_fs::RawWalAdoption adoption;
  const std::string before = ReadAll(FramesFile());
  {
    const OtherWriter other(standby_);
    for (const bool dry_run : {true, false}) {
      options.dry_run = dry_run;
      const Status s = raw_wal_fs::AdoptLogs(options, db_name_, &adoption);
      EXPECT_TRUE(s.IsBusy()) << s.ToString();
      EXPECT_NE(s.ToString().find("in another process"), std::string::npos) << s.ToString();
      EXPECT_NE(s.ToString().find("STANDBY.lock"), std::string::npos) << s.ToString();
    }
  }
  EXPECT_EQ(ReadAll(FramesFile()), before);
  Status s;
  ASSERT_TRUE(WaitFor([&] {  // until the write that was given up has ended
    s = raw_wal_fs::AdoptLogs(options, db_name_, &adoption);
    return !s.IsBusy();
  }));
  ASSERT_OK(s);
  EXPECT_EQ(adoption.foreign.size(), 1u);
  EXPECT_NE(ReadAll(FramesFile()), before);
  Reopen();
  Check();
}

TEST_F(RawWalFailoverTest, LogsInTheStandbyAreExported) {
  trouble_.Stall();
  Write(10);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);  // in the standby alone
  trouble_.End();
  ASSERT_TRUE(AwaitHealth());
  db_.reset();  // deletes the first log, too
  fs_.reset();
  env_.reset();
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  uint64_t logs = 0;
  EXPECT_FALSE(raw_wal_fs::ExportLogs(options, db_name_, &logs).ok());
  options.standby = standby_;
  ASSERT_OK(raw_wal_fs::ExportLogs(options, db_name_, &logs));
  EXPECT_GE(logs, 1u);
  EXPECT_EQ(InStandby(), 0);
  Options plain;
  ASSERT_OK(OpenDb(plain, db_name_, &db_));
  Check();
}

TEST_F(RawWalFailoverTest, AFileThatNobodyNamesIsListedAndRemoved) {
  Write(10);
  trouble_.Stall();
  Write(10);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(1);  // in the standby alone
  trouble_.End();
  Close();
  const std::filesystem::path stub = NewestLog();
  const raw_wal_fs::RawWalLogInfo used = Alone();
  ASSERT_TRUE(used.in_standby);
  const std::string frames = standby_ + "/" + used.id + ".frames";
  EXPECT_EQ(used.standby_bytes, std::filesystem::file_size(frames));
  EXPECT_GT(used.standby_time, 0u);
  EXPECT_EQ(std::filesystem::path(used.file).filename(), stub.filename());
  EXPECT_EQ(std::filesystem::path(used.name).filename(), stub.filename());
  EXPECT_FALSE(used.missing);
  raw_wal_fs::RawWalOptions options = ToolOptions();
  ExpectKept(options, used.id, "is in use");
  options.standby.clear();
  ExpectKept(options, used.id, "has no log");
  options.standby = standby_;

  // As when the log is deleted while the disk of the standby is not mounted.
  std::filesystem::remove(stub);
  Reopen();
  Close();
  EXPECT_TRUE(std::filesystem::exists(frames)) << "opening deletes nothing";
  const raw_wal_fs::RawWalLogInfo left = Alone();
  EXPECT_EQ(left.id, used.id);
  EXPECT_EQ(left.name, used.name);
  EXPECT_TRUE(left.missing);
  // The directory may be elsewhere, or not mounted.
  std::filesystem::rename(db_name_, db_name_ + "-away");
  EXPECT_FALSE(Alone().missing);
  EXPECT_NE(Alone().unknown, "");
  ExpectKept(options, left.id, "may be in use");
  std::filesystem::rename(db_name_ + "-away", db_name_);
  {
    const OtherWriter other(standby_);
    ExpectKept(options, left.id, "STANDBY.lock");
  }
  EXPECT_TRUE(std::filesystem::exists(frames));

  std::vector<raw_wal_fs::RawWalLogInfo> removed;
  options.dry_run = true;
  ASSERT_OK(raw_wal_fs::RemoveLogs(options, {left.id}, &removed));
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(frames));
  options.dry_run = false;
  ASSERT_OK(raw_wal_fs::RemoveLogs(options, {left.id}, &removed));
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_EQ(removed[0].standby_bytes, left.standby_bytes);
  EXPECT_FALSE(std::filesystem::exists(frames));
  EXPECT_EQ(Alone().id, "");
  Reopen();
  EXPECT_EQ(Get("key0"), written_["key0"]);
}

TEST_F(RawWalFailoverTest, AFileThatDoesNotSayWhoseItIsIsRemovedByForceOnly) {
  Write(1);
  Close();
  const std::string id(32, 'f');
  const std::string frames = standby_ + "/" + id + ".frames";
  raw_wal_fs::RawWalOptions options = ToolOptions();
  std::vector<raw_wal_fs::RawWalLogInfo> removed;
  // A loss of power may leave nothing but the name.
  for (const std::string& contents : {std::string(), std::string(5000, 'x')}) {
    std::ofstream(frames) << contents;
    const raw_wal_fs::RawWalLogInfo log = Alone();
    EXPECT_EQ(log.id, id);
    EXPECT_EQ(log.standby_bytes, contents.size());
    EXPECT_FALSE(log.missing);
    EXPECT_NE(log.unknown.find("does not say whose"), std::string::npos) << log.unknown;
    EXPECT_EQ(log.problem.empty(), contents.empty()) << log.problem;
    options.force = false;
    ExpectKept(options, id, "does not say whose");
    EXPECT_TRUE(std::filesystem::exists(frames));
    options.force = true;
    ASSERT_OK(raw_wal_fs::RemoveLogs(options, {id}, &removed));
    EXPECT_EQ(removed.size(), 1u);
    EXPECT_FALSE(std::filesystem::exists(frames));
  }
  // No tool makes a directory a standby.
  options.standby = folder_ + "/other";
  std::filesystem::create_directory(options.standby);
  ExpectKept(options, id, "has no file STANDBY");
  raw_wal_fs::RawWalDeviceInfo info;
  const Status s =
      raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info, nullptr, options.standby);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_TRUE(std::filesystem::is_empty(options.standby));
}

TEST_F(RawWalFailoverTest, BothPartsOfALogAreRemoved) {
  Write(10);
  trouble_.Stall();
  Write(10);
  trouble_.End();
  Close();
  std::filesystem::remove(NewestLog());
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info, nullptr, standby_));
  ASSERT_EQ(info.logs.size(), 1u);
  EXPECT_GT(info.logs[0].segments, 0u);
  EXPECT_TRUE(info.logs[0].in_standby);
  EXPECT_TRUE(info.logs[0].missing);
  std::vector<raw_wal_fs::RawWalLogInfo> removed;
  Status s;
  ASSERT_TRUE(WaitFor([&] {  // until the write that was given up has ended
    s = raw_wal_fs::RemoveLogs(ToolOptions(), {info.logs[0].id}, &removed);
    return !s.IsBusy();
  }));
  ASSERT_OK(s);
  EXPECT_EQ(InStandby(), 0);
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info, nullptr, standby_));
  EXPECT_EQ(info.segments_used, 0u);
  EXPECT_TRUE(info.logs.empty());
}

// Directories cannot be synced while it says so.
class NoSyncFs : public FileSystemWrapper {
 public:
  NoSyncFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "NoSyncFs"; }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    if (broken) {
      return IOStatus::IOError(path, "no disk");
    }
    opened++;
    return FileSystemWrapper::NewDirectory(path, options, result, dbg);
  }

  bool broken = false;
  int opened = 0;
};

// A stub that names a standby without its mark would keep its database from being opened.
TEST_F(RawWalStandbyTest, TheMarkIsDurableBeforeAStubNamesIt) {
  const auto fs = std::make_shared<NoSyncFs>();
  const std::string uuid(raw_wal_fs::kUuidSize, 'u');
  std::shared_ptr<raw_wal_fs::Standby> standby;
  fs->broken = true;
  for (int i = 0; i < 2; i++) {  // the second time the mark is there
    const Status s = raw_wal_fs::Standby::OpenForWriting(fs, standby_, uuid, &standby);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_TRUE(std::filesystem::exists(standby_ + raw_wal_fs::Standby::kMarkName));
  }
  fs->broken = false;
  ASSERT_OK(raw_wal_fs::Standby::OpenForWriting(fs, standby_, uuid, &standby));
  EXPECT_EQ(fs->opened, 1);
}

// It has what this process has open, and ends without a word.
TEST_F(RawWalStandbyTest, AForkedChildDoesNotLetGoOfTheStandby) {
  const std::string uuid(raw_wal_fs::kUuidSize, 'u');
  std::shared_ptr<raw_wal_fs::Standby> standby;
  ASSERT_OK(raw_wal_fs::Standby::OpenForWriting(FileSystem::Default(), standby_, uuid, &standby));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    standby.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const int fd = open((standby_ + "/STANDBY.lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  EXPECT_NE(flock(fd, LOCK_EX | LOCK_NB), 0) << "another process could write to it";
  close(fd);
}

// Whoever did it without a thread would wait as long as the disk takes.
TEST_F(RawWalStandbyTest, WithoutAThreadNothingIsWaitedFor) {
  const auto fs = std::make_shared<NoSyncFs>();
  const std::string uuid(raw_wal_fs::kUuidSize, 'u');
  std::shared_ptr<raw_wal_fs::Standby> standby;
  ASSERT_OK(raw_wal_fs::Standby::OpenForWriting(fs, standby_, uuid, &standby));
  const std::string expected = "standby=" + standby_ + ": no thread to write to it";
  const raw_wal_fs::LogId log;
  {
    const NoThreads none;
    for (const Status& s :
         {raw_wal_fs::Standby::DeleteInTime(standby, log),
          raw_wal_fs::Standby::SyncInTime(standby, log, std::chrono::milliseconds(100))}) {
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      EXPECT_NE(s.ToString().find(expected), std::string::npos) << s.ToString();
    }
    EXPECT_TRUE(standby->answers());
  }
  standby.reset();
  fs->opened = 0;
  {
    const NoThreads none;
    const Status s = raw_wal_fs::Standby::OpenForWriting(fs, standby_, uuid, &standby);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find(expected), std::string::npos) << s.ToString();
  }
  EXPECT_EQ(fs->opened, 0) << "it was waited for";
  ASSERT_OK(raw_wal_fs::Standby::OpenForWriting(fs, standby_, uuid, &standby));
  EXPECT_EQ(fs->opened, 1);
}

TEST_F(RawWalStandbyTest, TheFileSystemMayBeAStaticObject) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        NewFs(WithStandby());
        Open();
        Write(1);
        db_.reset();
        kept_to_the_end = fs_;
        exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(RawWalFailoverTest, OptionsAreChecked) {
  for (const char* bad : {"standby=relative", "failover_latency=0", "failover_latency=60001",
                          "failback_after=86401"}) {
    std::shared_ptr<FileSystem> fs;
    const Status s = FileSystem::CreateFromString(ConfigOptions(), Uri(bad), &fs);
    EXPECT_TRUE(s.IsInvalidArgument()) << bad << ": " << s.ToString();
  }
}

}  // namespace
}  // namespace rocktier
