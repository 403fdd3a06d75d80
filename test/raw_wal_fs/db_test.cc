// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases whose logs are on a device: a file, and, as root, loop devices with sectors of 512 and
// 4096 bytes.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "rocksdb/transaction_log.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/raw_wal_fs/support.h"
#include "test/support/hanging_fs.h"
#include "test/support/wait.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

class RawWalDbTest : public RawWalDeviceTest {
 protected:
  void SetUp() override {
    RawWalDeviceTest::SetUp();
    NewFs();
  }

  raw_wal_fs::RawWalStats Stats() const {
    raw_wal_fs::RawWalStats stats;
    EXPECT_OK(raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
    return stats;
  }
  // Damages a byte of the only log, in each frame that has it.
  void Damage(uint64_t offset) {
    raw_wal_fs::RawWalDeviceInfo info;
    ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
    ASSERT_EQ(info.logs.size(), 1u);
    ASSERT_GT(info.logs[0].bytes, offset);
    std::fstream device(device_, std::ios::in | std::ios::out | std::ios::binary);
    for (const raw_wal_fs::RawWalFrame& frame : info.logs[0].frames) {
      if (frame.offset <= offset && frame.offset + frame.length > offset) {
        device.seekp(static_cast<std::streamoff>(frame.position + raw_wal_fs::FrameHeader::kSize +
                                                 offset - frame.offset));
        device.put('#');
      }
    }
  }
};

TEST_P(RawWalDbTest, LogsAreOnTheDeviceAndReplayed) {
  Open();
  Put("a", "1");
  Put("b", "2", /*sync=*/false);
  EXPECT_EQ(Stats().logs_created, 1u);
  EXPECT_GE(Stats().syncs, 1u);
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

TEST_P(RawWalDbTest, TheBlockSizeIsTheDevices) {
  Open();
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
  EXPECT_EQ(info.block_size, GetParam().sector == 0 ? 4096 : GetParam().sector);
}

TEST_P(RawWalDbTest, ManyLogsOfAllSizesComeAndGo) {
  Options options = DbOptions();
  options.write_buffer_size = 64 << 10;
  Open(options);
  for (int i = 0; i < 3000; i++) {
    Put("key" + std::to_string(i), std::string(static_cast<size_t>(i % 7 == 0 ? 20000 : 100), 'v'),
        i % 5 == 0);
  }
  EXPECT_GT(Stats().logs_deleted, 20u);
  EXPECT_EQ(Stats().logs_spilled, 0u);
  NewFs();
  Open();
  for (int i = 0; i < 3000; i++) {
    ASSERT_EQ(Get("key" + std::to_string(i)).size(), i % 7 == 0 ? 20000u : 100u) << i;
  }
}

// An EnvWrapper overrides the Env interface, which knows nothing of what FileOptions add to
// EnvOptions.
class OldEnv : public EnvWrapper {
 public:
  explicit OldEnv(Env* target) : EnvWrapper(target) {}
  const char* Name() const override { return "OldEnv"; }
};

TEST_P(RawWalDbTest, AWrapperOfTheEnvInterfaceIsNoHindrance) {
  OldEnv old(env_.get());
  Options options = DbOptions();
  options.env = &old;
  Open(options);
  Put("a", "1");
  EXPECT_EQ(Stats().logs_created, 1u);
  Open(options);
  EXPECT_EQ(Get("a"), "1");
  db_.reset();
}

TEST_P(RawWalDbTest, ADatabaseOfStockRocksDbIsTakenOver) {
  Options stock;
  stock.create_if_missing = true;
  stock.avoid_flush_during_shutdown = true;
  {
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(stock, db_name_, &db));
    ASSERT_OK(db->Put(WriteOptions(), "a", "1"));
  }
  Open();
  EXPECT_EQ(Get("a"), "1");
  Put("b", "2");
  EXPECT_EQ(Stats().logs_created, 1u);
}

TEST_P(RawWalDbTest, AppendedBytesAreSeenAtOnce) {
  Open();
  Put("a", "1");
  std::unique_ptr<TransactionLogIterator> it;
  ASSERT_OK(db_->GetUpdatesSince(1, &it));
  ASSERT_TRUE(it->Valid());
  for (int i = 0; i < 100; i++) {
    Put("key", std::string(1000, 'x'), /*sync=*/false);
    it->Next();
    ASSERT_TRUE(it->Valid()) << i << " " << it->status().ToString();
    EXPECT_EQ(it->GetBatch().sequence, static_cast<SequenceNumber>(i + 2));
  }
}

// A reader that lists the directory meets logs at every moment of their lives.
TEST_P(RawWalDbTest, LogsAreLookedAtWhileTheyAreMade) {
  Options options = DbOptions();
  options.write_buffer_size = 64 << 10;
  options.WAL_ttl_seconds = 3600;
  Open(options);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      std::vector<std::string> names;
      fs_->GetChildren(db_name_, IOOptions(), &names, nullptr).PermitUncheckedError();
      for (const std::string& name : names) {
        uint64_t size;
        fs_->GetFileSize(db_name_ + "/" + name, IOOptions(), &size, nullptr).PermitUncheckedError();
      }
    }
  });
  for (int i = 0; i < 2000; i++) {
    Put("key" + std::to_string(i), std::string(1000, 'v'), /*sync=*/false);
  }
  done = true;
  reader.join();
  std::unique_ptr<TransactionLogIterator> it;
  ASSERT_OK(db_->GetUpdatesSince(1, &it));
  SequenceNumber expected = 1;
  for (; it->Valid(); it->Next()) {
    ASSERT_EQ(it->GetBatch().sequence, expected++);
  }
  EXPECT_OK(it->status());
  EXPECT_EQ(expected, 2001u);
}

