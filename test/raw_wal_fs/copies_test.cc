// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Logs on the device and in the standby at once: hedge=true and durable=both. Either of the two may
// stall, fail, be full, be lost, or be an older copy; what was acknowledged is there afterwards.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "test/raw_wal_fs/standby_support.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/no_threads.h"
#include "test/support/wait.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kHedge[] = "hedge=true";
constexpr char kMirror[] = "durable=both";
// For what is made to stall. The long one is longer than anything else takes here.
constexpr std::chrono::milliseconds kLong(30000);
constexpr std::chrono::milliseconds kShort(100);

// A FileSystem in which files that logs have in a standby cannot be synced for a while, once they
// are found.
class SlowSyncs : public FileSystemWrapper {
 public:
  SlowSyncs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "SlowSyncs"; }

  void Stall(bool stalls) {
    std::lock_guard<std::mutex> lock(mutex_);
    stalls_ = stalls;
    changed_.notify_all();
  }
  int waiting() {
    std::lock_guard<std::mutex> lock(mutex_);
    return waiting_;
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override {
    IOStatus s = target_->NewRandomRWFile(path, options, result, dbg);
    if (s.ok() && Slice(path).ends_with(".frames")) {
      *result = std::make_unique<File>(this, std::move(*result));
    }
    return s;
  }

 private:
  class File : public FSRandomRWFileOwnerWrapper {
   public:
    File(SlowSyncs* fs, std::unique_ptr<FSRandomRWFile>&& file)
        : FSRandomRWFileOwnerWrapper(std::move(file)), fs_(fs) {}
    IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
      fs_->Wait();
      return FSRandomRWFileOwnerWrapper::Fsync(options, dbg);
    }

   private:
    SlowSyncs* const fs_;
  };

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    waiting_++;
    changed_.wait(lock, [this] { return !stalls_; });
    waiting_--;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stalls_ = false;
  int waiting_ = 0;
};

class RawWalCopiesTest : public RawWalStandbyTest {
 protected:
  void TearDown() override {
    device_trouble_.End();
    standby_trouble_.End();
    RawWalStandbyTest::TearDown();
  }

  std::string WithStandby() const override {
    return "standby=" + standby_ + ";" + mode_ + ";failback_after=0;" + kLongLatency + more_;
  }
  // Opens the database. `patience`: with what stalls, of both.
  void Begin(const std::string& mode, std::chrono::milliseconds patience) {
    mode_ = mode;
    patience_ = patience;
    Reopen();
  }
  std::string InfoLog() const { return ReadAll(db_name_ + "/LOG"); }
  void ExpectInLog(const std::string& text) const {
    EXPECT_NE(InfoLog().find(text), std::string::npos) << text;
  }
  // Waits for logs that are not written any more to be closed.
  void ExpectOneDegraded() const {
    EXPECT_TRUE(WaitFor([this] { return Stats().degraded == 1; })) << Stats().degraded;
  }
  // Begins a log that has both again, as soon as both are well.
  void ExpectBothAgain() {
    ASSERT_TRUE(AwaitHealth());
    EXPECT_TRUE(WaitFor([this] {
      EXPECT_OK(db_->Flush(FlushOptions()));
      Write(1);
      return Stats().degraded == 0;
    }));
  }
  void CloseAndCheck() {
    device_trouble_.End();
    standby_trouble_.End();
    Reopen();
    Check();
  }
  // The database is closed: its logs become plain files, without one of the two.
  void ExportWithoutDevice() {
    raw_wal_fs::RawWalOptions options = ToolOptions();
    options.device = folder_ + "/gone";
    uint64_t logs = 0;
    EXPECT_FALSE(raw_wal_fs::ExportLogs(options, db_name_, &logs).ok()) << "nobody said so";
    options.force = true;
    ASSERT_OK(raw_wal_fs::ExportLogs(options, db_name_, &logs));
    EXPECT_GE(logs, 1u);
    EXPECT_FALSE(std::filesystem::exists(options.device));
    EXPECT_EQ(KeptStubs().size(), logs);
  }
  // Stubs that an export without the device has kept.
  std::vector<std::filesystem::path> KeptStubs() const {
    std::vector<std::filesystem::path> kept;
    for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
      if (entry.path().extension() == ".stub") {
        kept.push_back(entry.path());
      }
    }
    return kept;
  }
  // `is_needed`: as far as the stub knows.
  void ExportWithoutStandby(bool is_needed) {
    raw_wal_fs::RawWalOptions options = ToolOptions();
    options.standby = "";
    uint64_t logs = 0;
    if (is_needed) {
      EXPECT_FALSE(raw_wal_fs::ExportLogs(options, db_name_, &logs).ok()) << "nobody said so";
      options.force = true;
    }
    Status s;
    ASSERT_TRUE(WaitFor([&] {  // until a write that was given up has ended
      s = raw_wal_fs::ExportLogs(options, db_name_, &logs);
      return !s.IsBusy();
    }));
    ASSERT_OK(s);
    EXPECT_GE(logs, 1u);
  }
  void OpenPlain() {
    Options plain;
    plain.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
    plain.avoid_flush_during_recovery = true;
    ASSERT_OK(OpenDb(plain, db_name_, &db_));
  }
  // What is left of logs of which a part is lost.
  void OpenPlainWithHoles() {
    Options plain;
    plain.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
    ASSERT_OK(OpenDb(plain, db_name_, &db_));
  }
  // As after a loss of power that took the word behind the last sync.
  static void ForgetDurable(const std::string& stub) {
    std::fstream file(stub, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4088);
    file.write("\0\0\0\0\0\0\0\0", 8);
  }
  // Closes the database, and leaves all files as they were: as a process that is killed does.
  void Kill() {
    const std::filesystem::path kept = folder_ + "/kept";
    std::filesystem::create_directory(kept);
    for (const std::string& directory : {db_name_, standby_}) {
      std::filesystem::copy(directory, kept / std::filesystem::path(directory).filename());
    }
    std::filesystem::copy_file(device_, kept / "device");
    Close();
    for (const std::string& directory : {db_name_, standby_}) {  // which stay what they are
      for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        std::filesystem::remove(entry.path());
      }
      std::filesystem::copy(kept / std::filesystem::path(directory).filename(), directory);
    }
    std::filesystem::copy_file(kept / "device", device_,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove_all(kept);
  }
  void PutWithoutSync(const std::string& key) {
    Put(key, "v", /*sync=*/false);
    written_[key] = "v";
  }
  // Opens the database over that FileSystem, where syncs of what is found may take kShort; its logs
  // stay.
  void OpenOver(const std::shared_ptr<FileSystem>& target, raw_wal_fs::Durable durable) {
    raw_wal_fs::RawWalOptions wal = ToolOptions();
    wal.durable = durable;
    wal.failover_latency = static_cast<uint64_t>(kLong.count());
    wal.failback_after = 0;
    SyncPoint::GetInstance()->SetCallBack("RawWalFileSystem::KeepFound:Limit", [](void* limit) {
      *static_cast<std::chrono::milliseconds*>(limit) = kShort;
    });
    ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(wal, target, &fs_));
    env_ = NewCompositeEnv(fs_);
    Options options = DbOptions();
    options.avoid_flush_during_recovery = true;
    Open(options);
  }
  // Damages a frame of a log on the device, not in its last segment, and too large to have been
  // written twice.
  void DamageLargeFrame(const std::string& id) {
    raw_wal_fs::RawWalDeviceInfo info;
    ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
    for (const raw_wal_fs::RawWalLogInfo& log : info.logs) {
      for (const raw_wal_fs::RawWalFrame& frame : log.frames) {
        if (log.id == id && frame.length > 5000) {
          EXPECT_LT(frame.offset + 2 * info.segment_size, log.bytes);
          std::fstream file(device_, std::ios::in | std::ios::out | std::ios::binary);
          file.seekp(static_cast<std::streamoff>(frame.position + 1000));
          file << "something else";
          return;
        }
      }
    }
    FAIL() << "has no large frame";
  }
  static raw_wal_fs::Stub StubAt(const std::string& path) {
    raw_wal_fs::Stub stub;
    EXPECT_OK(
        raw_wal_fs::Stub::Decode(ReadAll(path).substr(0, raw_wal_fs::Stub::kSize), path, &stub));
    return stub;
  }
  Status PutWithSync(const std::string& key) {
    WriteOptions sync;
    sync.sync = true;
    return db_->Put(sync, key, "v");
  }

  std::string mode_;
  std::string more_;
  Trouble device_trouble_{Trouble::Where::kDevice};
  Trouble standby_trouble_{Trouble::Where::kStandby};
};

