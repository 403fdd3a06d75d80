// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory above raw_wal_fs: write-ahead logs, retained ones too, are on a log device. Both
// plugins are needed; they meet by calls of FileSystem alone.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "file/filename.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;
using raw_wal_fs::RawWalDeviceInfo;
using raw_wal_fs::RawWalLogInfo;
using raw_wal_fs::RawWalOptions;
using raw_wal_fs::RawWalStats;

constexpr uint64_t kSegment = 64 << 10;  // bytes
constexpr uint64_t kSegments = 256;      // of the device

class DeviceTest : public VolatileTest {
 protected:
  DeviceTest() { device_ = folder_ + "/device"; }

  // URI of the FileSystem with the log device.
  std::string Device(const std::string& more = "") const {
    return "id=RawWalFileSystem;device=" + device_ +
           ";size=" + std::to_string((1 << 20) + kSegments * kSegment) +
           ";segment_size=" + std::to_string(kSegment) + ";tail_size=32K" + more;
  }
  std::string Tiered(const std::string& more) const {
    return "id=TieredFileSystem;tiers={" + MemoryTiers() +
           "};placement={0..2=memory;3..=slow};mover_bytes_per_second=0;" + more;
  }
  std::string Stack(const std::string& more = "") const {
    return Tiered(more + "target={" + Device() + "}");
  }
  Status Mount(const std::string& uri) {
    db_.reset();
    env_.reset();
    fs_.reset();
    const Status s = FileSystem::CreateFromString(ConfigOptions(), uri, &fs_);
    env_ = s.ok() ? NewCompositeEnv(fs_) : nullptr;
    return s;
  }
  // Without compactions what is flushed stays in memory, and its logs are retained.
  Options Quiet() const {
    Options options = DbOptions();
    options.disable_auto_compactions = true;
    return options;
  }
  void OpenStack(const std::string& more = "") {
    ASSERT_OK(Mount(Stack(more)));
    Open(Quiet());
  }
  Options WithArchive() const {
    Options options = Quiet();
    options.WAL_ttl_seconds = 10000;
    return options;
  }

  RawWalStats DeviceStats() const {
    RawWalStats stats;
    EXPECT_OK(raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
    return stats;
  }
  // What the device has, as "rocktier wal ls" shows it.
  std::vector<RawWalLogInfo> Logs() const {
    RawWalDeviceInfo info;
    EXPECT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
    return info.logs;
  }
  // Of them, those whose file has a name that tiered_env has given.
  std::vector<RawWalLogInfo> RetainedLogs() const {
    std::vector<RawWalLogInfo> logs = Logs();
    logs.erase(std::remove_if(logs.begin(), logs.end(),
                              [](const RawWalLogInfo& log) {
                                return !tiered_env::IsKept(fs::path(log.file).filename().string());
                              }),
               logs.end());
    return logs;
  }
  // Each is sound, and has a file.
  void ExpectSound() const {
    for (const RawWalLogInfo& log : Logs()) {
      EXPECT_EQ(log.problem, "") << log.name;
      EXPECT_FALSE(log.missing) << log.name;
      EXPECT_EQ(log.unknown, "") << log.name;
      EXPECT_TRUE(fs::exists(log.file)) << log.name;
    }
  }
  // In the background nothing stays on the device but RocksDB's own log.
  void ExpectFreed() const {
    EXPECT_TRUE(WaitFor([this] { return RetainedLogs().empty(); }));
    EXPECT_TRUE(WaitFor([this] { return DeviceStats().segments_used <= 2; }))
        << DeviceStats().segments_used;
  }
  // Leaves a database that is closed, of which several logs are retained on the device.
  void Prepare(int flushes = 5) {
    OpenStack("wal_amplification_high=1e9;wal_amplification_low=1e9;");
    ASSERT_FALSE(HasFailure());
    Write(flushes);
    EXPECT_TRUE(WaitFor([this] { return Stats().segments > 2; }));
    Close();
    ASSERT_FALSE(RetainedLogs().empty());
    ExpectSound();
  }
  void Write(int flushes) {
    for (int i = 0; i < flushes; i++) {
      Fill(500);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  void LoseAndReopen(const std::string& more = "") {
    Close();
    LoseMemory();
    OpenStack(more);
    ASSERT_FALSE(HasFailure());
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
  }

  std::string device_;
};

// Many times the device's size is written. Logs that nothing needs are freed, those that are worth
// it are rewritten as plain files, and the others stay where they are.
TEST_F(DeviceTest, TheDeviceDoesNotFillUp) {
  SyncPoint::GetInstance()->SetCallBack(
      "RecoveryManager::Trim:Small", [](void* bytes) { *static_cast<uint64_t*>(bytes) = 50000; });
  SyncPoint::GetInstance()->EnableProcessing();
  ASSERT_OK(Mount(Stack()));
  Open();
  ASSERT_FALSE(HasFailure());
  // What is retained is bounded by what is in memory; RocksDB has one log besides. Each log may
  // have a segment that is nearly empty.
  const auto is_bounded = [this] {
    const uint64_t bytes = static_cast<uint64_t>(1.5 * Stats().bytes) + (1 << 20);
    return DeviceStats().segments_used <= 2 * bytes / kSegment;
  };
  uint64_t most = 0;
  uint64_t created = 0;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 12; i++) {
      Fill(1500, 1500, 1000);  // 1.5 MB each, of 1.5 MB of live data
      most = std::max(most, DeviceStats().segments_used);
      Settle();  // compactions and trimming are in the background
      EXPECT_TRUE(WaitFor(is_bounded)) << DeviceStats().segments_used << ", " << Stats().bytes;
    }
    created += DeviceStats().logs_created;
    EXPECT_EQ(DeviceStats().logs_spilled, 0u);
    EXPECT_GT(Stats().trims, 0u);
    Close();
    ExpectSound();
    LoseMemory();
    ASSERT_OK(Mount(Stack()));
    Open();
    ASSERT_FALSE(HasFailure());
    Verify();
  }
  EXPECT_GT(created, kSegments);
  EXPECT_LT(most, kSegments);
}

// After each loss, and with new ones besides.
TEST_F(DeviceTest, LostTablesAreRebuiltOfLogsOnTheDevice) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 3; i++) {
    LoseMemory();
    OpenStack("wal_amplification_high=1e9;wal_amplification_low=1e9;");
    ASSERT_FALSE(HasFailure());
    Verify();
    EXPECT_GT(Stats().rebuilt_files, 0u);
    EXPECT_FALSE(RetainedLogs().empty());
    Write(2);
    Close();
    ExpectSound();
  }
}

