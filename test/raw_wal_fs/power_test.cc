// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Logs over a device that loses power at any moment (see power_device.h), and whose stubs do: of a
// stub's pages each may be as it was when it was made durable, or as it is. Three of four devices
// have a standby, in one of its modes, and stall now and then; of a file there what was synced is
// left, and some bytes behind that. A mirror's logs are found on the device alone, and in the
// standby alone, too. Now and then the process is killed before power fails. The seed is printed;
// ROCKTIER_SEED sets it, ROCKTIER_POWER_IMAGES the number of losses of power.

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/reader.h"
#include "plugin/raw_wal_fs/recovered_log.h"
#include "plugin/raw_wal_fs/superblock.h"
#include "test/raw_wal_fs/power_device.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {
namespace {

constexpr uint64_t kSegment = 64 << 10;
constexpr uint64_t kTail = 32 << 10;
constexpr uint64_t kPage = 4096;

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// What the writer knows of a log.
struct Known {
  std::shared_ptr<LogWriter> log;
  std::string path;
  std::string appended;
  uint64_t synced = 0;
};

// What was made durable of files, by path: whoever did it says so.
class DurableFiles {
 public:
  DurableFiles() {
    SyncPoint* const points = SyncPoint::GetInstance();
    points->SetCallBack("Tail::Durable", [this](void* path) {
      const std::string& stub = *static_cast<std::string*>(path);
      std::string bytes = ReadAll(stub);
      std::lock_guard<std::mutex> lock(mutex_);
      stubs_[stub] = std::move(bytes);
    });
    points->SetCallBack("Spill::Sync", [this](void*) {
      if (++syncs_ % 40 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(15));  // the standby stalls
      }
    });
    points->SetCallBack("Spill::Sync:Done", [this](void* spill) {
      std::lock_guard<std::mutex> lock(mutex_);
      sizes_[static_cast<Spill*>(spill)->path()] = static_cast<Spill*>(spill)->end();
    });
    points->EnableProcessing();
  }
  ~DurableFiles() {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
  }
  DurableFiles(const DurableFiles&) = delete;
  DurableFiles& operator=(const DurableFiles&) = delete;

  // Returns a stub as of when it was made durable; empty if it never was.
  std::string StubOf(const std::string& path) {
    std::lock_guard<std::mutex> lock(mutex_);
    return stubs_[path];
  }
  // Returns how many bytes of a file in the standby were synced.
  uint64_t SizeOf(const std::string& path) {
    std::lock_guard<std::mutex> lock(mutex_);
    return sizes_[path];
  }

 private:
  std::atomic<uint64_t> syncs_{0};
  std::mutex mutex_;
  std::map<std::string, std::string> stubs_;
  std::map<std::string, uint64_t> sizes_;
};

class PowerTest : public ::testing::Test {
 protected:
  PowerTest() : folder_(rocktier::NewFolder()), random_(rocktier::Seed()) {}

  uint64_t Random(uint64_t n) { return random_() % n; }

  void Format(uint64_t segments, uint32_t block_size) {
    Superblock plan;
    plan.block_size = block_size;
    plan.segment_size = kSegment;
    plan.segments = segments;
    plan.uuid = std::string(kUuidSize, 'u');
    disk_ = PowerDevice::NewDisk(plan.Size());
    PowerDevice device(disk_);
    ASSERT_TRUE(WriteSuperblock(&device, plan).ok());
  }