// The same in both modes.
class RawWalBothModesTest : public RawWalCopiesTest,
                            public ::testing::WithParamInterface<const char*> {
 protected:
  void Begin(std::chrono::milliseconds patience) { RawWalCopiesTest::Begin(GetParam(), patience); }
};

using Clock = std::chrono::steady_clock;

TEST_P(RawWalBothModesTest, BothHaveIt) {
  Begin(kLong);
  Write(100);
  EXPECT_EQ(InStandby(), 1);
  EXPECT_EQ(Stats().failovers, 0u);
  EXPECT_EQ(Stats().copies_lost, 0u);
  EXPECT_EQ(Stats().degraded, 0u);
  Check();
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(100);
  EXPECT_TRUE(WaitFor([this] { return InStandby() == 1 && Stats().segments_used < 40; }))
      << "deleted logs go, here and there";
  CloseAndCheck();
  // With the options of a mere standby, too, and the other way round.
  mode_ = "durable=one";
  Reopen();
  Check();
  Write(10);
  Begin(kLong);
  Check();
}

TEST_P(RawWalBothModesTest, UnsyncedBytesAndManyThreads) {
  more_ = ";tail_size=32K";
  Begin(kLong);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 100; i++) {
        WriteOptions options;
        options.sync = i % 3 == 0;
        const std::string key = std::to_string(t) + "-" + std::to_string(i);
        EXPECT_OK(db_->Put(options, key, std::string(static_cast<size_t>(i) * 97, 'v')));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 100; i++) {
      written_[std::to_string(t) + "-" + std::to_string(i)] =
          std::string(static_cast<size_t>(i) * 97, 'v');
    }
  }
  ASSERT_OK(db_->FlushWAL(/*sync=*/true));
  EXPECT_EQ(Stats().copies_lost, 0u);
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, TheDeviceStalls) {
  Begin(kShort);
  Write(10);
  device_trouble_.Stall();
  const auto begin = Clock::now();
  Write(20);
  EXPECT_TRUE(WaitFor([this] { return Stats().failovers == 1; }));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(120));
  EXPECT_EQ(Stats().copies_lost, 1u);
  EXPECT_EQ(Stats().degraded, 1u);
  ExpectInLog("goes on in standby=");
  Check();
  Write(20);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);  // begins in the standby alone
  ExpectOneDegraded();
  Check();
  device_trouble_.End();
  ExpectBothAgain();
  Write(10);
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, TheDeviceFails) {
  Begin(kLong);
  Write(10);
  device_trouble_.Fail();
  Write(20);
  EXPECT_TRUE(WaitFor([this] { return Stats().degraded == 1; }));
  Check();
  device_trouble_.End();
  ExpectBothAgain();
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, TheStandbyFails) {
  Begin(kLong);
  Write(10);
  standby_trouble_.Fail();
  Write(20);
  EXPECT_TRUE(WaitFor([this] {
    Write(1);  // a hedge finds out with the next one
    return Stats().degraded == 1;
  }));
  ExpectInLog("alone: IO error");
  EXPECT_EQ(Stats().failovers, 0u);
  Check();
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);  // begins on the device alone
  ExpectOneDegraded();
  // The log is whole without what is there.
  CloseAndCheck();
  standby_trouble_.End();
  ExpectBothAgain();
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, TheStandbyStalls) {
  Begin(kShort);
  Write(10);
  standby_trouble_.Stall();
  const auto begin = Clock::now();
  for (int i = 0; i < 100 && Stats().degraded == 0; i++) {
    Write(20);  // a hedge waits when what is to be written there has no room any more
  }
  EXPECT_EQ(Stats().degraded, 1u);
  EXPECT_EQ(Stats().copies_lost, 1u);
  EXPECT_EQ(Stats().failovers, 0u);
  ExpectInLog("alone: Operation timed out");
  Check();
  Write(20);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);  // begins on the device alone, and waits for nothing
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(120));
  Check();
  standby_trouble_.End();
  ExpectBothAgain();
  EXPECT_TRUE(WaitFor([this] {
    EXPECT_OK(db_->Flush(FlushOptions()));
    Write(1);
    return InStandby() == 1;
  })) << "what could not be deleted is deleted later";
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, WithBothBrokenItFailsAndResumesWhenOneIsBack) {
  for (const bool device_is_back : {true, false}) {
    Begin(kLong);
    Write(10);
    device_trouble_.Fail();
    standby_trouble_.Fail();
    const Status s = PutWithSync("fails");
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_FALSE(PutWithSync("fails").ok());
    (device_is_back ? device_trouble_ : standby_trouble_).End();
    // RocksDB resumes by itself, too: with a log that has neither if both were broken still. The
    // first write finds that out.
    ASSERT_TRUE(WaitFor([this] { return db_->Resume().ok() && PutWithSync("resumes").ok(); }));
    Write(10);
    Check();
    ExpectOneDegraded();
    CloseAndCheck();
  }
}

