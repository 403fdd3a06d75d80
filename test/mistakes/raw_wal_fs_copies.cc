// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Copies of databases and of devices: a copy is refused, an original opens, and a device that is
// older than the logs that were on it is found out.

#include "test/mistakes/raw_wal_fs_copies.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

namespace {

TEST_F(CopyMistakes, ACopyIsRefusedAndTheOriginalOpens) {
  const std::string original = folder_ + "/db";
  const std::string copy = folder_ + "/db2";
  for (const bool sync : {true, false}) {
    fs::remove_all(original);
    fs::remove_all(copy);
    Fill(original, 50, sync);
    Copy(original, copy);
    ExpectRefused(copy, original);
    // Nor is it destroyed or repaired: the log would go with it.
    Options options = DbOptions();
    EXPECT_FALSE(DestroyDB(copy, options).ok());
    EXPECT_FALSE(RepairDB(copy, options).ok());
    // Nor by the tool.
    raw_wal_fs::RawWalOptions wal;
    wal.device = device_;
    uint64_t logs;
    for (const bool force : {false, true}) {
      wal.force = force;
      NewFs();
      EXPECT_FALSE(raw_wal_fs::ExportLogs(wal, copy, &logs).ok());
    }
    ExpectWhole(original, 50);
    // The original has other logs now; what the copy had is gone, and it says so.
    db_name_ = original;
    Open();
    ASSERT_OK(db_->Flush(FlushOptions()));
    NewFs();
    ExpectRefused(copy, "deleted under another name");
    ExpectWhole(original, 50);
  }
}

TEST_F(CopyMistakes, ACopyThatIsMadeAndOpenedWhileTheOriginalIsOpen) {
  const std::string copy = folder_ + "/db2";
  NewFs();
  Open();
  Put("a", "1");
  Copy(db_name_, copy);
  ExpectRefusedNow(copy, db_name_);
  Put("b", "2");
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

// RepairDB() without the plugin moves stubs to the folder `lost`: the logs are in use as before.
TEST_F(CopyMistakes, AStubThatWasMovedToTheFolderLost) {
  Open();
  Put("a", "1");
  const std::string log = NewestLog();
  NewFs();
  fs::create_directory(db_name_ + "/lost");
  const std::string lost = db_name_ + "/lost" + log.substr(log.rfind('/'));
  fs::rename(log, lost);
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  ASSERT_EQ(info.logs.size(), 1u);
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  std::vector<raw_wal_fs::RawWalLogInfo> removed;
  const Status s = raw_wal_fs::RemoveLogs(options, {info.logs[0].id}, &removed);
  EXPECT_NE(s.ToString().find(lost), std::string::npos) << s.ToString();
  EXPECT_TRUE(removed.empty());
  fs::rename(lost, log);
  Open();
  EXPECT_EQ(Get("a"), "1");
}

// RocksDB deletes what is left of deleted logs in the directory of the database only.
TEST_F(CopyMistakes, ALogWhoseDeletionFromTheArchiveOfAWalDirWasInterrupted) {
  Options options = WithWalDir();
  options.WAL_ttl_seconds = 3600;
  Open(options);
  Put("a", "1");
  ASSERT_OK(db_->Flush(FlushOptions()));
  Put("b", "2");
  NewFs();
  const fs::directory_iterator files(options.wal_dir + "/archive");
  const std::vector<fs::path> archived(fs::begin(files), fs::end(files));
  ASSERT_EQ(archived.size(), 1u);
  fs::rename(archived[0], archived[0].string() + ".trash");
  Open(WithWalDir());
  EXPECT_TRUE(fs::is_empty(options.wal_dir + "/archive"));
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(CopyMistakes, ACopyOfADatabaseThatHasAWalDir) {
  const std::string original = folder_ + "/wal";
  const std::string copy = folder_ + "/wal2";
  Options options = DbOptions();
  options.wal_dir = original;
  Open(options);
  Put("a", "1");
  NewFs();
  Copy(db_name_, folder_ + "/db2");
  Copy(original, copy);
  options = DbOptions();
  options.wal_dir = copy;
  std::unique_ptr<DB> db;
  Status s = OpenDb(options, folder_ + "/db2", &db);
  EXPECT_NE(s.ToString().find(original), std::string::npos) << s.ToString();
  // RocksDB passes over it, and the original has its log nevertheless.
  options.paranoid_checks = false;
  if (OpenDb(options, folder_ + "/db2", &db).ok()) {
    ASSERT_OK(db->Put(WriteOptions(), "b", "2"));
    ASSERT_OK(db->Flush(FlushOptions()));
    db.reset();
  }
  NewFs();
  options = DbOptions();
  options.wal_dir = original;
  Open(options);
  EXPECT_EQ(Get("a"), "1");
}

// RocksDB would pass over a log that it cannot read.
TEST_F(CopyMistakes, AnOlderDeviceOfADatabaseThatHasAWalDir) {
  Open(WithWalDir());
  NewFs();
  fs::copy_file(device_, folder_ + "/snapshot");
  Open(WithWalDir());
  Put("a", "1");
  NewFs();
  fs::rename(device_, folder_ + "/newest");
  fs::rename(folder_ + "/snapshot", device_);
  for (const bool paranoid : {true, false}) {
    NewFs();
    Options options = WithWalDir();
    options.paranoid_checks = paranoid;
    std::unique_ptr<DB> db;
    EXPECT_FALSE(OpenDb(options, db_name_, &db).ok()) << paranoid;
  }
  fs::rename(folder_ + "/newest", device_);
  NewFs();
  Open(WithWalDir());
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(CopyMistakes, WhatWasMovedIsTheOriginal) {
  const std::string name = folder_ + "/db";
  Fill(name, 50, true);
  fs::rename(name, folder_ + "/renamed");
  ExpectWhole(folder_ + "/renamed", 50, name);
  // Twice, to the place of something else.
  Fill(folder_ + "/third", 50, true);
  fs::rename(folder_ + "/third", folder_ + "/fourth");
  Fill(folder_ + "/third", 10, true);
  ExpectWhole(folder_ + "/fourth", 50, folder_ + "/third");
  ExpectWhole(folder_ + "/third", 10);
}

// A move to another file system is a copy, as is what is put back from a backup: whether it is the
// newest nobody knows.
TEST_F(CopyMistakes, WhatWasMovedToAnotherFileSystemIsAdopted) {
  const std::string first = folder_ + "/first";
  const std::string second = folder_ + "/second";
  Fill(first, 50, true);
  Copy(first, second);
  fs::remove_all(first);
  ExpectRefused(second, "wal adopt " + device_ + " " + second);
  auto done = Adopt(second, /*force=*/false);
  EXPECT_EQ(done.foreign.size(), 1u);
  EXPECT_TRUE(done.losers.empty() && done.missing.empty() && done.unnamed.empty());
  ExpectRefused(second, "wal adopt");
  EXPECT_EQ(Adopt(second, /*force=*/true).foreign.size(), 1u);
  EXPECT_TRUE(Adopt(second, /*force=*/false).foreign.empty());
  ExpectWhole(second, 50, first);
  // And back to the first path, with what has been written since.
  Fill(second, 50, true);
  Copy(second, first);
  fs::remove_all(second);
  ExpectRefused(first, "wal adopt");
  EXPECT_EQ(Adopt(first, /*force=*/true).foreign.size(), 1u);
  ExpectWhole(first, 50, second);
}

TEST_F(CopyMistakes, ACopyIsAdoptedByForceAndTheOriginalIsRefusedThen) {
  const std::string original = folder_ + "/db";
  const std::string copy = folder_ + "/db2";
  Fill(original, 50, true);
  Copy(original, copy);
  auto done = Adopt(copy, /*force=*/false);
  ASSERT_EQ(done.losers.size(), 1u);
  EXPECT_EQ(fs::path(done.losers[0]).parent_path(), original);
  ExpectRefused(copy, original);
  EXPECT_EQ(Adopt(copy, /*force=*/true).foreign.size(), 1u);
  ExpectRefused(original, copy);
  ExpectWhole(copy, 50, original);
}

// `home` is the newest, and is away while an older copy is in its place.
TEST_F(CopyMistakes, AnOlderCopyInThePlaceOfTheNewest) {
  const std::string home = folder_ + "/db";
  const std::string kept = folder_ + "/kept";
  const std::string newest = folder_ + "/newest";
  for (const bool opened_since : {false, true}) {
    fs::remove_all(home);
    fs::remove_all(kept);
    fs::remove(device_);
    Fill(home, 50, true);
    Copy(home, kept);
    if (opened_since) {  // the log that the copy knows is deleted; there is another
      Open();
      Put("key50", home + "50" + std::string(200, 'v'));
      NewFs();
    }
    fs::rename(home, newest);
    Copy(kept, home);
    ExpectRefused(home, opened_since ? "snapshot" : "wal adopt");
    Options options = DbOptions();
    EXPECT_FALSE(DestroyDB(home, options).ok());
    EXPECT_FALSE(RepairDB(home, options).ok());
    if (opened_since) {
      for (const bool force : {false, true}) {
        const auto done = Adopt(home, force);
        EXPECT_EQ(done.missing.size(), 1u);
        ASSERT_EQ(done.unnamed.size(), 1u);
        EXPECT_NE(done.unnamed[0].find(home), std::string::npos) << done.unnamed[0];
      }
    }
    fs::remove_all(home);
    fs::rename(newest, home);
    ExpectWhole(home, opened_since ? 51 : 50);
  }
}

TEST_F(CopyMistakes, AnAdoptionThatWasInterrupted) {
  const std::string original = folder_ + "/db";
  const std::string copy = folder_ + "/db2";
  Fill(original, 1000, false);
  Copy(original, copy);
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &info));
  ASSERT_GE(info.segments_used, 3u);
  const uint64_t used = (1 << 20) + info.segments_used * info.segment_size;
  const std::string before = ReadAll(device_).substr(0, used);
  ASSERT_EQ(Adopt(copy, /*force=*/true).foreign.size(), 1u);
  const std::string after = ReadAll(device_).substr(0, used);
  // Headers are written from the last to the first.
  std::string between = before;
  for (uint64_t left = info.segments_used; left-- > 1;) {
    const uint64_t at = (1 << 20) + left * info.segment_size;
    ASSERT_NE(after.substr(at, 512), before.substr(at, 512));
    between.replace(at, 512, after, at, 512);
    std::fstream(device_, std::ios::binary | std::ios::in | std::ios::out) << between;
    ExpectRefused(copy, original);
  }
  EXPECT_EQ(Adopt(copy, /*force=*/true).foreign.size(), 1u);
  ExpectRefused(original, copy);
  ExpectWhole(copy, 1000, original);
}

TEST_F(CopyMistakes, NothingIsAdoptedThatIsInUse) {
  Open();
  Put("a", "1");
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  wal.force = true;
  raw_wal_fs::RawWalAdoption done;
  EXPECT_FALSE(raw_wal_fs::AdoptLogs(wal, db_name_, &done).ok());
  Copy(db_name_, folder_ + "/copy");
  EXPECT_TRUE(raw_wal_fs::AdoptLogs(wal, folder_ + "/copy", &done).IsBusy());
  EXPECT_TRUE(raw_wal_fs::AdoptLogs(wal, folder_, &done).IsInvalidArgument());  // no database
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
}

// With on_full=fail a log has no segment before it is written to.
TEST_F(CopyMistakes, ACopyOfALogThatHasNoSegmentYet) {
  NewFs("on_full=fail");
  Open();
  Copy(db_name_, folder_ + "/copy");
  ExpectRefusedNow(folder_ + "/copy", "is a copy of " + db_name_);
  Put("a", "1");
  ExpectRefusedNow(folder_ + "/copy", "is a copy of " + db_name_);
  NewFs();
  Open();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(CopyMistakes, ADatabaseThatIsCalledArchive) {
  Fill(folder_ + "/archive", 50, true);
  ExpectWhole(folder_ + "/archive", 50);
}

TEST_F(CopyMistakes, OneDirectoryByManyNames) {
  const std::string name = folder_ + "/db";
  Fill(name, 50, true);
  fs::create_directory_symlink(name, folder_ + "/link");
  ExpectWhole(folder_ + "/link", 50, name);
  Fill(folder_ + "/link", 50, true);
  Copy(name, folder_ + "/copy");
  ExpectRefused(folder_ + "/copy", name + "/");
  ExpectWhole(name + "/../db/.", 50, folder_ + "/link");
}

TEST_F(CopyMistakes, ARelativePath) {
  char before[4096];
  ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
  ASSERT_EQ(chdir(folder_.c_str()), 0);
  Fill("relative", 50, true);
  raw_wal_fs::RawWalDeviceInfo info;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/true, &info));
  ASSERT_EQ(info.logs.size(), 1u);
  EXPECT_EQ(info.logs[0].name.substr(0, folder_.size()), folder_);
  Copy("relative", "copy");
  ExpectRefused("copy", folder_ + "/relative/");
  ExpectWhole("relative", 50);
  ASSERT_EQ(chdir(before), 0);
}

TEST_F(CopyMistakes, ADeviceThatIsRestoredToASnapshot) {
  const std::string a = folder_ + "/a";
  const std::string b = folder_ + "/b";
  Fill(a, 50, true);
  fs::copy_file(device_, folder_ + "/snapshot");
  Fill(b, 30, true);
  fs::copy_file(device_, folder_ + "/newest");
  fs::remove(device_);
  fs::copy_file(folder_ + "/snapshot", device_);
  // What the other database writes now was in the place of B's log.
  db_name_ = a;
  NewFs();
  Open();
  for (int i = 0; i < 100; i++) {
    Put("new" + std::to_string(i), std::string(300, 'a'));
  }
  NewFs();
  ExpectCorruption(b, "snapshot");
  ExpectCorruption(b, "snapshot");
  // With the newest device all is there again.
  fs::remove(device_);
  fs::copy_file(folder_ + "/newest", device_);
  ExpectWhole(b, 30);
}

// Nothing was written there, so that nothing is missing here.
TEST_F(CopyMistakes, ACopyOfADeviceThatWasOpenedMoreOften) {
  Fill(db_name_, 50, true);
  fs::copy_file(device_, folder_ + "/newest");
  for (int i = 0; i < 3; i++) {
    ExpectWhole(db_name_, 50);
  }
  fs::rename(device_, folder_ + "/copy");
  fs::rename(folder_ + "/newest", device_);
  ExpectWhole(db_name_, 50);
  // Or with something that only the other one has.
  fs::copy_file(device_, folder_ + "/newest");
  for (int i = 0; i < 3; i++) {
    ExpectWhole(db_name_, 50);
  }
  Open();
  Put("more", "1", /*sync=*/false);
  NewFs();
  fs::rename(device_, folder_ + "/last");
  fs::rename(folder_ + "/newest", device_);
  ExpectCorruption(db_name_, "is older than a log of it");
  fs::rename(folder_ + "/last", device_);
  ExpectWhole(db_name_, 50);
}

TEST_F(CopyMistakes, ASnapshotOfADeviceThatWasInUse) {
  NewFs();
  Open();
  Put("a", "1");
  fs::copy_file(device_, folder_ + "/snapshot");
  for (int i = 0; i < 100; i++) {
    Put("b" + std::to_string(i), std::string(500, 'b'));
  }
  NewFs();
  fs::copy_file(device_, folder_ + "/newest");
  fs::remove(device_);
  fs::copy_file(folder_ + "/snapshot", device_);
  ExpectCorruption(db_name_, "durable=");
  // An operator may take what there is.
  Copy(db_name_, folder_ + "/kept");
  raw_wal_fs::RawWalOptions wal;
  wal.device = device_;
  uint64_t logs = 0;
  NewFs();
  EXPECT_FALSE(raw_wal_fs::ExportLogs(wal, db_name_, &logs).ok());
  wal.force = true;
  ASSERT_OK(raw_wal_fs::ExportLogs(wal, db_name_, &logs));
  EXPECT_EQ(logs, 1u);
  Options options;
  options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options, db_name_, &db));
  EXPECT_EQ(Get(db.get(), "a"), "1");
  db.reset();
  // Or put both back.
  fs::remove_all(db_name_);
  fs::rename(folder_ + "/kept", db_name_);
  fs::remove(device_);
  fs::rename(folder_ + "/newest", device_);
  EXPECT_EQ(Adopt(db_name_, /*force=*/true).foreign.size(), 1u);
  NewFs();
  Open();
  EXPECT_EQ(Get("b99"), std::string(500, 'b'));
}

TEST_F(CopyMistakes, AStubThatSomebodyEmptied) {
  Fill(db_name_, 50, true);
  const std::string path = NewestLog();
  const std::string good = ReadAll(path);
  for (const uint64_t size : {0, 4096}) {
    fs::resize_file(path, 0);
    fs::resize_file(path, size);
    ExpectRefused(db_name_, "is empty");
  }
  std::ofstream(path, std::ios::binary) << good;
  ExpectWhole(db_name_, 50);
}

TEST_F(CopyMistakes, LogsAreToldApartOnAllDevices) {
  Fill(db_name_, 1, true);
  raw_wal_fs::RawWalDeviceInfo first;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &first));
  ASSERT_EQ(first.logs.size(), 1u);
  EXPECT_EQ(first.logs[0].id.size(), 32u);
  fs::remove_all(db_name_);
  fs::remove(device_);
  Fill(db_name_, 1, true);
  raw_wal_fs::RawWalDeviceInfo second;
  ASSERT_OK(raw_wal_fs::InspectLogDevice(device_, /*scan=*/false, &second));
  ASSERT_EQ(second.logs.size(), 1u);
  EXPECT_NE(first.logs[0].id, second.logs[0].id);
}

}  // namespace

}  // namespace rocktier
