// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory whose logs are on a disk of their own, which is not mounted when an operator
// salvages the database.

#include <filesystem>
#include <functional>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/wal/segments.h"
#include "test/tiered_env/support/volatile.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class LogDisk : public VolatileTest {
 protected:
  static constexpr char kNoTrim[] = "wal_amplification_high=1e9;wal_amplification_low=1e9";

  Options WithLogs(const std::string& wal_dir) const {
    Options options = DbOptions();
    options.wal_dir = wal_dir;
    options.disable_auto_compactions = true;
    return options;
  }
  // Adds SSTs in memory, with logs there, and closes the database.
  void Add(const std::string& wal_dir) {
    MountMemory(kNoTrim);
    Open(WithLogs(wal_dir));
    ASSERT_FALSE(HasFailure());
    for (int i = 0; i < 4; i++) {
      Fill(300);
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
    Close();
    ASSERT_GT(Retained(wal_dir).size(), 1u);
  }
  static std::vector<std::string> Retained(const std::string& directory) {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (IsKept(entry.path().filename().string())) {
        result.push_back(entry.path().string());
      }
    }
    return result;
  }
  // Names and sizes of what is below home, but for LOG and LOCK.
  std::map<std::string, uint64_t> Listing() const {
    std::map<std::string, uint64_t> result;
    for (const auto& entry : fs::recursive_directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (base.compare(0, 3, "LOG") != 0 && base != "LOCK" && entry.is_regular_file()) {
        result[entry.path().string()] = entry.file_size();
      }
    }
    return result;
  }
  void Unmount() { fs::rename(logs_, away_); }
  void Mount() {
    fs::remove_all(logs_);
    fs::rename(away_, logs_);
  }
  void ExpectRefused(const std::vector<std::string>& gone = {}) {
    const auto before = Listing();
    std::vector<std::string> given_up;
    MountMemory();
    const Status s = SalvageTiers(fs_.get(), db_name_, &given_up, gone);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(s.ToString().find(logs_ + ": "), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("--lost="), std::string::npos) << s.ToString();
    EXPECT_TRUE(given_up.empty());
    EXPECT_EQ(Listing(), before);
    EXPECT_FALSE(Kept("RECIPES").empty());
  }
  void ExpectGivenUp(const std::vector<std::string>& gone = {}) {
    std::vector<std::string> given_up;
    MountMemory();
    ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up, gone));
    EXPECT_FALSE(given_up.empty());
    EXPECT_TRUE(Kept("RECIPES").empty());
    EXPECT_EQ(FilesIn("memory"), 0u);
    ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up, gone));  // nothing to do any more
    EXPECT_TRUE(given_up.empty());
  }
  // All that was acknowledged is there.
  void ExpectAll(const std::string& wal_dir) {
    LoseMemory();
    MountMemory();
    Open(WithLogs(wal_dir));
    ASSERT_FALSE(HasFailure());
    EXPECT_GT(Stats().rebuilt_files, 0u);
    Verify();
    Close();
  }

  const std::string logs_ = folder_ + "/logs";
  const std::string away_ = folder_ + "/away";
};

TEST_F(LogDisk, ThatIsNotMountedIsNoLoss) {
  Add(logs_);
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  Unmount();
  ExpectRefused();  // there is no directory
  fs::create_directories(logs_);
  ExpectRefused();  // a mount point
  ExpectRefused({folder_, away_});
  fs::remove_all(logs_);
  MountMemory();
  db_.reset();
  const Status s = OpenDb(WithLogs(logs_), db_name_, &db_);  // RocksDB makes the directory
  EXPECT_NE(s.ToString().find("--salvage"), std::string::npos) << s.ToString();
  ExpectRefused();
  fs::create_directories(logs_);
  const std::string other = WalSegments::LogName(1, std::string(RecipeLog::kTagSize, 'x'));
  ASSERT_OK(WriteStringToFile(Env::Default(), "another database's", logs_ + "/" + other));
  ExpectRefused();
  Mount();
  ExpectAll(logs_);
}

TEST_F(LogDisk, ThatIsNotMountedIsNoLossWithoutAManifest) {
  Add(logs_);
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  Unmount();
  fs::rename(db_name_ + "/CURRENT", folder_ + "/CURRENT");
  ExpectRefused();
  fs::rename(folder_ + "/CURRENT", db_name_ + "/CURRENT");
  Mount();
  ExpectAll(logs_);
}

// However the directory is called.
TEST_F(LogDisk, ThatIsGoneForGoodIsGivenUp) {
  fs::create_directory_symlink(folder_, folder_ + "/link");
  for (const bool is_empty : {false, true}) {
    for (const std::string& name :
         {logs_, logs_ + "/", fs::relative(logs_).string(), folder_ + "/link/logs"}) {
      if (!is_empty && name != logs_ && name != logs_ + "/") {
        continue;  // it leads nowhere
      }
      SCOPED_TRACE(name);
      Add(logs_);
      ASSERT_FALSE(HasFailure());
      LoseMemory();
      Unmount();
      if (is_empty) {
        fs::create_directories(logs_);
      }
      ExpectRefused();
      ExpectGivenUp({folder_ + "/other", name});
      ASSERT_OK(DestroyDB(db_name_, WithLogs(logs_)));
      fs::remove_all(away_);
      model_.clear();
    }
  }
}

// That is what a salvage is for.
TEST_F(LogDisk, ThatHasOtherLogsIsMounted) {
  for (const bool is_missing : {true, false}) {
    SCOPED_TRACE(is_missing);
    Add(logs_);
    ASSERT_FALSE(HasFailure());
    LoseMemory();
    const std::string log = Retained(logs_).front();
    if (is_missing) {
      fs::remove(log);
    } else {
      fs::resize_file(log, fs::file_size(log) / 2);
    }
    ExpectGivenUp();
    ASSERT_OK(DestroyDB(db_name_, WithLogs(logs_)));
    model_.clear();
  }
}

// A relative wal_dir means nothing to who works elsewhere, and its real path is known.
TEST_F(LogDisk, ThatHasARelativePathIsNotMissed) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  Add("logs");
  fs::current_path(before);
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  Unmount();
  ExpectRefused();
  Mount();
  fs::remove(Retained(logs_).front());
  ExpectGivenUp();
}

TEST_F(LogDisk, ThatNothingNeedsMayBeGone) {
  Add(logs_);
  ASSERT_FALSE(HasFailure());
  MountMemory();
  Open(WithLogs(""));
  ASSERT_FALSE(HasFailure());
  CompactRangeOptions all;
  all.change_level = true;
  all.target_level = 6;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  Close();
  Add(db_name_);
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  Unmount();
  std::vector<std::string> given_up;
  MountMemory();
  ASSERT_OK(SalvageTiers(fs_.get(), db_name_, &given_up));
  EXPECT_TRUE(given_up.empty());
  Open(WithLogs(""));
  ASSERT_FALSE(HasFailure());
  Verify();
}

// One at home that has the same name does not stand for it.
TEST_F(LogDisk, ThatHasANameAsADirectoryAtHome) {
  Add(db_name_ + "/logs");
  ASSERT_FALSE(HasFailure());
  Add(logs_);
  ASSERT_FALSE(HasFailure());
  ASSERT_FALSE(Retained(db_name_ + "/logs").empty());
  LoseMemory();
  Unmount();
  ExpectRefused();
  Mount();
  ExpectAll(logs_);
}

}  // namespace

}  // namespace rocktier
