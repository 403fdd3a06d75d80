// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Shows what a RocksDB without the plugin does with a database whose logs are on a device: it must
// not open it as if there were no logs. And the ways in which it does all the same, as README.md
// tells them.

#include <filesystem>
#include <fstream>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/utilities/ldb_cmd.h"
#include "test/raw_wal_fs/support.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr WALRecoveryMode kModes[] = {
    WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
    WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords};

class RawWalFenceTest : public RawWalTest {
 protected:
  // A database with "flushed" in an SST and "logged" in a log on the device only.
  void SetUp() override {
    NewFs();
    Open();
    Put("flushed", "1");
    ASSERT_OK(db_->Flush(FlushOptions()));
    Put("logged", "2");
    db_.reset();
  }

  // With the plugin nothing is lost.
  void CheckNothingWasHarmed() {
    Open();
    EXPECT_EQ(Get("flushed"), "1");
    EXPECT_EQ(Get("logged"), "2");
    db_.reset();
  }

  // Returns the number of segments that belong to logs.
  uint64_t SegmentsUsed() const {
    raw_wal_fs::RawWalDeviceInfo info;
    EXPECT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
    return info.segments_used;
  }

  // Runs ldb with these arguments in this process; false if the command fails.
  bool Ldb(const std::vector<std::string>& arguments, std::string* message) {
    std::vector<std::string> all = {"--db=" + db_name_};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const std::unique_ptr<LDBCommand> command(
        LDBCommand::InitFromCmdLineArgs(all, Options(), LDBOptions(), nullptr));
    if (command == nullptr || !command->ValidateCmdLineOptions()) {
      ADD_FAILURE() << "ldb does not know " << arguments[0];
      return false;
    }
    command->Run();
    *message = command->GetExecuteState().ToString();
    return !command->GetExecuteState().IsFailed();
  }
};

TEST_F(RawWalFenceTest, NoRecoveryModeOpensTheDatabase) {
  for (const WALRecoveryMode mode : kModes) {
    for (const bool paranoid : {true, false}) {
      Options options;
      options.wal_recovery_mode = mode;
      options.paranoid_checks = paranoid;
      std::unique_ptr<DB> db;
      const std::string which =
          "mode " + std::to_string(static_cast<int>(mode)) + (paranoid ? "" : ", not paranoid");
      EXPECT_FALSE(OpenDb(options, db_name_, &db).ok()) << which;
      EXPECT_FALSE(OpenDbForReadOnly(options, db_name_, &db).ok()) << which << ", read only";
      options.max_open_files = -1;
      EXPECT_FALSE(OpenDbAsSecondary(options, db_name_, folder_ + "/secondary", &db).ok())
          << which << ", secondary";
      // The options that look for logs that are missing.
      options.track_and_verify_wals_in_manifest = true;
      EXPECT_FALSE(OpenDb(options, db_name_, &db).ok()) << which << ", tracked";
    }
  }
  CheckNothingWasHarmed();
}

// A crash may leave a log that was created and nothing more: no byte is lost, but who could tell?
TEST_F(RawWalFenceTest, ALogThatIsEmptyIsAFence) {
  Open();
  ASSERT_OK(db_->Flush(FlushOptions()));
  db_.reset();
  std::unique_ptr<DB> db;
  EXPECT_FALSE(OpenDb(Options(), db_name_, &db).ok());
  CheckNothingWasHarmed();
}

TEST_F(RawWalFenceTest, LogsInADirectoryOfTheirOwnAreAFence) {
  Options options = DbOptions();
  options.wal_dir = folder_ + "/logs";
  const std::string name = folder_ + "/other";
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options, name, &db));
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db->Put(sync, "a", "1"));
  db.reset();
  Options stock;
  stock.wal_dir = options.wal_dir;
  EXPECT_FALSE(OpenDb(stock, name, &db).ok());
  ASSERT_OK(OpenDb(options, name, &db));
  EXPECT_EQ(Get(db.get(), "a"), "1");
}

// Best-efforts recovery has no eye for logs, those of stock RocksDB included.
TEST_F(RawWalFenceTest, BestEffortsRecoveryLosesWhatIsInLogs) {
  for (const bool on_device : {true, false}) {
    const std::string name = folder_ + (on_device ? "/on-device" : "/plain");
    Options options = on_device ? DbOptions() : Options();
    options.create_if_missing = true;
    options.avoid_flush_during_shutdown = true;
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, name, &db));
    ASSERT_OK(db->Put(WriteOptions(), "flushed", "1"));
    ASSERT_OK(db->Flush(FlushOptions()));
    ASSERT_OK(db->Put(WriteOptions(), "logged", "2"));
    db.reset();
    Options best;
    best.best_efforts_recovery = true;
    ASSERT_OK(OpenDb(best, name, &db));
    EXPECT_EQ(Get(db.get(), "flushed"), "1");
    EXPECT_EQ(Get(db.get(), "logged"), "NotFound: ");
  }
}

// RepairDB takes what it can, and moves the rest to "lost": the stubs, too. Nothing on the device
// is touched.
TEST_F(RawWalFenceTest, RepairDbMovesTheStubsAway) {
  ASSERT_OK(RepairDB(db_name_, Options()));
  {
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(Options(), db_name_, &db));
    EXPECT_EQ(Get(db.get(), "flushed"), "1");
    EXPECT_EQ(Get(db.get(), "logged"), "NotFound: ");
  }
  // Back in their place the logs are there for a second RepairDB, with the plugin.
  int stubs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_ + "/lost")) {
    if (entry.path().extension() == ".log" && std::filesystem::file_size(entry.path()) > 0) {
      std::filesystem::rename(entry.path(),
                              std::filesystem::path(db_name_) / entry.path().filename());
      stubs++;
    }
  }
  EXPECT_GE(stubs, 1);
  EXPECT_GT(SegmentsUsed(), 0u);
  NewFs();
  ASSERT_OK(RepairDB(db_name_, DbOptions()));
  CheckNothingWasHarmed();
}

TEST_F(RawWalFenceTest, LdbRefusesTheDatabase) {
  std::string message;
  EXPECT_FALSE(Ldb({"get", "flushed"}, &message)) << message;
  EXPECT_FALSE(Ldb({"scan"}, &message)) << message;
  EXPECT_FALSE(Ldb({"put", "a", "b"}, &message)) << message;
  EXPECT_FALSE(Ldb({"checkpoint", "--checkpoint_dir=" + folder_ + "/checkpoint"}, &message))
      << message;
  EXPECT_FALSE(Ldb({"compact"}, &message)) << message;
  CheckNothingWasHarmed();
}

// DestroyDB without the plugin removes the stubs; the space on the device stays taken, and is told.
TEST_F(RawWalFenceTest, DestroyDbLeavesTheSpaceTaken) {
  const uint64_t used = SegmentsUsed();
  EXPECT_GT(used, 0u);
  ASSERT_OK(DestroyDB(db_name_, Options()));
  EXPECT_FALSE(std::filesystem::exists(db_name_));
  EXPECT_EQ(SegmentsUsed(), used);
}

// Somebody takes the stub for the log and deletes it: no RocksDB sees that, with the plugin or
// without, as with a plain log, unless the manifest tracks logs that were synced.
TEST_F(RawWalFenceTest, ADeletedStubIsADeletedLog) {
  std::filesystem::remove(NewestLog());
  Open();
  EXPECT_EQ(Get("flushed"), "1");
  EXPECT_EQ(Get("logged"), "NotFound: ");
}

}  // namespace

}  // namespace rocktier
