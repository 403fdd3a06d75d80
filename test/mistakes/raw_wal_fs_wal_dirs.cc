// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Copies of a database whose logs are elsewhere, in a wal_dir: the copy has the same one.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/mistakes/raw_wal_fs_copies.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

namespace {

class WalDirMistakes : public CopyMistakes {
 protected:
  // A closed database with a log in wal_, and a copy of it without that.
  void FillAndCopy() {
    FillOne("value");
    Copy(db_name_, copy_);
  }
  void FillOne(const std::string& value) {
    NewFs();
    Open(WithWalDir());
    Put("key", value);
    NewFs();
  }
  void ExpectOpens(const std::string& name, const std::string& value = "value") {
    NewFs();
    db_name_ = name;
    Open(WithWalDir());
    EXPECT_EQ(Get("key"), value);
    NewFs();
  }
  // Opens a database in any way, and returns what its opening says. Its paranoid_checks=false makes
  // RocksDB pass over logs.
  Status TryToOpen(const std::string& name, bool paranoid = true) {
    Options options = WithWalDir();
    options.paranoid_checks = paranoid;
    std::unique_ptr<DB> db;
    return OpenDb(options, name, &db);
  }
  void ExpectWalDirRefused(const std::string& name, const std::string& mentions) {
    for (const bool paranoid : {true, false}) {
      NewFs();
      const Status s = TryToOpen(name, paranoid);
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_NE(s.ToString().find(mentions), std::string::npos) << s.ToString();
    }
  }
  std::vector<std::string> Names(const std::string& folder) const {
    std::vector<std::string> names;
    EXPECT_OK(env_->GetChildren(folder, &names));
    std::sort(names.begin(), names.end());
    return names;
  }

  const std::string wal_ = folder_ + "/wal";
  const std::string home_file_ = wal_ + "/rocktier_raw_wal_fs.home";
  const std::string copy_ = folder_ + "/db2";
};

TEST_F(WalDirMistakes, ACopyHasTheWalDirOfTheOriginal) {
  FillAndCopy();
  const std::vector<std::string> before = Names(wal_);
  ExpectWalDirRefused(copy_,
                      "is a copy of " + db_name_ + ": the logs in " + wal_ + " are that one's");
  ExpectWalDirRefused(copy_, "wal adopt " + device_ + " " + copy_);
  EXPECT_EQ(before, Names(wal_));
  ExpectOpens(db_name_);
}

TEST_F(WalDirMistakes, ACopyIsDestroyedRepairedOrExported) {
  FillAndCopy();
  const std::vector<std::string> before = Names(wal_);
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  for (const bool force : {false, true}) {
    wal.force = force;
    uint64_t logs = 0;
    NewFs();
    EXPECT_FALSE(raw_wal_fs::ExportLogs(wal, copy_, &logs).ok());
    EXPECT_EQ(before, Names(wal_));
  }
  NewFs();
  RepairDB(copy_, WithWalDir()).PermitUncheckedError();
  fs::remove(wal_ + "/lost");  // nothing was moved there
  EXPECT_EQ(before, Names(wal_));
  EXPECT_FALSE(DestroyDB(copy_, WithWalDir()).ok());
  EXPECT_EQ(before, Names(wal_));
  ExpectOpens(db_name_);
}

TEST_F(WalDirMistakes, ACopyIsAdoptedByForceAndTheOriginalIsRefusedThen) {
  FillAndCopy();
  const auto said = Adopt(copy_, /*force=*/false);
  EXPECT_EQ(said.foreign.size(), 1u);
  EXPECT_EQ(said.losers, std::vector<std::string>{db_name_});
  ExpectWalDirRefused(copy_, db_name_);
  EXPECT_EQ(Adopt(copy_, /*force=*/true).foreign.size(), 1u);
  EXPECT_TRUE(Adopt(copy_, /*force=*/false).foreign.empty());
  ExpectWalDirRefused(db_name_, "is a copy of " + copy_);
  ExpectOpens(copy_);
}

TEST_F(WalDirMistakes, ACopyInThePlaceOfTheOriginal) {
  FillAndCopy();
  fs::rename(db_name_, folder_ + "/newest");
  fs::rename(copy_, db_name_);
  ExpectWalDirRefused(db_name_, "may be an older copy");
  fs::remove_all(db_name_);
  ExpectOpens(folder_ + "/newest");
  Copy(folder_ + "/newest", copy_);
  fs::remove_all(folder_ + "/newest");
  ExpectWalDirRefused(copy_, "may be a copy");
  EXPECT_EQ(Adopt(copy_, /*force=*/true).foreign.size(), 1u);
  ExpectOpens(copy_);
}

TEST_F(WalDirMistakes, ARenamedDatabaseOpens) {
  FillOne("value");
  const std::string renamed = folder_ + "/renamed";
  fs::rename(db_name_, renamed);
  ExpectOpens(renamed);
  EXPECT_NE(ReadAll(home_file_).find(renamed), std::string::npos);
}

// Its logs were plain ones of stock RocksDB, and have been opened by nobody yet.
TEST_F(WalDirMistakes, ACopyOfADatabaseWhoseLogsWereImported) {
  Options stock;
  stock.create_if_missing = true;
  stock.avoid_flush_during_shutdown = true;
  stock.wal_dir = wal_;
  ASSERT_OK(OpenDb(stock, db_name_, &db_));
  Put("key", "value");
  db_.reset();
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  wal.size = device_size_;
  wal.segment_size = 64 << 10;
  uint64_t logs = 0;
  ASSERT_OK(raw_wal_fs::ImportLogs(wal, db_name_, &logs));
  EXPECT_EQ(logs, 1u);
  EXPECT_NE(ReadAll(home_file_).find(db_name_), std::string::npos);
  Copy(db_name_, copy_);
  const std::vector<std::string> before = Names(wal_);
  ExpectWalDirRefused(copy_, "is a copy of " + db_name_);
  EXPECT_EQ(before, Names(wal_));
  ExpectOpens(db_name_);
}

// Its OPTIONS file has the wal_dir of the original, and its logs are in its own folder.
TEST_F(WalDirMistakes, ACheckpointOpens) {
  FillOne("value");
  Open(WithWalDir());
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint(copy_));
  Put("key", "newer");
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(DbOptions(), copy_, &db));  // beside the original
  EXPECT_EQ(Get(db.get(), "key"), "value");
  db.reset();
  ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/third"));
  NewFs();
  Options options = DbOptions();
  options.wal_dir = folder_ + "/wal3";
  ASSERT_OK(OpenDb(options, folder_ + "/third", &db));
  EXPECT_EQ(Get(db.get(), "key"), "newer");
  db.reset();
  ExpectOpens(db_name_, "newer");
}