// What SSTs in memory needed is of no use when these are elsewhere.
TEST_F(DeviceTest, LogsAreFreedWhenNothingNeedsThem) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  OpenStack("on_close=persist;");
  ASSERT_FALSE(HasFailure());
  Close();
  OpenStack();
  ASSERT_FALSE(HasFailure());
  ExpectFreed();
  Verify();
  Close();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(DeviceStats().segments_used, 0u);
  EXPECT_FALSE(fs::exists(db_name_));
}

// Also if it is destroyed while logs are retained.
TEST_F(DeviceTest, ADestroyedDatabaseLeavesNothing) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  ASSERT_OK(Mount(Stack()));
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(DeviceStats().segments_used, 0u);
  EXPECT_FALSE(fs::exists(db_name_));
  EXPECT_EQ(FilesIn("memory") + FilesIn("slow"), 0u);
}

// Looking and dry runs change nothing on the device, nor do they make one.
TEST_F(DeviceTest, WhoeverLooksLeavesTheDeviceAlone) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  const auto device = [this] {
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), device_, &bytes));
    return bytes;
  };
  const auto look = [this] {
    ASSERT_OK(Mount(Stack()));
    tiered_env::TieredCheck check;
    tiered_env::TieredAdoption adoption;
    tiered_env::TieredLoss loss;
    uint64_t files = 0;
    uint64_t bytes = 0;
    CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check).PermitUncheckedError();
    AdoptTiers(fs_.get(), db_name_, /*force=*/true, &adoption, /*dry_run=*/true)
        .PermitUncheckedError();
    RehearseRecovery(fs_.get(), db_name_, &loss).PermitUncheckedError();
    tiered_env::PurgeTiers(fs_.get(), db_name_, &files, &bytes, {}, /*dry_run=*/true)
        .PermitUncheckedError();
    db_.reset();
    env_.reset();
    fs_.reset();
  };
  const std::string before = device();
  look();
  EXPECT_TRUE(device() == before);
  fs::rename(device_, device_ + "-away");
  look();
  EXPECT_FALSE(fs::exists(device_));
  fs::rename(device_ + "-away", device_);
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// RocksDB's archive has the log, which has one name; recipes get a copy.
TEST_F(DeviceTest, LogsInTheArchive) {
  ASSERT_OK(Mount(Stack()));
  Open(WithArchive());
  ASSERT_FALSE(HasFailure());
  Write(4);
  Close();
  EXPECT_FALSE(Kept(".log").empty());
  EXPECT_TRUE(RetainedLogs().empty());
  EXPECT_FALSE(fs::is_empty(ArchivalDirectory(db_name_)));
  ExpectSound();
  for (int i = 0; i < 2; i++) {
    Close();
    LoseMemory();
    if (i == 1) {  // as RocksDB does after a time
      std::vector<std::string> archived;
      for (const auto& entry : fs::directory_iterator(ArchivalDirectory(db_name_))) {
        archived.push_back(entry.path().string());
      }
      OpenStack();
      ASSERT_FALSE(HasFailure());
      for (const std::string& path : archived) {
        ASSERT_OK(fs_->DeleteFile(path, IOOptions(), nullptr));
      }
      EXPECT_LE(DeviceStats().segments_used, 4u);
      Close();
      LoseMemory();
    }
    ASSERT_OK(Mount(Stack()));
    Open(WithArchive());
    ASSERT_FALSE(HasFailure());
    Verify();
    Write(1);
  }
  Close();
  ExpectSound();
}

