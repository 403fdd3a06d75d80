// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory: what they lose comes back.

#include <filesystem>
#include <fstream>

#include "rocksdb/table.h"
#include "test/tiered_env/support.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class VolatileTest : public TieredTest {
 protected:
  std::string MemoryTiers(const std::string& more = "") const {
    return "memory={kind=memory;path=" + TierPath("memory") + (more.empty() ? "" : ";" + more) +
           "};slow={path=" + TierPath("slow") + "}";
  }
  void OpenMemory(const std::string& more = "", const std::string& tier = "") {
    NewFs(MemoryTiers(tier), "0..2=memory;3..=slow", more);
    Open();
  }
  void LoseMemory() { std::filesystem::remove_all(TierPath("memory")); }
  VolatileStats Stats() const {
    TieredStats stats;
    EXPECT_OK(GetTieredStats(fs_.get(), &stats));
    return stats.in_memory;
  }
};

TEST_F(VolatileTest, ComesBack) {
  OpenMemory();
  Fill(20000);
  Settle();
  const VolatileStats before = Stats();

  EXPECT_GT(before.bytes, 100000u);
  EXPECT_GT(before.references,
            before.entries / 2);  // the others lost their sequence numbers at the bottom
  Close();
  for (int round = 0; round < 3; round++) {
    SCOPED_TRACE(round);
    LoseMemory();
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    const VolatileStats after = Stats();
    EXPECT_GT(after.rebuilt_files, 0u);
    Verify();
    ASSERT_OK(db_->VerifyChecksum());
    Fill(3000);
    Settle();
    Verify();
    Close();
  }
}

// RocksDB calls them db//archive/000007.log when it deletes them.
TEST_F(VolatileTest, ArchivedLogsAreKept) {
  const auto open = [&](const std::string& more) {
    NewFs(MemoryTiers(), "0..2=memory;3..=slow", more);
    Options options = DbOptions();
    options.WAL_ttl_seconds = 100000;
    Open(options);
  };
  open("on_close=persist");
  Fill(20000);
  Close();
  open("");
  Fill(2000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  Settle();
  ASSERT_GT(Stats().references, 0u);
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren(db_name_ + "/archive", &names));
  ASSERT_FALSE(names.empty());
  for (const std::string& name : names) {
    ASSERT_OK(env_->DeleteFile(db_name_ + "//archive/" + name));
  }
  EXPECT_GT(Stats().segments, 0u);  // under names of ours
  Close();
  LoseMemory();
  open("");
  ASSERT_FALSE(HasFailure());
  Verify();
}

}  // namespace

}  // namespace rocktier
