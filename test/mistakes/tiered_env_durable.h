// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "test/support/files.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

// A database with SSTs in two tiers and its last records in a log, and what happens to it.
class DurableMistakes : public TieredTest {
 protected:
  static constexpr char kPlacement[] = "0..1=fast;2..=slow";

  DurableMistakes() : working_directory_(std::filesystem::current_path()) {}
  ~DurableMistakes() override { std::filesystem::current_path(working_directory_); }

  // Leaves it closed.
  void FillTiers(const std::string& placement = kPlacement) {
    NewFs(Tiers(), placement);
    Open();
    Fill(20000);
    Settle();
    Fill(200);
    Close();
  }
  ROCKSDB_NAMESPACE::Status TryOpen(const std::string& tiers,
                                    const std::string& placement = kPlacement) {
    NewFs(tiers, placement);
    return ROCKSDB_NAMESPACE::OpenDb(DbOptions(), db_name_, &db_);
  }
  // It is not opened, the error has these texts, and all files are as they were.
  void ExpectRefused(const std::string& tiers, const std::vector<std::string>& texts,
                     const std::string& placement = kPlacement) {
    const auto before = Everything();
    const ROCKSDB_NAMESPACE::Status s = TryOpen(tiers, placement);
    EXPECT_FALSE(s.ok());
    for (const std::string& text : texts) {
      EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    }
    Close();
    EXPECT_TRUE(Everything() == before);
  }
  // All is there with these tiers.
  void ExpectWhole(const std::string& tiers, const std::string& placement = kPlacement) {
    ASSERT_OK(TryOpen(tiers, placement));
    Verify();
    Close();
  }
  // All files of database and tiers with what is in them, but for those that each attempt writes.
  std::map<std::string, std::string> Everything() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      const std::string base = entry.path().filename().string();
      if (entry.is_regular_file() && base.compare(0, 3, "LOG") != 0 && base != "LOCK" &&
          base.compare(0, 7, "OPTIONS") != 0) {
        result[entry.path().string()] = ReadFile(entry.path().string());
      }
    }
    return result;
  }
  std::string OneIn(const std::string& tier) const {
    for (const std::string& base : FilesOf(".sst")) {
      if (TierOf(base) == tier) {
        return base;
      }
    }
    ADD_FAILURE() << "none in " << tier;
    return "";
  }
  std::string Log() const { return ReadFile(db_name_ + "/LOG"); }
  // Of the database's folder in a tier.
  std::string FolderIn(const std::string& tier) const {
    for (const auto& entry : std::filesystem::directory_iterator(TierPath(tier))) {
      return entry.path().string();
    }
    ADD_FAILURE() << "none in " << tier;
    return "";
  }

 private:
  const std::filesystem::path working_directory_;
};

}  // namespace rocktier