// One after the other, in the same log: the first to fail is not gone on with.
TEST_P(RawWalBothModesTest, TheOtherOneFailsLater) {
  for (const bool device_first : {true, false}) {
    Begin(kLong);
    Write(10);
    Trouble& first = device_first ? device_trouble_ : standby_trouble_;
    Trouble& second = device_first ? standby_trouble_ : device_trouble_;
    first.Fail();
    EXPECT_TRUE(WaitFor([this] {
      Write(1);
      return Stats().degraded == 1;
    }));
    Write(10);
    first.End();
    second.Fail();
    EXPECT_FALSE(PutWithSync("fails").ok());
    second.End();
    ASSERT_TRUE(WaitFor([this] { return db_->Resume().ok(); }));
    ASSERT_TRUE(AwaitHealth());
    Write(10);
    Check();
    CloseAndCheck();
  }
}

TEST_P(RawWalBothModesTest, AFullDevice) {
  device_size_ = (1 << 20) + 3 * (64 << 10);
  Begin(kLong);
  Write(200);  // 700 KB
  EXPECT_TRUE(WaitFor([this] { return Stats().degraded == 1; }));
  EXPECT_EQ(Stats().logs_spilled, 0u);
  ExpectInLog("has no free segment");
  Check();
  CloseAndCheck();
}

// What the standby has is older than what the stub's spill has.
TEST_P(RawWalBothModesTest, AFullDeviceWithoutACopy) {
  device_size_ = (1 << 20) + 3 * (64 << 10);
  Begin(kLong);
  Write(5);
  standby_trouble_.Fail();
  EXPECT_TRUE(WaitFor([this] {
    Write(1);
    return Stats().degraded == 1;
  }));
  standby_trouble_.End();  // the stub's spill is no standby
  Write(200);
  EXPECT_EQ(Stats().logs_spilled, 1u);
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, AFullDeviceThatFailsWrites) {
  device_size_ = (1 << 20) + 3 * (64 << 10);
  more_ = ";on_full=fail";
  Begin(kLong);
  Status s;
  for (int i = 0; i < 200 && s.ok(); i++) {
    const std::string key = "key" + std::to_string(i);
    WriteOptions sync;
    sync.sync = true;
    s = db_->Put(sync, key, std::string(5000, 'v'));
    if (s.ok()) {
      written_[key] = std::string(5000, 'v');
    }
  }
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  ASSERT_TRUE(WaitFor([this] { return db_->Resume().ok(); }));
  Write(10);
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, ReadersSeeAllOfIt) {
  Begin(kShort);
  Write(50);
  device_trouble_.Stall();
  Write(50);
  EXPECT_TRUE(WaitFor([this] { return Stats().failovers == 1; }));
  device_trouble_.End();
  Write(50);
  CheckUpdates();
}