TEST_F(WalDirMistakes, AnotherDatabaseIsOpenedWithAWalDirThatIsInUse) {
  FillOne("value");
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), copy_, &other));
  other.reset();
  ExpectWalDirRefused(copy_, db_name_);
  ExpectOpens(db_name_);
}

TEST_F(WalDirMistakes, AWalDirWithoutLogsIsAnybodys) {
  FillOne("value");
  ASSERT_TRUE(fs::exists(home_file_));
  const std::string file = ReadAll(home_file_);
  fs::remove_all(wal_);
  fs::create_directory(wal_);
  std::ofstream(home_file_, std::ios::binary) << file;
  NewFs();
  db_name_ = copy_;
  Open(WithWalDir());
  Put("key", "other");
  EXPECT_NE(ReadAll(home_file_).find(copy_), std::string::npos);
  ExpectOpens(copy_, "other");
}

// RocksDB makes the directory, and finds no log in it. Nothing is written that would let it take
// its log for obsolete when that is back.
TEST_F(WalDirMistakes, TheDiskOfTheWalDirIsNotMounted) {
  for (const bool of_earlier_version : {false, true}) {
    fs::remove_all(db_name_);
    fs::remove_all(wal_);
    fs::remove(device_);
    FillOne("value");
    if (of_earlier_version) {
      ASSERT_TRUE(fs::remove(home_file_));
    }
    const std::vector<std::string> names = Names(wal_);
    ASSERT_EQ(names.size(), 1u);
    const std::string away = folder_ + "/away";
    fs::rename(wal_, away);
    ExpectWalDirRefused(db_name_, "created as " + wal_ + "/" + names[0]);
    ExpectWalDirRefused(db_name_, "is its disk mounted?");
    EXPECT_TRUE(fs::is_empty(wal_));
    // Whoever writes no log is not asked.
    NewFs();
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDbForReadOnly(WithWalDir(), db_name_, &db));
    db.reset();
    FileLock* lock = nullptr;
    ASSERT_OK(fs_->LockFile(db_name_ + "/LOCK", IOOptions(), &lock, nullptr));
    ASSERT_OK(fs_->UnlockFile(lock, IOOptions(), nullptr));
    fs::remove_all(wal_);
    fs::rename(away, wal_);
    ExpectOpens(db_name_);
    EXPECT_TRUE(fs::exists(home_file_));
  }
}

