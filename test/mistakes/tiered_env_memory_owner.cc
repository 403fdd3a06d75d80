// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Homes that are not what had the memory last, of databases whose only tier is in memory, with logs
// elsewhere.

#include <algorithm>
#include <filesystem>
#include <set>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/wal/segments.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/volatile.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class MemoryOwnerMistakes : public VolatileTest {
 protected:
  Options LogOptions() const {
    Options options = DbOptions();
    options.wal_dir = folder_ + "/logs";
    options.disable_auto_compactions = true;
    return options;
  }
  void Mount() { NewFs("memory={kind=memory;path=" + TierPath("memory") + "}", "0..=memory"); }
  void OpenLogs() {
    Mount();
    Open(LogOptions());
    ASSERT_FALSE(HasFailure());
  }
  // Without a wal_dir.
  void OpenAtHome() {
    Mount();
    Options options = DbOptions();
    options.disable_auto_compactions = true;
    Open(options);
  }
  Status TryLogs() {
    Mount();
    const Status s = OpenDb(LogOptions(), db_name_, &db_);
    Close();
    return s;
  }
  // Three SSTs in memory, and nothing that is in a log only.
  void FillMemory() {
    for (int i = 0; i < 3; i++) {
      Fill(300);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    ASSERT_GT(Stats().bytes, 0u);
  }
  void ExpectWhole() {
    OpenLogs();
    ASSERT_FALSE(HasFailure());
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
    Close();
  }
  std::set<std::string> Retained() const {
    std::set<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_ + "/logs")) {
      if (IsKept(entry.path().filename().string())) {
        result.insert(entry.path().string());
      }
    }
    return result;
  }
  void ExpectRetained(const std::set<std::string>& logs) const {
    const auto now = Retained();
    for (const std::string& path : logs) {
      EXPECT_EQ(now.count(path), 1u) << path;
    }
  }
  void Rename(const std::string& from, const std::string& to) const {
    fs::rename(folder_ + "/" + from, folder_ + "/" + to);
  }
  // An old home beside the newest one, both closed.
  void MakeTwoHomes() {
    OpenLogs();
    FillMemory();
    Close();
    fs::copy(db_name_, folder_ + "/old", fs::copy_options::recursive);
    OpenLogs();
    FillMemory();
    Close();
  }
  // By mistake, and the host has been rebooted.
  void PutOldHomeBack() {
    Rename("db", "newest");
    Rename("old", "db");
    LoseMemory();
  }
  void ExpectNewestIsWhole() {
    Rename("db", "old");
    Rename("newest", "db");
    LoseMemory();
    ExpectWhole();
  }
};

TEST_F(MemoryOwnerMistakes, AnOldHomeOverNewerMemoryIsRefused) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  const auto before = Retained();
  Rename("db", "newest");
  Rename("old", "db");
  const Status s = TryLogs();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("rocktier tier adopt"), std::string::npos) << s.ToString();
  EXPECT_EQ(Retained(), before);
  ExpectNewestIsWhole();
}

// Then there is no OWNER that tells. Whatever the old home does, logs of the newest one stay.
TEST_F(MemoryOwnerMistakes, AnOldHomeAfterARebootDeletesNoLogOfANewerOne) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  const auto before = Retained();
  ASSERT_FALSE(before.empty());
  Rename("db", "newest");
  Rename("old", "db");
  for (int i = 0; i < 3; i++) {
    LoseMemory();
    Mount();
    ASSERT_OK(OpenDb(LogOptions(), db_name_, &db_));
    for (int j = 0; j < 3; j++) {  // it retains logs of its own
      ASSERT_OK(db_->Put(WriteOptions(), "key", std::string(1000, 'x')));
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    Close();
    ExpectRetained(before);
  }
  ExpectNewestIsWhole();
}

// It is drained, and opened without its memory.
TEST_F(MemoryOwnerMistakes, AnOldHomeThatLeavesMemoryDeletesNoLogOfANewerOne) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  const auto before = Retained();
  PutOldHomeBack();
  Mount();
  uint64_t moved = 0;
  ASSERT_OK(DrainTier(fs_.get(), db_name_, "memory", &moved));
  EXPECT_GT(moved, 0u);
  NewFs("", "");
  Open(LogOptions());
  ASSERT_FALSE(HasFailure());
  Close();
  ExpectRetained(before);
  ExpectNewestIsWhole();
}

