// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// RepairDB() without the plugin, and the way back of docs/troubleshoot.md, "The database was
// repaired without the plugin". Stubs are no SSTs for it: it puts them into lost/. Of plain logs it
// makes SSTs, and puts the logs into lost/ as well: who converts them a second time has merge
// operands twice, unless the first SSTs are gone.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "file/filename.h"
#include "rocksdb/sst_file_reader.h"
#include "test/mistakes/tiered_env_durable.h"
#include "util/coding.h"
#include "utilities/merge_operators.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

// Of an integer as the merge operator has it.
std::string Number(uint64_t number) {
  std::string bytes;
  PutFixed64(&bytes, number);
  return bytes;
}

class RepairMistakes : public DurableMistakes {
 protected:
  static constexpr char kLogs[] = "0..1=fast;2..=slow;wal=fast";

  Options FamilyOptions() const {
    Options options = DbOptions();
    options.create_missing_column_families = true;
    options.merge_operator = MergeOperators::CreateUInt64AddOperator();
    options.wal_dir = wal_dir_;
    return options;
  }
  void OpenFamilies(const std::string& placement) {
    NewFs(Tiers(), placement);
    const Options options = FamilyOptions();
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(options, db_name_, {{kDefaultColumnFamilyName, options}, {"other", options}},
                      &handles_, result);
    }));
  }
  void CloseFamilies() {
    for (ColumnFamilyHandle* handle : handles_) {
      ASSERT_OK(db_->DestroyColumnFamilyHandle(handle));
    }
    handles_.clear();
    Close();
  }
  void Put(int count) {
    for (int i = 0; i < count; i++) {
      const std::string key = "key " + std::to_string(random_());
      ASSERT_OK(db_->Put(WriteOptions(), key, "value"));
      model_[key] = "value";
    }
  }
  // A database that is closed. The last records of its families are in a log alone, merge operands
  // among them; it has SSTs in both tiers.
  void Prepare(const std::string& placement) {
    OpenFamilies(placement);
    ASSERT_FALSE(HasFailure());
    Put(500);
    ASSERT_OK(db_->Put(WriteOptions(), "counter", Number(5)));
    ASSERT_OK(db_->Put(WriteOptions(), handles_[1], "first", "value"));
    ASSERT_OK(db_->Flush(FlushOptions(), handles_));
    CompactRangeOptions down;
    down.change_level = true;
    down.target_level = 2;
    ASSERT_OK(db_->CompactRange(down, handles_[0], nullptr, nullptr));
    ASSERT_OK(WaitForMoves(fs_.get()));
    Put(100);
    ASSERT_OK(db_->Flush(FlushOptions(), handles_[0]));
    WriteOptions synced;
    synced.sync = true;
    for (int i = 0; i < 3; i++) {
      ASSERT_OK(db_->Merge(synced, "counter", Number(1)));
    }
    ASSERT_OK(db_->Put(synced, "last", "value"));
    ASSERT_OK(db_->Put(synced, handles_[1], "last", "value"));
    model_["counter"] = Number(8);
    model_["last"] = "value";
    EXPECT_NE(OneIn("fast"), "");
    EXPECT_NE(OneIn("slow"), "");
    CloseFamilies();
  }
  // The SSTs that a repair has made of logs, as its LOG says: "Log #7: 5 ops saved to Table #9 OK".
  std::vector<std::string> MadeOfLogs() const {
    static const std::string kSaved = " ops saved to Table #";
    std::vector<std::string> bases;
    std::istringstream log(Log());
    for (std::string line; std::getline(log, line);) {
      const size_t at = line.find(kSaved);
      if (at != std::string::npos) {
        char* end = nullptr;
        const uint64_t number = strtoull(line.c_str() + at + kSaved.size(), &end, 10);
        if (strcmp(end, " OK") == 0) {
          bases.push_back(MakeTableFileName(number));
        }
      }
    }
    return bases;
  }
  // The same by what the SSTs say of themselves, as `sst_dump --show_properties` prints it: `ldb
  // repair` writes no LOG.
  std::vector<std::string> MadeByRepairs() const {
    std::vector<std::string> bases;
    for (const auto& entry : fs::directory_iterator(db_name_)) {
      SstFileReader reader((Options()));
      if (entry.path().extension() == ".sst" && reader.Open(entry.path().string()).ok() &&
          reader.GetTableProperties()->db_id == "DB Repairer") {
        bases.push_back(entry.path().filename().string());
      }
    }
    std::sort(bases.begin(), bases.end());
    return bases;
  }
  // Moves the SSTs that were made of logs aside, and all that is in lost/ of each directory back.
  void TakeBack(const std::vector<std::string>& directories) {
    const std::string aside = folder_ + "/aside";
    fs::create_directory(aside);
    for (const std::string& base : MadeOfLogs()) {
      ASSERT_TRUE(fs::exists(db_name_ + "/" + base)) << base;
      fs::rename(db_name_ + "/" + base, aside + "/" + base);
    }
    for (const std::string& directory : directories) {
      std::vector<fs::path> paths;
      std::error_code error;  // there may be no lost/
      for (const auto& entry : fs::directory_iterator(directory + "/lost", error)) {
        const std::string kind = entry.path().extension().string();
        if (kind == ".sst" || kind == ".log") {
          paths.push_back(entry.path());
        }
      }
      for (const fs::path& path : paths) {
        fs::rename(path, fs::path(directory) / path.filename());
      }
    }
  }
  void RepairWithoutPlugin(const std::string& wal_dir) {
    Options options = FamilyOptions();
    options.env = Env::Default();
    options.listeners.clear();
    options.wal_dir = wal_dir;
    ASSERT_OK(RepairDB(db_name_, options));
    EXPECT_TRUE(fs::exists(db_name_ + "/lost"));
    EXPECT_EQ(MadeByRepairs(), MadeOfLogs());
  }
  void RepairAndVerify(const std::string& placement) {
    NewFs(Tiers(), placement);
    ASSERT_OK(RepairDB(db_name_, FamilyOptions()));
    OpenFamilies(placement);
    ASSERT_FALSE(HasFailure());
    Verify();
    for (const char* key : {"first", "last"}) {
      std::string value;
      EXPECT_OK(db_->Get(ReadOptions(), handles_[1], key, &value));
      EXPECT_EQ(value, "value");
    }
    CloseFamilies();
  }

  std::string wal_dir_;  // the option
  std::vector<ColumnFamilyHandle*> handles_;
};