TEST_P(RawWalDbTest, ASecondaryFollows) {
  Open();
  Put("a", "1");
  Options options = DbOptions();
  options.max_open_files = -1;
  std::unique_ptr<DB> secondary;
  ASSERT_OK(OpenDbAsSecondary(options, db_name_, folder_ + "/secondary", &secondary));
  std::string value;
  ASSERT_OK(secondary->Get(ReadOptions(), "a", &value));
  Put("b", "2", /*sync=*/false);
  ASSERT_OK(secondary->TryCatchUpWithPrimary());
  ASSERT_OK(secondary->Get(ReadOptions(), "b", &value));
  EXPECT_EQ(value, "2");
}

TEST_P(RawWalDbTest, ACheckpointNeedsNeitherPluginNorDevice) {
  Open();
  Put("a", "1");
  Put("b", "2", /*sync=*/false);
  Checkpoint* raw = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &raw));
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/checkpoint", /*log_size_for_flush=*/1 << 30));
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(Options(), folder_ + "/checkpoint", &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "b", &value));
  EXPECT_EQ(value, "2");
}

TEST_P(RawWalDbTest, ABackupNeedsNeitherPluginNorDevice) {
  Open();
  Put("a", "1");
  BackupEngine* raw = nullptr;
  BackupEngineOptions options(folder_ + "/backup");
  ASSERT_OK(BackupEngine::Open(env_.get(), options, &raw));
  std::unique_ptr<BackupEngine> engine(raw);
  ASSERT_OK(engine->CreateNewBackup(db_.get(), /*flush_before_backup=*/false));
  engine.reset();
  ASSERT_OK(BackupEngine::Open(Env::Default(), options, &raw));
  engine.reset(raw);
  ASSERT_OK(engine->RestoreDBFromLatestBackup(folder_ + "/restored", folder_ + "/restored"));
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(Options(), folder_ + "/restored", &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "a", &value));
}