TEST_F(DeviceTest, LogsInAWalDir) {
  ASSERT_OK(Mount(Stack("wal_amplification_high=1e9;wal_amplification_low=1e9;")));
  Options options = Quiet();
  options.wal_dir = folder_ + "/logs";
  Open(options);
  ASSERT_FALSE(HasFailure());
  Write(4);
  Close();
  EXPECT_FALSE(RetainedLogs().empty());
  ExpectSound();
  LoseMemory();
  ASSERT_OK(Mount(Stack()));
  options.env = env_.get();
  Open(options);
  ASSERT_FALSE(HasFailure());
  Verify();
}

// A process dies when the name is gone, and the space is not free yet. Nobody but the one who gave
// the name would look for what is left.
TEST_F(DeviceTest, AnInterruptedDeletionIsFinished) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  OpenStack("on_close=persist;");
  ASSERT_FALSE(HasFailure());
  Close();  // nothing needs them any more
  const std::vector<RawWalLogInfo> retained = RetainedLogs();
  ASSERT_FALSE(retained.empty());
  for (const RawWalLogInfo& log : retained) {
    fs::rename(log.file, log.file + ".trash");
  }
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Verify();
  ExpectFreed();
  EXPECT_TRUE(Kept(".trash").empty());
}

TEST_F(DeviceTest, ARetainedLogIsNotTakenForNobodys) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  RawWalOptions options;
  options.device = device_;
  std::vector<RawWalLogInfo> removed;
  for (const RawWalLogInfo& log : RetainedLogs()) {
    const Status s = raw_wal_fs::RemoveLogs(options, {log.id}, &removed);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("is in use: its file is " + log.file), std::string::npos)
        << s.ToString();
  }
  LoseAndReopen();
}

// A damaged one is one that an SST cannot be rebuilt of, and no more.
TEST_F(DeviceTest, ARetainedLogThatIsLost) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  RawWalOptions options;
  options.device = device_;
  options.force = true;
  std::vector<RawWalLogInfo> removed;
  ASSERT_OK(raw_wal_fs::RemoveLogs(options, {RetainedLogs()[0].id}, &removed));
  OpenStack();  // what is in memory is there, and gets elsewhere
  ASSERT_FALSE(HasFailure());
  Verify();
  LoseAndReopen();
}

TEST_F(DeviceTest, TheDeviceIsMissingOrAnother) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  fs::rename(device_, device_ + ".away");
  ASSERT_OK(Mount(Stack()));  // makes one
  Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("is on the log device with uuid"), std::string::npos);
  s = Mount(Tiered("target={id=RawWalFileSystem;device=" + device_ + ".gone}"));
  s = s.ok() ? TryOpen() : s;
  EXPECT_FALSE(s.ok());
  s = Mount(Tiered("mover=true"));  // without a device
  s = s.ok() ? TryOpen() : s;
  EXPECT_FALSE(s.ok());
  Mount(Stack()).PermitUncheckedError();
  env_.reset();
  fs_.reset();
  fs::rename(device_ + ".away", device_);
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// The memory tier would see stubs instead of logs.
TEST_F(DeviceTest, TheOtherOrder) {
  const auto above = [this](const std::string& tiered) {
    return Device(";target={" + tiered + "}");
  };
  const Status s = Mount(above(Tiered("mover=true")));
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("id=TieredFileSystem;...;target={id=RawWalFileSystem;...}"),
            std::string::npos)
      << s.ToString();
  // With durable tiers either will do, and one follows the other.
  const std::string durable =
      "id=TieredFileSystem;tiers={" + Tiers() + "};placement={0..1=fast;2..=slow}";
  ASSERT_OK(Mount(above(durable)));
  Open();
  ASSERT_FALSE(HasFailure());
  Fill(3000);
  ASSERT_OK(Mount(durable + ";target={" + Device() + "}"));
  Open();
  ASSERT_FALSE(HasFailure());
  Verify();
  Fill(3000);
  ASSERT_OK(Mount(above(durable)));
  Open();
  ASSERT_FALSE(HasFailure());
  Verify();
  Fill(300);
  Close();
  // So the database of the order that is refused opens in the other one.
  ASSERT_OK(Mount("id=TieredFileSystem;tiers={" + Tiers() + ";" +
                  "memory={kind=memory;path=" + TierPath("memory") +
                  "}};placement={0..2=memory;3..=slow};target={" + Device() + "}"));
  Open();
  ASSERT_FALSE(HasFailure());
  Verify();
}

