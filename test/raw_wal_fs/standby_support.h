// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// For tests of a log device with a standby: disks that stall or fail, and a database over both.

#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/transaction_log.h"
#include "test/raw_wal_fs/loop.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"

namespace rocktier {

// Makes reads, writes and flushes of all log devices wait, or writes and flushes fail; or writes
// and syncs of logs in standbys.
class Trouble {
 public:
  enum class Where { kDevice, kStandby };

  // How many disks of this kind a test has made to stand still.
  static std::atomic<int>& Still(Where where) {
    static std::atomic<int> still[] = {{0}, {0}};
    return still[static_cast<int>(where)];
  }

  explicit Trouble(Where where = Where::kDevice) : where_(where) {
    const bool is_device = where == Where::kDevice;
    for (const char* call : {is_device ? "PosixDevice::Write" : "Spill::Append",
                             is_device ? "PosixDevice::Flush" : "Spill::Sync"}) {
      ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->SetCallBack(
          call, [this](void* status) { Meet(static_cast<ROCKSDB_NAMESPACE::IOStatus*>(status)); });
    }
    if (is_device) {
      // By io_uring they would not be met here.
      ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->SetCallBack(
          "PatientWriter::New",
          [](void* may_use_ring) { *static_cast<bool*>(may_use_ring) = false; });
      ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->SetCallBack("PosixDevice::Read", [this](void*) {
        ROCKSDB_NAMESPACE::IOStatus status;
        Meet(&status);
        status.PermitUncheckedError();
      });
    }
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->EnableProcessing();
  }
  ~Trouble() {
    End();
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->DisableProcessing();
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->ClearAllCallBacks();
  }

  void Stall() { Set(true, false); }
  void Fail() { Set(false, true); }
  void End() { Set(false, false); }
  // How many wait now.
  int waiting() {
    std::lock_guard<std::mutex> lock(mutex_);
    return waiting_;
  }

 private:
  void Set(bool stalls, bool fails) {
    std::lock_guard<std::mutex> lock(mutex_);
    Still(where_) += static_cast<int>(stalls) - static_cast<int>(stalls_);
    stalls_ = stalls;
    fails_ = fails;
    changed_.notify_all();
  }
  void Meet(ROCKSDB_NAMESPACE::IOStatus* status) {
    std::unique_lock<std::mutex> lock(mutex_);
    waiting_++;
    changed_.wait(lock, [this] { return !stalls_; });
    waiting_--;
    if (fails_) {
      *status = ROCKSDB_NAMESPACE::IOStatus::IOError("the device", "fails");
    }
  }

  const Where where_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stalls_ = false;
  bool fails_ = false;
  int waiting_ = 0;
};

// ext4 on a loop device, which can be made to stand still. Unmounted when it goes, also if a thread
// that nobody waits for has a file there still.
class MountedDisk {
 public:
  // `what`: is on it.
  explicit MountedDisk(Trouble::Where what) : what_(what) {}
  ~MountedDisk() {
    if (!place_.empty()) {
      Thaw();
      umount2(place_.c_str(), MNT_DETACH);
    }
  }
  // Returns why there can be none, "" if there is one.
  std::string Mount(const std::string& place) {
    std::string problem = loop_.Open(place + ".disk", 64 << 20, 512);
    if (problem.empty() && system(("mkfs.ext4 -q -F " + loop_.path()).c_str()) != 0) {
      problem = "mkfs.ext4 failed";
    }
    std::filesystem::create_directory(place);
    if (problem.empty() && mount(loop_.path().c_str(), place.c_str(), "ext4", 0, nullptr) != 0) {
      problem = "mount failed";
    }
    place_ = problem.empty() ? place : "";
    return problem;
  }
  bool Freeze() {
    is_still_ = true;
    Trouble::Still(what_)++;
    return Do(FIFREEZE);
  }
  bool Thaw() {
    const bool done = Do(FITHAW);
    Trouble::Still(what_) -= is_still_ ? 1 : 0;
    is_still_ = false;
    return done;
  }

 private:
  bool Do(unsigned long what) {  // NOLINT(google-runtime-int): as ioctl(2) has it
    const int fd = open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool done = ioctl(fd, what, 0) == 0;
    close(fd);
    return done;
  }

  const Trouble::Where what_;
  bool is_still_ = false;
  LoopDevice loop_;
  std::string place_;
};

// A disk that stands still as long as this exists, and no longer than `most`.
class FrozenFor {
 public:
  FrozenFor(MountedDisk* disk, std::chrono::seconds most) : disk_(disk) {
    EXPECT_TRUE(disk_->Freeze());
    thread_ = std::thread([this, most] {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait_for(lock, most, [this] { return over_; });
      EXPECT_TRUE(disk_->Thaw());
      thawed_ = true;
    });
  }
  ~FrozenFor() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  FrozenFor(const FrozenFor&) = delete;
  FrozenFor& operator=(const FrozenFor&) = delete;

  bool still() {
    std::lock_guard<std::mutex> lock(mutex_);
    return !thawed_;
  }

 private:
  MountedDisk* const disk_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool thawed_ = false;
  std::thread thread_;
};

// Nobody waits longer than patience_ for what is made to stand still, and for anything else as long
// as it takes: other tests may keep the disk busy for seconds.
class RawWalStandbyTest : public RawWalTest {
 protected:
  static constexpr char kLongLatency[] = "failover_latency=30000";

