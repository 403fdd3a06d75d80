// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugin/tiered_env/files/names.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

// Databases with levels 0 to 2 in memory, and the others in a slow tier.
class VolatileTest : public TieredTest {
 protected:
  std::string MemoryTiers(const std::string& more = "") const {
    return "memory={kind=memory;path=" + TierPath("memory") + (more.empty() ? "" : ";" + more) +
           "};slow={path=" + TierPath("slow") + "}";
  }
  void MountMemory(const std::string& more = "", const std::string& tier = "") {
    NewFs(MemoryTiers(tier), "0..2=memory;3..=slow", more);
  }
  void OpenMemory(const std::string& more = "", const std::string& tier = "") {
    MountMemory(more, tier);
    Open();
  }
  // What opening the database says.
  ROCKSDB_NAMESPACE::Status TryOpen() {
    db_.reset();
    return ROCKSDB_NAMESPACE::OpenDb(DbOptions(), db_name_, &db_);
  }
  // Then something is in memory: compactions may have written all to what was the last level then,
  // which has no sequence numbers, and so is durable. It depends on which comes when.
  void Settle() {
    TieredTest::Settle();
    if (!HasFailure() && Stats().bytes < (100 << 10)) {
      Fill(1000);
      ASSERT_OK(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    }
  }
  // Leaves a database that is closed, with retained logs of which all are needed.
  void PrepareRetained(int records) {
    OpenMemory("wal_amplification_high=1e9;wal_amplification_low=1e9");
    ASSERT_FALSE(HasFailure());
    Fill(records);
    Settle();
    for (int i = 0; i < 3; i++) {
      Fill(300);
      ASSERT_OK(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()));
    }
    ASSERT_OK(db_->Put(ROCKSDB_NAMESPACE::WriteOptions(), "last", "one"));
    model_["last"] = "one";
    Close();
    // The last ones that nothing needs any more may not have been deleted yet.
    ASSERT_OK(ROCKSDB_NAMESPACE::tiered_env::RecoverTiers(fs_.get(), db_name_));
  }
  void LoseMemory() { std::filesystem::remove_all(TierPath("memory")); }
  ROCKSDB_NAMESPACE::tiered_env::VolatileStats Stats() const {
    ROCKSDB_NAMESPACE::tiered_env::TieredStats stats;
    EXPECT_OK(ROCKSDB_NAMESPACE::tiered_env::GetTieredStats(fs_.get(), &stats));
    return stats.in_memory;
  }
  // Loses the tier, and all that the database had is there.
  void LoseAndVerify(const std::string& more = "") {
    Close();
    LoseMemory();
    OpenMemory(more);
    ASSERT_FALSE(HasFailure());
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
  }
  // Paths of retained logs, rewritten or not, or of recipe logs.
  std::vector<std::string> Kept(const std::string& end) const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
      const std::string base = entry.path().filename().string();
      if (ROCKSDB_NAMESPACE::tiered_env::IsKept(base) &&
          (base.find("RECIPES") != std::string::npos
               ? end == "RECIPES"
               : ROCKSDB_NAMESPACE::tiered_env::EndsWith(base, end))) {
        result.push_back(entry.path().string());
      }
    }
    return result;
  }
};

}  // namespace rocktier