// Stock RocksDB opens them.
TEST_F(DeviceTest, CheckpointsAndBackups) {
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Write(3);
  Fill(300);
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/checkpoint", 1 << 30));
  {
    BackupEngine* made = nullptr;
    const BackupEngineOptions options(folder_ + "/backup", Env::Default());
    ASSERT_OK(BackupEngine::Open(options, env_.get(), &made));
    const std::unique_ptr<BackupEngine> engine(made);
    ASSERT_OK(engine->CreateNewBackup(db_.get()));
    ASSERT_OK(engine->RestoreDBFromLatestBackup(folder_ + "/restored", folder_ + "/restored"));
  }
  Close();
  for (const char* copy : {"/checkpoint", "/restored"}) {
    SCOPED_TRACE(copy);
    Options options;
    ASSERT_OK(OpenDb(options, folder_ + copy, &db_));
    Verify();
    Close();
  }
}

TEST_F(DeviceTest, ReadOnlyAndSecondary) {
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Write(3);
  Fill(300);
  const std::unique_ptr<DB> primary = std::move(db_);
  ASSERT_OK(OpenDbAsSecondary(DbOptions(), db_name_, folder_ + "/secondary", &db_));
  Verify();
  db_.reset();
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  Verify();
  db_.reset();
}

// The tools of both plugins: the device is left, then memory.
TEST_F(DeviceTest, TheWayOut) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  std::vector<tiered_env::TieredLogInfo> logs;
  ASSERT_OK(Mount(Stack()));
  ASSERT_OK(tiered_env::InspectLogs(fs_.get(), db_name_, &logs));
  ASSERT_FALSE(logs.empty());
  for (const tiered_env::TieredLogInfo& log : logs) {
    EXPECT_EQ(log.problem, "") << log.path;
  }
  env_.reset();
  fs_.reset();
  RawWalOptions options;
  options.device = device_;
  uint64_t exported = 0;
  ASSERT_OK(raw_wal_fs::ExportLogs(options, db_name_, &exported));
  EXPECT_GE(exported, logs.size());
  EXPECT_TRUE(Logs().empty());
  OpenMemory();  // without the device
  ASSERT_FALSE(HasFailure());
  Verify();
  EXPECT_GT(Stats().rebuilt_files, 0u);
  Write(2);
  Close();
  ASSERT_OK(raw_wal_fs::ImportLogs(options, db_name_, &exported));  // and back
  EXPECT_TRUE(RetainedLogs().empty());  // those have names that only tiered_env knows
  LoseMemory();
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Verify();
  Close();
  uint64_t moved = 0;
  ASSERT_OK(tiered_env::EvacuateTiers(fs_.get(), db_name_, &moved));
  EXPECT_TRUE(RetainedLogs().empty());
  env_.reset();
  fs_.reset();
  ASSERT_OK(raw_wal_fs::ExportLogs(options, db_name_, &exported));
  EXPECT_TRUE(Logs().empty());
  Options stock = DbOptions();
  stock.env = Env::Default();
  stock.listeners.clear();
  ASSERT_OK(OpenDb(stock, db_name_, &db_));
  Verify();
}

// A copy of the directory has stubs of another one's logs, under whatever name.
TEST_F(DeviceTest, ACopyIsRefusedUntilItIsAdopted) {
  Prepare();
  ASSERT_FALSE(HasFailure());
  const std::string original = db_name_;
  fs::rename(original, folder_ + "/original");
  fs::copy(folder_ + "/original", original, fs::copy_options::recursive);
  fs::remove_all(folder_ + "/original");
  LoseMemory();
  ASSERT_OK(Mount(Stack()));
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  env_.reset();
  fs_.reset();
  RawWalOptions options;
  options.device = device_;
  options.force = true;
  raw_wal_fs::RawWalAdoption adoption;
  const size_t retained = RetainedLogs().size();
  ASSERT_OK(raw_wal_fs::AdoptLogs(options, db_name_, &adoption));
  EXPECT_GE(adoption.foreign.size(), retained);
  EXPECT_TRUE(adoption.missing.empty());
  OpenStack();
  ASSERT_FALSE(HasFailure());
  Verify();
  Close();
  ExpectSound();
}

}  // namespace

}  // namespace rocktier