  void SetUp() override {
    standby_ = folder_ + "/standby";
    std::filesystem::create_directory(standby_);
    HaveNoPatience("LogWriter::OnDevice:Limit", Trouble::Where::kDevice);
    HaveNoPatience("RawWalFileSystem::DeleteSegments:Limit", Trouble::Where::kDevice);
    HaveNoPatience("LogWriter::CopyLimit", Trouble::Where::kStandby);
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->EnableProcessing();
  }
  void TearDown() override {
    db_.reset();
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->DisableProcessing();
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->ClearAllCallBacks();
  }
  // At the point somebody is about to wait for disks of that kind.
  void HaveNoPatience(const char* point, Trouble::Where where) {
    ROCKSDB_NAMESPACE::SyncPoint::GetInstance()->SetCallBack(point, [this, where](void* limit) {
      if (Trouble::Still(where) > 0) {
        *static_cast<std::chrono::milliseconds*>(limit) = patience_;
      }
    });
  }

  virtual std::string WithStandby() const {
    return "standby=" + standby_ + ";" + kLongLatency + ";failback_after=0";
  }
  ROCKSDB_NAMESPACE::raw_wal_fs::RawWalStats Stats() const {
    ROCKSDB_NAMESPACE::raw_wal_fs::RawWalStats stats;
    EXPECT_OK(ROCKSDB_NAMESPACE::raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
    return stats;
  }
  // Mounts a disk at "disk" in the test's folder; prints why there can be none.
  bool Mount(MountedDisk* disk) const {
    const std::string problem = disk->Mount(folder_ + "/disk");
    if (!problem.empty()) {
      printf("skipped: %s\n", problem.c_str());
    }
    return problem.empty();
  }
  // Writes records with sync, and remembers them.
  void Write(int count) {
    for (int i = 0; i < count; i++) {
      const std::string key = "key" + std::to_string(written_.size());
      const std::string value(static_cast<size_t>(1 + (written_.size() * 37) % 9000), 'v');
      Put(key, value);
      written_[key] = value;
    }
  }
  void Check() {
    for (const auto& [key, value] : written_) {
      ASSERT_EQ(Get(key), value) << key;
    }
  }
  // Each write is an update of its own, for those who read the log.
  void CheckUpdates() {
    std::unique_ptr<ROCKSDB_NAMESPACE::TransactionLogIterator> updates;
    ASSERT_OK(db_->GetUpdatesSince(1, &updates));
    size_t count = 0;
    for (; updates->Valid(); updates->Next()) {
      count++;
    }
    ASSERT_OK(updates->status());
    EXPECT_EQ(count, written_.size());
  }
  void Reopen() {
    db_.reset();
    NewFs(WithStandby());
    Open();
  }
  // Closes all that this process has open.
  void Close() {
    db_.reset();
    env_.reset();
    fs_.reset();
  }
  // How many logs have a file in the standby.
  int InStandby() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(standby_)) {
      count += entry.path().extension() == ".frames" ? 1 : 0;
    }
    return count;
  }
  bool AwaitHealth() const {
    return WaitFor([this] { return Stats().stalled == 0; });
  }

  // The one file of a log in the standby.
  std::string FramesFile() const {
    for (const auto& entry : std::filesystem::directory_iterator(standby_)) {
      if (entry.path().extension() == ".frames") {
        return entry.path().string();
      }
    }
    return "";
  }
  // What the tools find of the one log that has no segment; without an id if there is none.
  ROCKSDB_NAMESPACE::raw_wal_fs::RawWalLogInfo Alone() const {
    ROCKSDB_NAMESPACE::raw_wal_fs::RawWalDeviceInfo info;
    EXPECT_OK(ROCKSDB_NAMESPACE::raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info,
                                                              nullptr, standby_));
    ROCKSDB_NAMESPACE::raw_wal_fs::RawWalLogInfo found;
    for (const ROCKSDB_NAMESPACE::raw_wal_fs::RawWalLogInfo& log : info.logs) {
      if (log.segments == 0) {
        EXPECT_EQ(found.id, "");
        found = log;
      }
    }
    return found;
  }
  ROCKSDB_NAMESPACE::raw_wal_fs::RawWalOptions ToolOptions() const {
    ROCKSDB_NAMESPACE::raw_wal_fs::RawWalOptions options;
    options.device = device_;
    options.standby = standby_;
    return options;
  }
  // Removes a log, which must be refused with this text.
  static void ExpectKept(const ROCKSDB_NAMESPACE::raw_wal_fs::RawWalOptions& options,
                         const std::string& id, const std::string& text) {
    std::vector<ROCKSDB_NAMESPACE::raw_wal_fs::RawWalLogInfo> removed;
    const ROCKSDB_NAMESPACE::Status s =
        ROCKSDB_NAMESPACE::raw_wal_fs::RemoveLogs(options, {id}, &removed);
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    EXPECT_TRUE(removed.empty());
  }
  // Opens the database, which must be refused with this text.
  void ExpectRefused(const std::string& text) {
    db_.reset();
    NewFs(WithStandby());
    ROCKSDB_NAMESPACE::Options options = DbOptions();
    options.wal_recovery_mode = ROCKSDB_NAMESPACE::WALRecoveryMode::kAbsoluteConsistency;
    const ROCKSDB_NAMESPACE::Status s = OpenDb(options, db_name_, &db_);
    EXPECT_FALSE(s.ok());
    EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    db_.reset();
  }

  std::string standby_;
  std::map<std::string, std::string> written_;
  std::atomic<std::chrono::milliseconds> patience_{std::chrono::milliseconds(100)};
};

}  // namespace rocktier