// The first repair reads no SST, and so knows the default family alone: it leaves out what the log
// has of the other one. So it would not do to keep its SST and to leave the log in lost/.
TEST_F(RepairMistakes, PlainLogsAreConvertedAgain) {
  Prepare(kPlacement);
  ASSERT_FALSE(HasFailure());
  RepairWithoutPlugin("");
  ASSERT_FALSE(HasFailure());
  EXPECT_FALSE(MadeOfLogs().empty());
  TakeBack({db_name_});
  ASSERT_FALSE(HasFailure());
  RepairAndVerify(kPlacement);
}

// Nothing can be made of a stub.
TEST_F(RepairMistakes, LogsInATier) {
  Prepare(kLogs);
  ASSERT_FALSE(HasFailure());
  RepairWithoutPlugin("");
  ASSERT_FALSE(HasFailure());
  EXPECT_TRUE(MadeOfLogs().empty());
  TakeBack({db_name_});
  ASSERT_FALSE(HasFailure());
  RepairAndVerify(kLogs);
}

// Each directory has a lost/ of its own.
TEST_F(RepairMistakes, AWalDirThatTheFirstRepairWasTold) {
  wal_dir_ = folder_ + "/logs";
  Prepare(kPlacement);
  ASSERT_FALSE(HasFailure());
  RepairWithoutPlugin(wal_dir_);
  ASSERT_FALSE(HasFailure());
  EXPECT_TRUE(fs::exists(wal_dir_ + "/lost"));
  EXPECT_FALSE(MadeOfLogs().empty());
  TakeBack({db_name_, wal_dir_});
  ASSERT_FALSE(HasFailure());
  RepairAndVerify(kPlacement);
}

// The logs are where they were. The second repair has to be told.
TEST_F(RepairMistakes, AWalDirThatTheFirstRepairWasNotTold) {
  wal_dir_ = folder_ + "/logs";
  Prepare(kPlacement);
  ASSERT_FALSE(HasFailure());
  RepairWithoutPlugin("");
  ASSERT_FALSE(HasFailure());
  EXPECT_FALSE(fs::exists(wal_dir_ + "/lost"));
  EXPECT_TRUE(MadeOfLogs().empty());
  TakeBack({db_name_, wal_dir_});
  ASSERT_FALSE(HasFailure());
  RepairAndVerify(kPlacement);
}

}  // namespace

}  // namespace rocktier