TEST_P(RawWalDbTest, ArchivedLogsStayReadable) {
  Options options = DbOptions();
  options.WAL_ttl_seconds = 3600;
  Open(options);
  for (int i = 0; i < 5; i++) {
    Put("key" + std::to_string(i), "value");
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_TRUE(std::filesystem::exists(db_name_ + "/archive"));
  EXPECT_EQ(Stats().logs_deleted, 0u);
  std::unique_ptr<TransactionLogIterator> it;
  ASSERT_OK(db_->GetUpdatesSince(1, &it));
  int updates = 0;
  for (; it->Valid(); it->Next()) {
    updates++;
  }
  EXPECT_EQ(updates, 5);
}

TEST_P(RawWalDbTest, ARenameThatFailsHarmsNothing) {
  Open();
  Put("a", "1");
  const IOStatus s = fs_->RenameFile(db_name_ + "/none.log", NewestLog(), IOOptions(), nullptr);
  EXPECT_TRUE(s.IsPathNotFound()) << s.ToString();
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_P(RawWalDbTest, LogsAreRecycled) {
  Options options = DbOptions();
  options.recycle_log_file_num = 2;
  Open(options);
  for (int i = 0; i < 20; i++) {
    Put("key" + std::to_string(i), "value" + std::to_string(i));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  Put("last", "value");
  NewFs();
  Open();
  EXPECT_EQ(Get("last"), "value");
  EXPECT_EQ(Get("key19"), "value19");
}

TEST_P(RawWalDbTest, TwoDatabasesShareADevice) {
  Open();
  Put("a", "1");
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(other->Put(sync, "a", "2"));
  EXPECT_EQ(Get("a"), "1");
  other.reset();
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
  ASSERT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
  std::string value;
  ASSERT_OK(other->Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value, "2");
}

TEST_P(RawWalDbTest, DestroyDbFreesTheDevice) {
  Open();
  Put("a", "1");
  EXPECT_GT(Stats().segments_used, 0u);
  db_.reset();
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(Stats().segments_used, 0u);
  EXPECT_FALSE(std::filesystem::exists(db_name_ + "/CURRENT"));
}

TEST_P(RawWalDbTest, RepairDbKeepsWhatIsInTheLogs) {
  Open();
  Put("a", "1");
  db_.reset();
  std::filesystem::remove(db_name_ + "/CURRENT");
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_P(RawWalDbTest, ReadOnlyOpenChangesNothing) {
  Open();
  Put("a", "1");
  Put("b", "2", /*sync=*/false);
  NewFs();
  const std::string before = ReadAll(device_);
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db));
  std::string value;
  ASSERT_OK(db->Get(ReadOptions(), "b", &value));
  db.reset();
  EXPECT_TRUE(before == ReadAll(device_));
}

TEST_P(RawWalDbTest, AFullDeviceSpills) {
  device_size_ = (1 << 20) + 4 * (64 << 10);
  fs_.reset();
  MakeDevice();
  NewFs();
  Options options = DbOptions();
  options.write_buffer_size = 32 << 10;
  options.max_write_buffer_number = 8;
  Open(options);
  for (int i = 0; i < 500; i++) {
    Put("key" + std::to_string(i), std::string(1000, 'v'), i % 3 == 0);
  }
  NewFs();
  Open();
  for (int i = 0; i < 500; i++) {
    ASSERT_EQ(Get("key" + std::to_string(i)), std::string(1000, 'v')) << i;
  }
}

TEST_P(RawWalDbTest, LogsAreExportedAndImported) {
  Open();
  for (int i = 0; i < 200; i++) {
    Put("key" + std::to_string(i), std::string(static_cast<size_t>(i) * 50, 'v'), i % 2 == 0);
  }
  NewFs();  // closes it
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  uint64_t logs = 0;
  ASSERT_OK(raw_wal_fs::ExportLogs(wal, db_name_, &logs));
  EXPECT_EQ(logs, 1u);
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  EXPECT_EQ(info.segments_used, 0u);
  std::string value;
  {
    std::unique_ptr<DB> stock;
    ASSERT_OK(OpenDbForReadOnly(Options(), db_name_, &stock));
    for (int i = 0; i < 200; i++) {
      ASSERT_OK(stock->Get(ReadOptions(), "key" + std::to_string(i), &value));
      ASSERT_EQ(value.size(), static_cast<size_t>(i) * 50);
    }
  }
  ASSERT_OK(raw_wal_fs::ImportLogs(wal, db_name_, &logs));
  EXPECT_EQ(logs, 1u);
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  ASSERT_EQ(info.logs.size(), 1u);
  EXPECT_EQ(info.logs[0].problem, "");
  std::unique_ptr<DB> db;
  ASSERT_FALSE(OpenDbForReadOnly(Options(), db_name_, &db).ok());
  Open();
  EXPECT_EQ(Get("key199"), std::string(199 * 50, 'v'));
}

TEST_P(RawWalDbTest, DamageToAcknowledgedBytesIsNotPassedOver) {
  Open();
  for (int i = 0; i < 100; i++) {
    Put("key" + std::to_string(i), std::string(1000, 'v'));
  }
  NewFs();
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  ASSERT_EQ(info.logs.size(), 1u);
  ASSERT_EQ(info.logs[0].problem, "");
  // Damages the frame with the fiftieth key and any that repeats it.
  std::fstream device(device_, std::ios::in | std::ios::out | std::ios::binary);
  for (const raw_wal_fs::RawWalFrame& frame : info.logs[0].frames) {
    if (frame.offset <= 50000 && frame.offset + frame.length > 50000) {
      device.seekp(static_cast<std::streamoff>(frame.position + 2000));
      device.put('#');
    }
  }
  device.close();
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  EXPECT_NE(info.logs[0].problem, "");
  for (WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency}) {
    Options options = DbOptions();
    options.wal_recovery_mode = mode;
    std::unique_ptr<DB> db;
    const Status s = OpenDb(options, db_name_, &db);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  }
  Options options = DbOptions();
  options.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  Open(options);
  EXPECT_EQ(Get("key0"), std::string(1000, 'v'));
  EXPECT_EQ(Get("key99"), std::string(1000, 'v'));
}

// Stock RocksDB would open the database with its default options, and delete the plain log.
TEST_P(RawWalDbTest, ADamagedLogIsExportedByForceOnly) {
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  for (const uint64_t damaged : {20000, 100000}) {  // in an early segment, in the last one
    SCOPED_TRACE(damaged);
    db_name_ = folder_ + "/db" + std::to_string(damaged);
    Open();
    for (int i = 0; i < 100; i++) {
      Put("key" + std::to_string(i), std::string(1000, 'v'));
    }
    NewFs();
    Damage(damaged);
    ASSERT_FALSE(HasFatalFailure());
    raw_wal_fs::RawWalDeviceInfo before;
    ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &before));
    ASSERT_GE(before.segments_used, 3u);
    uint64_t logs = 0;
    wal.force = false;
    for (const bool dry_run : {true, false}) {
      wal.dry_run = dry_run;
      const Status s = raw_wal_fs::ExportLogs(wal, db_name_, &logs);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find("lacks bytes that were durable"), std::string::npos)
          << s.ToString();
    }
    raw_wal_fs::RawWalDeviceInfo info;
    ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
    EXPECT_EQ(info.segments_used, before.segments_used);
    EXPECT_FALSE(std::filesystem::exists(NewestLog() + ".exported"));
    wal.force = true;
    ASSERT_OK(raw_wal_fs::ExportLogs(wal, db_name_, &logs));
    EXPECT_EQ(logs, 1u);
    ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
    EXPECT_EQ(info.segments_used, 0u);
    Options stock;
    stock.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
    ASSERT_OK(OpenDb(stock, db_name_, &db_));
    EXPECT_EQ(Get("key0"), std::string(1000, 'v'));
    EXPECT_EQ(Get("key70"), std::string(1000, 'v'));
    db_.reset();
  }
}