// The directory is what it is when its disk is unmounted, and mounted again.
TEST_P(RawWalBothModesTest, AnotherDirectoryInItsPlaceIsNotWrittenTo) {
  Begin(kLong);
  Write(10);
  std::filesystem::rename(standby_, standby_ + "-away");
  std::filesystem::create_directory(standby_);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  ExpectOneDegraded();
  ExpectInLog("was it unmounted?");
  EXPECT_TRUE(std::filesystem::is_empty(standby_));
  std::filesystem::remove_all(standby_);
  std::filesystem::rename(standby_ + "-away", standby_);
  ExpectBothAgain();
  CloseAndCheck();
}

// It was left out for a while, or was put back from a copy.
TEST_P(RawWalBothModesTest, AnOlderStateOfTheStandby) {
  Begin(kLong);
  Write(10);
  std::filesystem::copy(standby_, standby_ + "-older");
  Write(10);
  Close();
  std::filesystem::remove_all(standby_);
  std::filesystem::rename(standby_ + "-older", standby_);
  CloseAndCheck();
}

TEST_P(RawWalBothModesTest, AFileSystemThatStandsStill) {
  MountedDisk disk(Trouble::Where::kStandby);
  if (!Mount(&disk)) {
    return;
  }
  standby_ = folder_ + "/disk/standby";
  std::filesystem::create_directory(standby_);
  Begin(kShort);
  Write(20);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(20);
  ASSERT_TRUE(disk.Freeze());
  const auto begin = Clock::now();
  for (int i = 0; i < 3; i++) {
    Write(50);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  Write(20);
  const auto took = Clock::now() - begin;
  ASSERT_TRUE(disk.Thaw());
  EXPECT_LT(took, std::chrono::seconds(120)) << "the disk stood still until now";
  Check();
  ExpectBothAgain();
  EXPECT_TRUE(WaitFor([this] {
    EXPECT_OK(db_->Flush(FlushOptions()));
    Write(1);
    return InStandby() == 1;
  }));
  CloseAndCheck();
  Close();
}

// The thread that wrote to the device cannot end until that answers, and nobody waits for it.
TEST_P(RawWalBothModesTest, TheFileSystemOfTheDeviceStandsStill) {
  MountedDisk disk(Trouble::Where::kDevice);
  if (!Mount(&disk)) {
    return;
  }
  device_ = folder_ + "/disk/device";
  SyncPoint::GetInstance()->ClearCallBack("PatientWriter::New");  // with io_uring
  Begin(kShort);
  Write(20);
  bool in_time = false;
  {
    FrozenFor frozen(&disk, std::chrono::seconds(120));
    for (int i = 0; i < 3; i++) {
      Write(50);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    in_time = frozen.still();
  }
  EXPECT_TRUE(in_time);
  EXPECT_GT(Stats().copies_lost, 0u);
  Check();
  ExpectBothAgain();
  CloseAndCheck();
  Close();
}

INSTANTIATE_TEST_CASE_P(Mode, RawWalBothModesTest, ::testing::Values(kHedge, kMirror),
                        [](const auto& each) {
                          return std::string(each.param == std::string(kHedge) ? "Hedge" : "Both");
                        });

// The thread finds both to do: a sync of what it has written already, and a half that is full.
TEST_F(RawWalCopiesTest, AHalfThatIsFullBesideASync) {
  more_ = ";tail_size=32K";
  std::atomic<bool> has_written{false};
  std::atomic<bool> may_go_on{false};
  SyncPoint::GetInstance()->SetCallBack("LogWriter::WriterLoop:Written", [&](void*) {
    has_written = true;
    WaitFor([&] { return may_go_on.load(); });
  });
  Begin(kHedge, kLong);
  const std::string value(14000, 'v');
  const auto put = [&](int first, int end) {
    for (int i = first; i < end; i++) {
      const std::string key = "key" + std::to_string(i);
      EXPECT_OK(db_->Put(WriteOptions(), key, value));
      written_[key] = value;
    }
  };
  put(0, 2);  // more than a half
  ASSERT_TRUE(WaitFor([&] { return has_written.load(); }));
  ASSERT_OK(db_->SyncWAL());
  std::atomic<bool> ended{false};
  std::thread writer([&] {
    put(2, 10);
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until both halves are full
  may_go_on = true;
  const bool in_time = WaitFor([&] { return ended.load(); });
  EXPECT_TRUE(in_time);
  if (!in_time) {
    EXPECT_OK(db_->SyncWAL());  // writes them
  }
  writer.join();
  Check();
  CloseAndCheck();
  SyncPoint::GetInstance()->ClearCallBack("LogWriter::WriterLoop:Written");
  Close();
}

TEST_F(RawWalCopiesTest, AHedgeWaitsForNeither) {
  Begin(kHedge, kLong);
  Write(10);
  for (Trouble* trouble : {&device_trouble_, &standby_trouble_}) {
    trouble->Stall();
    const auto begin = Clock::now();
    Write(20);
    EXPECT_LT(Clock::now() - begin, kLong);
    EXPECT_EQ(Stats().copies_lost, 0u) << "there is time left";
    Check();
    trouble->End();
  }
  Write(10);
  EXPECT_EQ(Stats().copies_lost, 0u);
  CloseAndCheck();
}

// The standby alone has what was acknowledged, then the device alone has what follows.
// The device is written to by who syncs.
TEST_F(RawWalCopiesTest, AHedgeWithoutAThreadWaitsForTheDeviceAlone) {
  Begin(kHedge, kShort);
  standby_trouble_.Stall();
  std::atomic<bool> is_over{false};
  std::thread end([&] {  // else it would be waited for
    EXPECT_TRUE(WaitFor([&] { return is_over.load(); })) << "who syncs waits for the standby";
    standby_trouble_.End();
  });
  {
    const NoThreads none;
    EXPECT_OK(PutWithSync("a"));
  }
  is_over = true;
  end.join();
  written_["a"] = "v";
  Write(20);
  CloseAndCheck();
}

TEST_F(RawWalCopiesTest, AHedgeThatLosesTheOneThatWasFirst) {
  Begin(kHedge, kLong);
  Write(10);
  device_trouble_.Stall();
  Write(10);  // in the standby
  standby_trouble_.Fail();
  std::thread end([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    device_trouble_.End();
  });
  Write(10);  // on the device, when it is back, with all that is before
  end.join();
  EXPECT_TRUE(WaitFor([this] {
    Write(1);
    return Stats().degraded == 1;
  }));
  Check();
  Close();
  ExportWithoutStandby(/*is_needed=*/false);
  OpenPlain();
  Check();
}

// The stub says that the device has the log when that has all that the copy alone had.
TEST_F(RawWalCopiesTest, ACopyIsDroppedWhenTheDeviceHasAll) {
  Begin(kHedge, kLong);
  Write(10);
  const std::string stub = NewestLog();
  std::atomic<uint64_t> durable{0};
  SyncPoint::GetInstance()->SetCallBack("Tail::Durable", [&](void* path) {
    const std::string bytes = ReadAll(*static_cast<std::string*>(path));
    uint64_t words[2];
    memcpy(words, bytes.data() + 4080, sizeof(words));
    durable = words[0] == 2 && durable == 0 ? words[1] : durable.load();
  });
  device_trouble_.Stall();
  Write(1);   // the device is at this one
  Write(10);  // these are in the standby alone
  uint64_t acknowledged = 0;
  ASSERT_OK(fs_->GetFileSize(stub, IOOptions(), &acknowledged, nullptr));
  standby_trouble_.Fail();
  std::thread writer([this] { Write(1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(durable, 0u);
  device_trouble_.End();
  writer.join();
  EXPECT_TRUE(WaitFor([&] { return durable > 0; }));
  EXPECT_GE(durable, acknowledged);
  CloseAndCheck();
}

TEST_F(RawWalCopiesTest, AMirrorWaitsForBoth) {
  Begin(kMirror, kLong);
  Write(10);
  for (Trouble* trouble : {&device_trouble_, &standby_trouble_}) {
    trouble->Stall();
    std::atomic<bool> done{false};
    std::thread writer([&] {
      Write(1);
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_FALSE(done);
    trouble->End();
    writer.join();
  }
  EXPECT_EQ(Stats().copies_lost, 0u);
  CloseAndCheck();
}

// Of two syncs, the one that was begun first may end last.
TEST_F(RawWalCopiesTest, ASyncDoesNotTakeBackWhatAnotherOneHasToldTheStub) {
  mode_ = kMirror;
  NewFs(WithStandby());
  ASSERT_OK(fs_->CreateDirIfMissing(db_name_, IOOptions(), nullptr));
  const std::string path = db_name_ + "/000001.log";
  FileOptions options;
  options.io_options.type = IOType::kWAL;
  std::unique_ptr<FSWritableFile> log;
  ASSERT_OK(fs_->NewWritableFile(path, options, &log, nullptr));
  ASSERT_OK(log->Append("first", IOOptions(), nullptr));
  bool is_first = true;
  SyncPoint::GetInstance()->SetCallBack("LogWriter::Sync:End", [&](void*) {
    if (is_first) {
      is_first = false;
      EXPECT_OK(log->Append("second", IOOptions(), nullptr));
      EXPECT_OK(log->Sync(IOOptions(), nullptr));
    }
  });
  ASSERT_OK(log->Sync(IOOptions(), nullptr));
  SyncPoint::GetInstance()->ClearCallBack("LogWriter::Sync:End");
  EXPECT_EQ(StubAt(path).durable, 11u);
  ASSERT_OK(log->Close(IOOptions(), nullptr));
  log.reset();
  Close();
}

// It cannot go on where the copy is, which has failed while nobody waited for it.
TEST_F(RawWalCopiesTest, ASlowDeviceIsWaitedForIfTheCopyHasFailed) {
  Begin(kMirror, kShort);
  Write(10);
  std::atomic<int> failures{0};
  SyncPoint::GetInstance()->SetCallBack("Spill::Append", [&failures](void* status) {
    *static_cast<IOStatus*>(status) = IOStatus::IOError("the standby", "fails");
    failures++;
  });
  const std::string value(200000, 'v');
  for (int i = 0; i < 3; i++) {  // more than may wait for the copy's thread
    const std::string key = "large" + std::to_string(i);
    Put(key, value, /*sync=*/false);
    written_[key] = value;
  }
  ASSERT_TRUE(WaitFor([&] { return failures.load() > 0; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the thread has ended
  device_trouble_.Stall();
  std::thread end([this] {
    std::this_thread::sleep_for(5 * kShort);
    device_trouble_.End();
  });
  const Status s = PutWithSync("slow");
  end.join();
  ASSERT_OK(s);
  written_["slow"] = "v";
  EXPECT_EQ(Stats().failovers, 0u);
  EXPECT_EQ(Stats().degraded, 1u);
  Write(10);
  SyncPoint::GetInstance()->ClearCallBack("Spill::Append");
  CloseAndCheck();
}

TEST_F(RawWalCopiesTest, AMirrorWithoutItsDevice) {
  Begin(kMirror, kLong);
  Write(200);  // several segments
  Close();
  const std::string stub = NewestLog();
  std::filesystem::rename(device_, folder_ + "/away");
  std::shared_ptr<FileSystem> fs;
  const Status s = FileSystem::CreateFromString(
      ConfigOptions(), "id=RawWalFileSystem;device=" + device_ + ";" + WithStandby(), &fs);
  EXPECT_NE(s.ToString().find("does not exist"), std::string::npos) << s.ToString();
  ExpectRefused("takes what the standby has");  // has size=
  Close();
  EXPECT_FALSE(std::filesystem::exists(device_)) << "no other one was made in its place";
  ForgetDurable(stub);
  ExportWithoutDevice();
  OpenPlain();
  Check();
}

// The log is in the standby alone when the device is lost.
TEST_F(RawWalCopiesTest, AMirrorThatWentOnWithoutItsDevice) {
  Begin(kMirror, kLong);
  Write(100);
  device_trouble_.Fail();
  Write(100);
  Close();
  device_trouble_.End();
  std::filesystem::remove(device_);
  ExportWithoutDevice();
  OpenPlain();
  Check();
}

// More of the log was on the device alone than the smallest device has room for.
TEST_F(RawWalCopiesTest, AMirrorThatLostItsStandbyEarlyWithoutItsDevice) {
  Begin(kMirror, kLong);
  Write(4);
  standby_trouble_.Fail();
  Write(100);
  Close();
  standby_trouble_.End();
  ExportWithoutDevice();
  ASSERT_OK(OpenDb(Options(), db_name_, &db_));
  for (int i = 0; i < 4; i++) {
    const std::string key = "key" + std::to_string(i);
    EXPECT_EQ(Get(key), written_[key]);
  }
}

// What is in the standby begins where as much was on the device.
TEST_F(RawWalCopiesTest, ALogThatWentOnInTheStandbyLateWithoutItsDevice) {
  Begin("durable=one", kLong);
  Write(100);
  device_trouble_.Fail();
  Write(20);
  Close();
  device_trouble_.End();
  ExportWithoutDevice();
  OpenPlainWithHoles();
  EXPECT_EQ(Get("key0"), "NotFound: ");
  EXPECT_EQ(Get("key119"), written_["key119"]);
}

// A log that found the device full: its end is in its stub, in blocks of the device's size.
TEST_F(RawWalCopiesTest, ASpillIsReadWithoutTheDevice) {
  device_size_ = (1 << 20) + 5 * (64 << 10);
  Begin("durable=one", kLong);
  Options options = DbOptions();
  options.WAL_ttl_seconds = 3600;  // a log stays whose file in the standby tells of the device
  Open(options);
  device_trouble_.Fail();
  Write(5);
  device_trouble_.End();
  ASSERT_TRUE(AwaitHealth());
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(200);
  EXPECT_EQ(Stats().logs_spilled, 1u);
  EXPECT_GT(std::filesystem::file_size(NewestLog()), 1u << 20) << "it goes on there";
  Close();
  raw_wal_fs::RawWalOptions tool = ToolOptions();
  tool.device = folder_ + "/gone";
  tool.force = true;
  uint64_t logs = 0;
  ASSERT_OK(raw_wal_fs::ExportLogs(tool, db_name_, &logs));
  EXPECT_GE(logs, 2u);
  OpenPlainWithHoles();
  EXPECT_EQ(Get("key4"), written_["key4"]);
  EXPECT_EQ(Get("key204"), written_["key204"]);
}

// The device was named wrongly, and has what the standby has not.
TEST_F(RawWalCopiesTest, AnExportWithoutTheDeviceCanBeTakenBack) {
  Begin(kMirror, kLong);
  Write(4);
  standby_trouble_.Fail();
  Write(4);
  Close();
  standby_trouble_.End();
  const int in_standby = InStandby();
  ExportWithoutDevice();
  EXPECT_EQ(InStandby(), in_standby);
  for (const std::filesystem::path& kept : KeptStubs()) {
    std::filesystem::rename(kept, kept.parent_path() / kept.stem());
  }
  Reopen();
  Check();
}

// It fails before the copy is in the place of the stub. A later one, with the device, deletes what
// is there, so it must not go on with that copy.
TEST_F(RawWalCopiesTest, AnExportWithoutTheDeviceThatFailed) {
  Begin(kMirror, kLong);
  Write(4);
  standby_trouble_.Fail();
  Write(4);
  Close();
  standby_trouble_.End();
  const std::string kept = NewestLog() + ".stub";
  std::filesystem::create_symlink(folder_ + "/nowhere", kept);  // the stub cannot be kept
  raw_wal_fs::RawWalOptions options = ToolOptions();
  options.device = folder_ + "/gone";
  options.force = true;
  uint64_t logs = 0;
  EXPECT_FALSE(raw_wal_fs::ExportLogs(options, db_name_, &logs).ok());
  std::filesystem::remove(kept);
  ASSERT_OK(raw_wal_fs::ExportLogs(ToolOptions(), db_name_, &logs));
  EXPECT_EQ(logs, 1u);
  OpenPlain();
  Check();
}

// The same by force, without the standby: nothing is deleted yet when it fails.
TEST_F(RawWalCopiesTest, AnExportWithoutTheStandbyThatFailed) {
  Begin(kMirror, kLong);
  Write(20);
  device_trouble_.Fail();
  Write(20);
  Close();
  device_trouble_.End();
  raw_wal_fs::RawWalOptions options = ToolOptions();
  options.standby = "";
  options.force = true;
  int writes = 0;
  SyncPoint::GetInstance()->SetCallBack("PosixDevice::Write", [&writes](void* status) {
    if (++writes > 2) {  // those are of the superblock
      *static_cast<IOStatus*>(status) = IOStatus::IOError("the device", "fails");
    }
  });
  uint64_t logs = 0;
  EXPECT_FALSE(raw_wal_fs::ExportLogs(options, db_name_, &logs).ok());
  EXPECT_EQ(writes, 3);
  SyncPoint::GetInstance()->ClearCallBack("PosixDevice::Write");
  EXPECT_TRUE(std::filesystem::exists(NewestLog() + ".exported"));
  ASSERT_OK(raw_wal_fs::ExportLogs(ToolOptions(), db_name_, &logs));
  EXPECT_EQ(logs, 1u);
  OpenPlain();
  Check();
}

// When the database is opened after a kill, the standby is left out of a log that the device has,
// too, as while it is written.
TEST_F(RawWalCopiesTest, AStandbyWhoseSyncsStallHoldsNoOpeningUp) {
  more_ = ";metrics_interval=0";
  Begin(kMirror, kShort);
  Write(20);
  PutWithoutSync("last");
  const std::string log = NewestLog();
  Kill();
  EXPECT_FALSE(StubAt(log).on_device);
  const auto slow = std::make_shared<SlowSyncs>();
  slow->Stall(true);
  std::atomic<bool> is_over{false};
  std::thread end([&] {  // else it would be waited for
    WaitFor([&] { return is_over.load(); });
    slow->Stall(false);
  });
  OpenOver(slow, raw_wal_fs::Durable::kBoth);
  EXPECT_EQ(slow->waiting(), 1);
  is_over = true;
  end.join();
  ASSERT_FALSE(HasFailure());
  EXPECT_GE(Stats().copies_lost, 1u);
  EXPECT_TRUE(StubAt(log).on_device);
  Check();
  // So it stays, and nothing is missing.
  Write(20);
  EXPECT_TRUE(WaitFor([&] { return slow->waiting() == 0; }));
  Close();
  ExpectInLog(log + " goes on in device=" + device_ + " alone: ");
  OpenOver(FileSystem::Default(), raw_wal_fs::Durable::kBoth);
  Check();
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_TRUE(WaitFor([&] { return !std::filesystem::exists(log); }));
}

// Of a long log most is read in the standby alone. It is looked for on the device before that is
// left to it.
TEST_F(RawWalCopiesTest, AStandbyIsWaitedForIfTheDeviceHasAHole) {
  more_ = ";metrics_interval=0";
  Begin(kMirror, kShort);
  Write(200);
  PutWithoutSync("last");
  const std::string log = NewestLog();
  Kill();
  DamageLargeFrame(StubAt(log).log.ToString());
  ASSERT_FALSE(HasFailure());
  const auto slow = std::make_shared<SlowSyncs>();
  slow->Stall(true);
  std::thread end([&] {
    EXPECT_TRUE(WaitFor([&] { return slow->waiting() == 2; })) << "one that nobody waits for";
    slow->Stall(false);
  });
  OpenOver(slow, raw_wal_fs::Durable::kBoth);
  end.join();
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(Stats().copies_lost, 0u);
  EXPECT_FALSE(StubAt(log).on_device);
  Check();
  Close();
  OpenOver(FileSystem::Default(), raw_wal_fs::Durable::kBoth);
  Check();
}

// What nothing else has is waited for.
TEST_F(RawWalCopiesTest, AStandbyThatHasTheEndAloneIsWaitedFor) {
  more_ = ";metrics_interval=0";
  Begin("hedge=false", kShort);
  Write(20);
  device_trouble_.Fail();
  Write(5);
  PutWithoutSync("last");
  device_trouble_.End();
  const std::string log = NewestLog();
  Kill();
  EXPECT_TRUE(StubAt(log).in_standby);
  const auto slow = std::make_shared<SlowSyncs>();
  slow->Stall(true);
  std::atomic<bool> is_open{false};
  std::atomic<bool> was_open{false};
  std::thread end([&] {
    EXPECT_TRUE(WaitFor([&] { return slow->waiting() == 1; }));
    std::this_thread::sleep_for(3 * kShort);
    was_open = is_open.load();
    slow->Stall(false);
  });
  OpenOver(slow, raw_wal_fs::Durable::kOne);
  is_open = true;
  end.join();
  ASSERT_FALSE(HasFailure());
  EXPECT_FALSE(was_open);
  EXPECT_TRUE(StubAt(log).in_standby);
  Check();
}

TEST_F(RawWalCopiesTest, AMirrorWithoutItsStandby) {
  Begin(kMirror, kLong);
  Write(200);
  Close();
  const std::string stub = NewestLog();
  std::filesystem::remove_all(standby_);
  std::filesystem::create_directory(standby_);
  ExpectRefused("is not that one: is its disk mounted?");
  Close();
  EXPECT_TRUE(std::filesystem::is_empty(standby_)) << "it did not become the standby";
  ForgetDurable(stub);
  ExportWithoutStandby(/*is_needed=*/true);
  OpenPlain();
  Check();
}

TEST_F(RawWalCopiesTest, AMirrorThatWentOnWithoutItsStandby) {
  Begin(kMirror, kLong);
  Write(100);
  standby_trouble_.Fail();
  Write(100);
  Close();
  standby_trouble_.End();
  const std::string stub = NewestLog();
  ForgetDurable(stub);
  std::filesystem::remove_all(standby_);
  ExportWithoutStandby(/*is_needed=*/false);
  OpenPlain();
  Check();
}

// The standby is lost while the database is open, and another one is given.
TEST_F(RawWalCopiesTest, AMirrorGetsAnotherStandby) {
  Begin(kMirror, kLong);
  Write(10);
  standby_trouble_.Fail();
  Write(10);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Write(10);
  ExpectOneDegraded();
  EXPECT_TRUE(WaitFor([this] { return InStandby() <= 1; })) << "the first log is deleted";
  Close();
  standby_trouble_.End();
  std::filesystem::remove_all(standby_);
  std::filesystem::create_directory(standby_);
  Reopen();
  Check();
  Write(10);
  EXPECT_EQ(Stats().degraded, 0u);
  EXPECT_EQ(InStandby(), 1);
  CloseAndCheck();
}

// Without its device, what is in the standby is not taken for all of the log.
TEST_F(RawWalCopiesTest, AnOldCopyIsNotTakenForTheLog) {
  Begin(kMirror, kLong);
  Write(10);
  standby_trouble_.Fail();
  Write(10);
  Close();
  standby_trouble_.End();
  // As if the device had come back blank: the segments' headers are gone.
  {
    std::fstream device(device_, std::ios::in | std::ios::out | std::ios::binary);
    device.seekp(1 << 20);
    device << std::string(device_size_ - (1 << 20), '\0');
  }
  ExpectRefused("is not on device=");
}

// A device that was put back from a copy, which is older but knows the same openings.
TEST_F(RawWalCopiesTest, AnOlderStateOfTheDevice) {
  Begin(kMirror, kLong);
  Write(50);
  std::filesystem::copy_file(device_, folder_ + "/older");
  Write(150);
  Close();
  std::filesystem::rename(folder_ + "/older", device_);
  CloseAndCheck();
}

// Where the device has damage, the mirror has the log.
TEST_F(RawWalCopiesTest, DamageInAnEarlierSegmentIsNotRead) {
  Begin(kMirror, kLong);
  Write(200);
  Close();
  {
    std::fstream device(device_, std::ios::in | std::ios::out | std::ios::binary);
    device.seekp((1 << 20) + 3 * 4096);
    device << std::string(8192, 'x');
  }
  CloseAndCheck();
}

// Nor is a segment needed whose header is damaged, if the standby has all that was durable.
TEST_F(RawWalCopiesTest, ADamagedHeaderOfASegment) {
  Begin(kMirror, kLong);
  Write(100);
  std::filesystem::copy(standby_, standby_ + "-older");
  Write(100);
  Close();
  {
    std::fstream device(device_, std::ios::in | std::ios::out | std::ios::binary);
    device.seekp((1 << 20) + 2 * (64 << 10));
    device << std::string(512, 'x');
  }
  std::filesystem::rename(standby_, standby_ + "-newest");
  std::filesystem::rename(standby_ + "-older", standby_);
  ExpectRefused("segment 2 of log ");
  Close();
  std::filesystem::remove_all(standby_);
  std::filesystem::rename(standby_ + "-newest", standby_);
  CloseAndCheck();
  EXPECT_EQ(Stats().segments_damaged, 1u);
}

TEST_F(RawWalCopiesTest, OptionsAreChecked) {
  const std::string standby = "standby=" + standby_ + ";";
  for (const auto& [bad, text] : std::vector<std::pair<std::string, std::string>>{
           {"hedge=true", "hedge=true: needs a standby"},
           {"durable=both", "durable=both: needs a standby"},
           {standby + "durable=both;hedge=true", "leave one out"},
           {standby + "durable=two", "not one of: both, one"},
           {standby + "hedge=perhaps", "hedge"}}) {
    std::shared_ptr<FileSystem> fs;
    const Status s = FileSystem::CreateFromString(ConfigOptions(), Uri(bad), &fs);
    EXPECT_TRUE(s.IsInvalidArgument()) << bad << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
  }
  for (const std::string& good :
       {std::string("durable=one"), std::string("hedge=false"), standby + "durable=one;hedge=true",
        standby + "durable=both;hedge=false"}) {
    std::shared_ptr<FileSystem> fs;
    ASSERT_OK(FileSystem::CreateFromString(ConfigOptions(), Uri(good), &fs));
    std::string durable;
    ASSERT_OK(fs->GetOption(ConfigOptions(), "durable", &durable));
    EXPECT_EQ(durable, good.find("durable=both") != std::string::npos ? "both" : "one");
    std::string hedge;
    ASSERT_OK(fs->GetOption(ConfigOptions(), "hedge", &hedge));
    EXPECT_EQ(hedge, good.find("hedge=true") != std::string::npos ? "true" : "false");
  }
}

}  // namespace
}  // namespace rocktier