// What is to go with the memory is the old home's, but for what it shares with the newest.
TEST_F(MemoryOwnerMistakes, AnOldHomeThatIsEvacuatedOrSalvagedDeletesNoLogOfANewerOne) {
  for (const bool salvage : {false, true}) {
    SCOPED_TRACE(salvage);
    MakeTwoHomes();
    ASSERT_FALSE(HasFailure());
    const auto before = Retained();
    PutOldHomeBack();
    Mount();
    uint64_t moved = 0;
    std::vector<std::string> given_up;
    ASSERT_OK(salvage ? SalvageTiers(fs_.get(), db_name_, &given_up)
                      : EvacuateTiers(fs_.get(), db_name_, &moved));
    EXPECT_TRUE(Kept("RECIPES").empty());
    ExpectRetained(before);
    fs::remove_all(db_name_);
    Rename("newest", "db");
    LoseMemory();
    ExpectWhole();
    ASSERT_FALSE(HasFailure());
    fs::remove_all(db_name_);
    fs::remove_all(folder_ + "/logs");
    LoseMemory();
    model_.clear();
  }
}

// It needs none of those any more that both know: they are neither deleted nor trimmed.
TEST_F(MemoryOwnerMistakes, AnOldHomeThatIsUsedDeletesNoLogOfANewerOne) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  const auto before = Retained();
  PutOldHomeBack();
  OpenLogs();
  ASSERT_FALSE(HasFailure());
  ASSERT_GT(Stats().segments, 1u);
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "z"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_TRUE(WaitFor([this] { return Stats().segments <= 1; }));  // that of the deletion
  Close();
  ExpectRetained(before);
  ExpectNewestIsWhole();
}

// RocksDB deletes the logs that it has in wal_dir, whosever they are.
TEST_F(MemoryOwnerMistakes, AnOldHomeThatIsDestroyedDeletesNoLogOfANewerOne) {
  OpenLogs();
  FillMemory();
  Close();
  fs::copy(db_name_, folder_ + "/old", fs::copy_options::recursive);
  const auto shared = Retained();
  OpenLogs();
  FillMemory();
  Close();
  std::set<std::string> newer;
  for (const std::string& path : Retained()) {
    if (shared.count(path) == 0) {
      newer.insert(path);
    }
  }
  ASSERT_FALSE(newer.empty());
  PutOldHomeBack();
  Mount();
  ASSERT_OK(DestroyDB(db_name_, LogOptions()));
  EXPECT_FALSE(fs::exists(db_name_));
  ExpectRetained(newer);
}

// Without logs, for nothing has to be rebuilt.
TEST_F(MemoryOwnerMistakes, WhatWasPutAsideIsBroughtBackBeforeItIsRebuilt) {
  OpenLogs();
  FillMemory();
  Close();
  for (const auto& entry : fs::directory_iterator(TierPath("memory"))) {
    const fs::path lost = entry.path() / "lost";
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(entry.path())) {
      if (file.path().filename().string().find(".sst.") != std::string::npos) {
        files.push_back(file.path());
      }
    }
    ASSERT_GE(files.size(), 3u);
    fs::create_directory(lost);
    for (const fs::path& file : files) {
      fs::rename(file, lost / (file.filename().string() + ".1000"));
    }
  }
  for (const std::string& path : Retained()) {
    fs::remove(path);
  }
  ExpectWhole();
}

// And comes back to the first one, whose memory is older.
TEST_F(MemoryOwnerMistakes, AHomeThatWasOnAnotherHost) {
  OpenLogs();
  FillMemory();
  Close();
  fs::rename(TierPath("memory"), TierPath("memory_of_the_first"));
  OpenLogs();
  Verify();
  FillMemory();
  Close();
  fs::rename(TierPath("memory"), TierPath("memory_of_the_second"));
  fs::rename(TierPath("memory_of_the_first"), TierPath("memory"));
  ExpectWhole();
}

// The newest one is the old one then.
TEST_F(MemoryOwnerMistakes, AnOldHomeThatIsAdopted) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  Rename("db", "newest");
  Rename("old", "db");
  Mount();
  TieredAdoption adoption;
  ASSERT_OK(AdoptTiers(fs_.get(), db_name_, /*force=*/true, &adoption));
  EXPECT_TRUE(adoption.adopted);
  ASSERT_OK(TryLogs());
  Rename("db", "old");
  Rename("newest", "db");
  const Status s = TryLogs();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  LoseMemory();
  ExpectWhole();
}

// Then there is no newer one any more, and openings delete logs again.
TEST_F(MemoryOwnerMistakes, APurgeDeletesLogsOfANewerHome) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  PutOldHomeBack();
  ASSERT_OK(TryLogs());
  const auto stays = [this] {
    std::string log;
    EXPECT_OK(ReadFileToString(Env::Default(), db_name_ + "/LOG", &log));
    return log.find("is of a newer state of the database") != std::string::npos;
  };
  EXPECT_TRUE(stays());
  const auto before = Retained();
  uint64_t expected = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  Mount();
  ASSERT_OK(PurgeTiers(fs_.get(), db_name_, &expected, &bytes, {}, /*dry_run=*/true));
  EXPECT_GT(expected, 0u);
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(Retained(), before);
  Mount();
  ASSERT_OK(PurgeTiers(fs_.get(), db_name_, &files, &bytes));
  EXPECT_EQ(files, expected);
  EXPECT_EQ(Retained().size() + files, before.size());
  LoseMemory();
  ASSERT_OK(TryLogs());
  EXPECT_FALSE(stays());
}