TEST_P(RawWalDbTest, OtherDevicesAndOtherContentsAreRefused) {
  Open();
  Put("a", "1");
  db_.reset();
  // Another device for the same database.
  device_ = folder_ + "/other-device";
  NewFs();
  std::unique_ptr<DB> db;
  Status s = OpenDb(DbOptions(), db_name_, &db);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find("uuid"), std::string::npos) << s.ToString();
  // A file that is something else.
  std::filesystem::copy_file(db_name_ + "/CURRENT", folder_ + "/text");
  device_ = folder_ + "/text";
  std::shared_ptr<FileSystem> fs;
  s = FileSystem::CreateFromString(ConfigOptions(), Uri(), &fs);
  ASSERT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("not blank"), std::string::npos) << s.ToString();
}

TEST_P(RawWalDbTest, PropertiesAreTheStatistics) {
  Open();
  Put("a", "1");
  Put("b", "2");
  const raw_wal_fs::RawWalStats stats = Stats();
  EXPECT_GE(stats.syncs, 2u);
  const auto property = [&](const std::string& name) {
    std::string value = "none";
    raw_wal_fs::GetRawWalProperty(fs_.get(), "rocktier.raw_wal_fs." + name, &value);
    return value;
  };
  EXPECT_EQ(property("appended_bytes"), std::to_string(stats.appended_bytes));
  EXPECT_EQ(property("logs_created"), "1");
  EXPECT_EQ(property("segments"), std::to_string(stats.segments));
  EXPECT_EQ(std::stod(property("sync_max_seconds")), static_cast<double>(stats.sync_max_us) / 1e6);
  EXPECT_EQ(property("sync_max_us"), "none");
  std::string value = "as it was";
  EXPECT_FALSE(raw_wal_fs::GetRawWalProperty(FileSystem::Default().get(),
                                             "rocktier.raw_wal_fs.segments", &value));
  EXPECT_EQ(value, "as it was");
  const std::string text = raw_wal_fs::RawWalMetricsText(fs_.get());
  EXPECT_NE(text.find("rocktier_raw_wal_fs_segments{device=\"" + device_ + "\"} " +
                      std::to_string(stats.segments) + "\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(raw_wal_fs::RawWalMetricsText(FileSystem::Default().get()), "");
}

TEST_P(RawWalDbTest, TheStatisticsFileGoesAndTheLogHasABlock) {
  const std::string file = db_name_ + "/rocktier_raw_wal_fs.prom";
  Open();
  for (int i = 0; i < 600 && !std::filesystem::exists(file); i++) {
    Env::Default()->SleepForMicroseconds(50000);
  }
  EXPECT_NE(ReadAll(file).find("db=\"" + db_name_ + "\",device=\"" + device_ + "\""),
            std::string::npos);
  db_.reset();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_NE(
      ReadAll(db_name_ + "/LOG").find("raw_wal_fs: statistics of " + device_ + "\n  appends "),
      std::string::npos);
  // As a process leaves them that is killed.
  std::ofstream(file) << "# HELP rocktier_raw_wal_fs_info stale\n";
  std::ofstream(file + ".raw_wal_fs.4194304.tmp") << "half";  // Linux has no such process
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(std::filesystem::exists(db_name_));
}

TEST_P(RawWalDbTest, TheBlockIsInTheLogThatIsTheNewest) {
  Options options = DbOptions();
  options.max_log_file_size = 4000;
  options.keep_log_file_num = 1000;
  Open(options);
  db_.reset();
  std::string all;
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
    if (entry.path().filename().string().compare(0, 3, "LOG") == 0) {
      all += ReadAll(entry.path().string());
      logs++;
    }
  }
  EXPECT_GT(logs, 1);
  EXPECT_NE(all.find("raw_wal_fs: statistics of " + device_ + "\n  appends "), std::string::npos);
}

TEST_P(RawWalDbTest, AStatisticsFileThatHangsHoldsUpNoOpening) {
  const auto hanging = std::make_shared<HangingFs>("/all.prom");
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  options.size = device_size_;
  options.segment_size = 64 << 10;
  options.metrics_file = folder_ + "/all.prom";
  env_.reset();
  ASSERT_OK(raw_wal_fs::NewRawWalFileSystem(options, hanging, &fs_));
  env_ = NewCompositeEnv(fs_);
  Open();
  ASSERT_TRUE(WaitFor([&] { return hanging->is_hanging(); }));
  auto closed = std::async(std::launch::async, [&] { db_.reset(); });
  EXPECT_EQ(closed.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout);
  auto another = std::async(std::launch::async, [&] {
    std::unique_ptr<DB> other;
    EXPECT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
    EXPECT_OK(other->Put(WriteOptions(), "key", "value"));
  });
  EXPECT_EQ(another.wait_for(std::chrono::seconds(120)), std::future_status::ready);
  hanging->Release();
}

TEST_P(RawWalDbTest, OptionsOfStatisticsAreChecked) {
  std::shared_ptr<FileSystem> fs;
  EXPECT_OK(FileSystem::CreateFromString(
      ConfigOptions(), Uri("metrics_interval=86400;metrics_file=/a/b.prom"), &fs));
  for (const char* const bad :
       {"metrics_interval=86401", "metrics_file=/a/b", "metrics_file=b.prom"}) {
    const Status s = FileSystem::CreateFromString(ConfigOptions(), Uri(bad), &fs);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find(bad), std::string::npos) << s.ToString();
  }
}

INSTANTIATE_TEST_CASE_P(Devices, RawWalDbTest, ::testing::ValuesIn(DeviceKinds()), NameOf);

}  // namespace

}  // namespace rocktier