TEST_F(WalDirMistakes, AWalDirThatIsGoneForGood) {
  FillOne("value");
  fs::rename(wal_, folder_ + "/gone");
  ExpectWalDirRefused(db_name_, "free it with 'rocktier wal rm --force'");
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
  ASSERT_EQ(info.logs.size(), 1u);
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  wal.force = true;
  std::vector<raw_wal_fs::RawWalLogInfo> removed;
  NewFs();
  ASSERT_OK(raw_wal_fs::RemoveLogs(wal, {info.logs[0].id}, &removed));
  ExpectOpens(db_name_, "NotFound: ");
}

// They were in another directory of the path of this one.
TEST_F(WalDirMistakes, LogsThatARemovedDatabaseHasLeft) {
  FillOne("old");
  fs::remove_all(db_name_);
  fs::remove_all(wal_);
  FillOne("value");
  ExpectOpens(db_name_);
  ASSERT_TRUE(fs::remove(home_file_));  // as builds before it left it
  ExpectOpens(db_name_);
}

TEST_F(WalDirMistakes, ADatabaseOfAnEarlierVersionGetsTheFile) {
  FillOne("value");
  ASSERT_TRUE(fs::remove(home_file_));
  ExpectOpens(db_name_);
  ASSERT_TRUE(fs::exists(home_file_));
  Copy(db_name_, copy_);
  ExpectWalDirRefused(copy_, db_name_);
}

TEST_F(WalDirMistakes, TheFileIsDamaged) {
  FillOne("value");
  const std::string good = ReadAll(home_file_);
  std::string changed = good;
  changed[good.size() - 1] ^= 1;
  for (const std::string& bad :
       {changed, std::string(), good.substr(0, 20), good + "x", std::string(1 << 20, 'x')}) {
    std::ofstream(home_file_, std::ios::binary) << bad;
    for (const bool paranoid : {true, false}) {
      NewFs();
      const Status s = TryToOpen(db_name_, paranoid);
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find(home_file_), std::string::npos) << s.ToString();
    }
  }
  std::ofstream(home_file_, std::ios::binary) << good;
  ExpectOpens(db_name_);
}

TEST_F(WalDirMistakes, TheFileIsHiddenAndGoesWithTheWalDir) {
  FillOne("value");
  EXPECT_TRUE(fs::exists(home_file_));
  for (const std::string& name : Names(wal_)) {
    EXPECT_TRUE(raw_wal_fs::IsLogName(name) || name == "archive") << name;
  }
  std::vector<Env::FileAttributes> files;
  ASSERT_OK(env_->GetChildrenFileAttributes(wal_, &files));
  for (const Env::FileAttributes& file : files) {
    EXPECT_NE(file.name, "rocktier_raw_wal_fs.home");
  }
  ASSERT_OK(DestroyDB(db_name_, WithWalDir()));
  EXPECT_FALSE(fs::exists(wal_));
}

// One thread opens both; each goes on in its own wal_dir.
TEST_F(WalDirMistakes, TwoDatabasesWithAWalDirEach) {
  NewFs();
  Open(WithWalDir());
  Options options = WithWalDir();
  options.wal_dir = folder_ + "/wal2";
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(options, copy_, &other));
  for (int i = 0; i < 3; i++) {
    Put("key", "value");
    ASSERT_OK(other->Put(WriteOptions(), "key", "other"));
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(other->Flush(FlushOptions()));
  }
  EXPECT_NE(ReadAll(home_file_).find(db_name_), std::string::npos);
  EXPECT_NE(ReadAll(folder_ + "/wal2/rocktier_raw_wal_fs.home").find(copy_), std::string::npos);
  other.reset();
  ExpectOpens(db_name_);
}

// It is looked at beside another one that this process writes.
TEST_F(WalDirMistakes, AClosedDatabaseIsReadBesideAnother) {
  FillOne("value");
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), copy_, &other));
  ASSERT_OK(OpenDbForReadOnly(WithWalDir(), db_name_, &db_));
  EXPECT_EQ(Get("key"), "value");
  db_.reset();
}

}  // namespace

}  // namespace rocktier