// They are no less the newer one's when they are there again.
TEST_F(MemoryOwnerMistakes, LogsOfANewerHomeWhoseDiskWasNotMounted) {
  MakeTwoHomes();
  ASSERT_FALSE(HasFailure());
  PutOldHomeBack();
  ASSERT_OK(TryLogs());
  std::string log;
  ASSERT_OK(ReadFileToString(Env::Default(), db_name_ + "/LOG", &log));
  std::vector<std::string> others;
  for (const std::string& path : Retained()) {
    if (log.find(path + " stays: it is of a newer state") != std::string::npos) {
      others.push_back(path);
    }
  }
  ASSERT_FALSE(others.empty());
  for (const std::string& path : others) {
    fs::rename(path, path + ".elsewhere");
  }
  for (int i = 0; i < 3; i++) {  // so that ids are given beyond theirs
    OpenLogs();
    ASSERT_FALSE(HasFailure());
    FillMemory();
    Close();
  }
  for (const std::string& path : others) {
    fs::rename(path + ".elsewhere", path);
  }
  ASSERT_OK(TryLogs());
  for (const std::string& path : others) {
    EXPECT_TRUE(fs::exists(path)) << path;
  }
}

// An earlier version had not made its id durable when the power failed. It is deleted, and its id
// is not given again.
TEST_F(MemoryOwnerMistakes, ALogInTheHomeIsNoNewerOnes) {
  OpenAtHome();
  ASSERT_FALSE(HasFailure());
  FillMemory();
  Close();
  const std::vector<std::string> logs = Kept(".log");
  ASSERT_FALSE(logs.empty());
  const std::string stray = db_name_ + "/TIERS-999" + logs[0].substr(logs[0].rfind('-'));
  fs::copy(logs[0], stray);
  OpenAtHome();
  ASSERT_FALSE(HasFailure());
  EXPECT_FALSE(fs::exists(stray));
  FillMemory();
  Close();
  uint64_t largest = 0;
  for (const std::string& path : Kept(".log")) {
    uint64_t id = 0;
    std::string tag;
    ASSERT_TRUE(WalSegments::ParseName(BaseOf(path), &id, &tag)) << path;
    largest = std::max(largest, id);
  }
  EXPECT_GT(largest, 999u);
  LoseMemory();
  OpenAtHome();
  ASSERT_FALSE(HasFailure());
  Verify();
  ASSERT_OK(db_->VerifyChecksum());
}

// An operator sets wal_dir anew, and moves what is called a log, retained ones, too.
TEST_F(MemoryOwnerMistakes, LogsThatAreMovedToAWalDir) {
  const auto move = [this](const std::string& from, const std::string& to) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_ + "/" + from)) {
      if (entry.path().extension() == ".log") {
        paths.push_back(entry.path());
      }
    }
    EXPECT_FALSE(paths.empty());
    for (const fs::path& path : paths) {
      fs::rename(path, fs::path(folder_ + "/" + to) / path.filename());
    }
  };
  OpenAtHome();
  ASSERT_FALSE(HasFailure());
  FillMemory();
  Fill(50);
  Close();
  LoseMemory();
  fs::create_directory(folder_ + "/logs");
  move("db", "logs");
  const auto before = Retained();
  ASSERT_FALSE(before.empty());
  for (int i = 0; i < 2; i++) {
    const Status s = TryLogs();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find("another wal_dir, move them back"), std::string::npos)
        << s.ToString();
    EXPECT_EQ(Retained(), before);
  }
  move("logs", "db");
  OpenAtHome();
  ASSERT_FALSE(HasFailure());
  Verify();
  ASSERT_OK(db_->VerifyChecksum());
}

TEST(OpeningIds, ThoseOfAnEarlierVersionCountNothing) {
  const std::string random = "8f3e5ac1d2b4960718293a4b5c6d7e8f";
  const std::string counted = NewOpening(random);
  EXPECT_FALSE(CountsOpenings(random));
  EXPECT_FALSE(CountsOpenings(""));
  EXPECT_TRUE(CountsOpenings(counted)) << counted;
  EXPECT_EQ(random.size(), counted.size());
  EXPECT_TRUE(IsEarlier(random, counted));
  EXPECT_FALSE(IsEarlier(counted, random));
  EXPECT_TRUE(IsEarlier(counted, NewOpening(counted)));
  EXPECT_FALSE(IsEarlier(random, random));
}

}  // namespace

}  // namespace rocktier