  void Mount() {
    volume_.reset();
    IOStatus s = Volume::Open(std::make_unique<PowerDevice>(disk_), /*write=*/true, &volume_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    standby_.reset();
    if (Random(4) > 0) {
      const StandbyMode modes[] = {StandbyMode::kFailover, StandbyMode::kHedge,
                                   StandbyMode::kMirror};
      mode_ = modes[Random(3)];
      // Another folder: a thread that copies a log of the last mount may still make a file there.
      std::error_code busy;
      std::filesystem::remove_all(standby_folder_, busy);
      standby_folder_ = folder_ + "/standby" + std::to_string(number_++);
      std::filesystem::create_directory(standby_folder_);
      s = Standby::OpenForWriting(FileSystem::Default(), standby_folder_,
                                  volume_->superblock().uuid, &standby_);
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  }

  std::string InStandby(const Known& known) const {
    return standby_folder_ + "/" + known.log->id().ToString() + ".frames";
  }

  void CreateLog() {
    Known known;
    known.path = folder_ + "/" + std::to_string(100000 + number_++) + ".log";
    LogWriter::Settings settings;
    settings.target = FileSystem::Default().get();
    settings.tail_size = kTail;
    settings.standby = standby_;
    settings.mode = standby_ != nullptr ? mode_ : StandbyMode::kFailover;
    settings.failover_latency =
        std::chrono::milliseconds(settings.mode == StandbyMode::kFailover ? 2 : 10);
    settings.health.period = std::chrono::seconds(0);
    settings.on_failover = [this](const std::string&, const IOStatus&) { failovers_++; };
    settings.on_no_copy = [this](const std::string&, const IOStatus&) { without_copy_++; };
    IOStatus s = LogWriter::Create(volume_, settings, known.path, &known.log);
    if (!s.IsNoSpace()) {
      ASSERT_TRUE(s.ok()) << s.ToString();
      logs_.push_back(std::move(known));
    }
  }

  void Append(Known* known) {
    const uint64_t sizes[] = {1 + Random(300), 1 + Random(6000), 1 + Random(80000)};
    std::string bytes(sizes[Random(3)], '\0');
    for (char& c : bytes) {
      c = static_cast<char>(random_());
    }
    IOStatus s = known->log->Append(bytes);
    if (s.ok()) {
      known->appended += bytes;
    } else {
      ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
      Abandon(known);
    }
  }

  void Sync(Known* known) {
    IOStatus s = known->log->Sync();
    if (s.ok()) {
      known->synced = known->appended.size();
    } else {
      ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
      Abandon(known);
    }
  }

  // A log that hit the end of the device is not gone on with; nothing more is known of it.
  void Abandon(Known* known) { Delete(known); }

  // Deletes a log as RawWalFileSystem does, unless the device stalls: that one would wait.
  void Delete(Known* known) {
    SetStall(false);
    IOStatus s = volume_->Delete(known->log->id());
    for (; s.IsAborted(); s = volume_->Delete(known->log->id())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    volume_->Release(known->log->id());
    std::filesystem::remove(InStandby(*known));
    std::filesystem::remove(known->path);
    const size_t index = static_cast<size_t>(known - logs_.data());
    logs_.erase(logs_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  // With two copies somebody waits for the device when there is no other way: such a stall ends by
  // itself.
  void SetStall(bool stalls) {
    if (end_of_stall_.joinable()) {
      end_of_stall_.join();
    }
    stalls_ = stalls && mode_ == StandbyMode::kFailover;
    PowerDevice::Stall(disk_.get(), stalls);
    if (stalls && !stalls_) {
      end_of_stall_ = std::thread([disk = disk_] {
        std::this_thread::sleep_for(std::chrono::milliseconds(25));
        PowerDevice::Stall(disk.get(), false);
      });
    }
  }

  void DoSomething() {
    const uint64_t what = Random(100);
    if (standby_ != nullptr && Random(stalls_ ? 10 : 40) == 0) {
      SetStall(!stalls_);
    }
    if (logs_.empty() || (what < 4 && logs_.size() < 4)) {
      CreateLog();
    } else if (what < 6) {
      Delete(&logs_[Random(logs_.size())]);
    } else if (what < 60) {
      Append(&logs_[Random(logs_.size())]);
    } else {
      Sync(&logs_[Random(logs_.size())]);
    }
  }

  // Each page of the stub as of the sync or as of now; one that never was durable may be gone. What
  // is left is in the file `path`.
  bool StubAfter(const Known& known, const std::string& path, StubFile* stub) {
    const std::string durable = durable_.StubOf(known.path);
    std::string bytes = ReadAll(known.path);
    if (durable.empty() && Random(2) == 0) {
      return false;
    }
    for (uint64_t at = 0; at < durable.size(); at += kPage) {
      if (Random(2) == 0) {
        bytes.replace(at, kPage, durable, at, kPage);
      }
    }
    std::ofstream(path, std::ios::binary) << bytes;
    IOStatus s = ReadStub(FileSystem::Default().get(), path, /*contents=*/true, stub);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return s.ok();
  }

  // Copies the standby as it is after a loss of power, if there is one.
  void CopyStandby(const std::string& folder) {
    if (standby_ == nullptr) {
      return;
    }
    std::vector<uint64_t> synced;
    synced.reserve(logs_.size());
    for (const Known& known : logs_) {
      synced.push_back(durable_.SizeOf(InStandby(known)));
    }
    std::filesystem::remove_all(folder);
    std::filesystem::copy(standby_folder_, folder);
    for (size_t i = 0; i < logs_.size(); i++) {
      const std::string path = folder + InStandby(logs_[i]).substr(standby_folder_.size());
      std::error_code none;
      const uint64_t size = std::filesystem::file_size(path, none);
      if (!none && size > synced[i]) {
        std::filesystem::resize_file(path, synced[i] + Random(size - synced[i] + 1));
      }
    }
  }

  // Finds and reads a log: what was synced is there, and nothing else than what was appended.
  void CheckLog(const std::shared_ptr<Volume>& volume, const Known& known, const std::string& path,
                const Standby* standby) {
    StubFile stub;
    IOStatus s = ReadStub(FileSystem::Default().get(), path, /*contents=*/true, &stub);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::shared_ptr<RecoveredLog> log;
    s = RecoveredLog::Recover(volume, FileSystem::Default().get(), path, standby, std::move(stub),
                              /*take_damaged=*/false, &log);
    ASSERT_TRUE(s.ok()) << s.ToString() << ", synced " << known.synced;
    ASSERT_GE(log->size(), known.synced) << known.path;
    ASSERT_LE(log->size(), known.appended.size()) << known.path;
    std::string bytes(log->size(), '\0');
    size_t got;
    s = Reader(log).Read(0, bytes.size(), bytes.data(), &got);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(got, bytes.size());
    ASSERT_TRUE(known.appended.compare(0, got, bytes) == 0) << known.path;
    synced_ += known.synced;
    extra_ += log->size() - known.synced;
  }

  // Checks that each of the two that a mirror's stub relies on has all of the log.
  void CheckAlone(const std::shared_ptr<Volume>& after, const std::shared_ptr<Volume>& empty,
                  const Known& known, const std::string& path, const Standby& standby) {
    StubFile stub;
    IOStatus s = ReadStub(FileSystem::Default().get(), path, /*contents=*/false, &stub);
    ASSERT_TRUE(s.ok()) << s.ToString();
    if (!stub.stub.in_standby) {
      ASSERT_NO_FATAL_FAILURE(CheckLog(after, known, path, nullptr)) << "the device alone";
    }
    if (!stub.stub.on_device) {
      ASSERT_NO_FATAL_FAILURE(CheckLog(empty, known, path, &standby)) << "the standby alone";
      alone_++;
    }
  }

  // Returns a device that has nothing, in the place of one that was lost.
  std::shared_ptr<Volume> EmptyVolume() {
    std::shared_ptr<PowerDevice::Disk> disk = PowerDevice::NewDisk(volume_->superblock().Size());
    auto device = std::make_unique<PowerDevice>(disk);
    EXPECT_TRUE(WriteSuperblock(device.get(), volume_->superblock()).ok());
    std::shared_ptr<Volume> volume;
    EXPECT_TRUE(Volume::Open(std::move(device), true, &volume).ok());
    return volume;
  }

  // The process is killed, which loses nothing, and the next one makes durable what it finds. Then
  // power fails, and that is what is left.
  void CheckAfterKill() {
    // Copies the stubs first: a thread goes on writing what is in them.
    std::vector<Known> found = logs_;
    for (size_t i = 0; i < found.size(); i++) {
      found[i].path = folder_ + "/" + std::to_string(888800 + i) + ".log";
      found[i].synced = found[i].appended.size();
      std::ofstream(found[i].path, std::ios::binary) << ReadAll(logs_[i].path);
    }
    const std::string folder = folder_ + "/standby-killed";
    if (standby_ != nullptr) {
      std::filesystem::remove_all(folder);
      std::filesystem::copy(standby_folder_, folder);
    }
    const std::shared_ptr<PowerDevice::Disk> disk = PowerDevice::Copy(disk_.get());
    std::shared_ptr<Volume> volume;
    IOStatus s = Volume::Open(std::make_unique<PowerDevice>(disk), /*write=*/true, &volume);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::vector<std::shared_ptr<Standby>> standbys(found.size());
    for (size_t i = 0; i < found.size(); i++) {
      StubFile stub;
      s = ReadStub(FileSystem::Default().get(), found[i].path, /*contents=*/true, &stub);
      ASSERT_TRUE(s.ok()) << s.ToString();
      s = Standby::OfStub(FileSystem::Default(), folder, found[i].path, stub.stub, &standbys[i]);
      ASSERT_TRUE(s.ok()) << s.ToString();
      std::shared_ptr<RecoveredLog> log;
      s = RecoveredLog::Recover(volume, FileSystem::Default().get(), found[i].path,
                                standbys[i].get(), std::move(stub), /*take_damaged=*/false, &log);
      ASSERT_TRUE(s.ok()) << s.ToString();
      s = log->Sync();
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    std::shared_ptr<Volume> after;
    s = Volume::Open(std::make_unique<PowerDevice>(PowerDevice::LosePower(disk.get(), &random_)),
                     /*write=*/true, &after);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (size_t i = 0; i < found.size(); i++) {
      ASSERT_NO_FATAL_FAILURE(CheckLog(after, found[i], found[i].path, standbys[i].get()));
    }
    kills_++;
  }

  void CheckAfterLoss() {
    // Copies the stubs first: a thread goes on writing, and a stub may be older than the disk, not
    // newer. Nor may its spill: the disk is flushed before there is one.
    std::vector<StubFile> stubs(logs_.size());
    std::vector<std::string> paths(logs_.size());
    std::vector<bool> there(logs_.size());
    for (size_t i = 0; i < logs_.size(); i++) {
      paths[i] = folder_ + "/" + std::to_string(999900 + i) + ".log";
      there[i] = StubAfter(logs_[i], paths[i], &stubs[i]);
    }
    const std::string folder = folder_ + "/standby-after";
    CopyStandby(folder);
    std::shared_ptr<Volume> after;
    IOStatus s = Volume::Open(
        std::make_unique<PowerDevice>(PowerDevice::LosePower(disk_.get(), &random_)), true, &after);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (size_t i = 0; i < logs_.size(); i++) {
      const Known& known = logs_[i];
      if (!there[i]) {
        continue;
      }
      std::shared_ptr<Standby> standby;
      s = Standby::OfStub(FileSystem::Default(), folder, paths[i], stubs[i].stub, &standby);
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_NO_FATAL_FAILURE(CheckLog(after, known, paths[i], standby.get()));
      if (standby != nullptr && mode_ == StandbyMode::kMirror) {
        ASSERT_NO_FATAL_FAILURE(CheckAlone(after, EmptyVolume(), known, paths[i], *standby));
      }
    }
    RawWalStats stats;
    after->AddStats(&stats);
    EXPECT_EQ(stats.segments_damaged, 0u);
    images_++;
  }

  const std::string folder_;
  std::string standby_folder_;  // of the last mount that had one
  std::mt19937_64 random_;
  std::shared_ptr<PowerDevice::Disk> disk_;
  std::shared_ptr<Volume> volume_;
  std::shared_ptr<Standby> standby_;  // null if there is none
  StandbyMode mode_ = StandbyMode::kFailover;
  DurableFiles durable_;
  std::vector<Known> logs_;
  bool stalls_ = false;
  std::thread end_of_stall_;
  std::atomic<uint64_t> failovers_{0};
  std::atomic<uint64_t> without_copy_{0};
  uint64_t alone_ = 0;  // logs of mirrors that were found in the standby alone
  uint64_t number_ = 0;
  uint64_t images_ = 0;
  uint64_t kills_ = 0;
  uint64_t synced_ = 0;  // bytes found that had been
  uint64_t extra_ = 0;   // bytes found that were never synced
};

TEST_F(PowerTest, WhatWasSyncedSurvives) {
  const uint64_t images = rocktier::FromEnvironment("ROCKTIER_POWER_IMAGES", 1000);
  while (images_ < images && !HasFatalFailure()) {
    if (disk_ != nullptr) {
      SetStall(false);
    }
    logs_.clear();
    Format(/*segments=*/8 + Random(30), Random(2) == 0 ? 512 : 4096);
    Mount();
    const uint64_t losses = 20;
    for (uint64_t i = 0; i < losses && !HasFatalFailure(); i++) {
      for (uint64_t steps = 1 + Random(40); steps > 0 && !HasFatalFailure(); steps--) {
        DoSomething();
      }
      if (Random(4) == 0) {
        ASSERT_NO_FATAL_FAILURE(CheckAfterKill());
      }
      CheckAfterLoss();
    }
  }
  printf("%llu losses of power, %llu bytes found that were synced, %llu that never were\n",
         static_cast<unsigned long long>(images_), static_cast<unsigned long long>(synced_),
         static_cast<unsigned long long>(extra_));
  if (disk_ != nullptr) {
    SetStall(false);
  }
  logs_.clear();
  printf("%llu logs went on in the standby, %llu without it; %llu found in it alone\n",
         static_cast<unsigned long long>(failovers_.load()),
         static_cast<unsigned long long>(without_copy_.load()),
         static_cast<unsigned long long>(alone_));
  EXPECT_GT(kills_, 0u);
  EXPECT_GT(failovers_, 0u);
  EXPECT_GT(without_copy_, 0u);
  EXPECT_GT(alone_, 0u);
  EXPECT_GT(synced_, 0u);
  EXPECT_GT(extra_, 0u) << "nothing unsynced ever arrived: the test tests little";
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
