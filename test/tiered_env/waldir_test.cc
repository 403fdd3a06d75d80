// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory, with write-ahead logs in another directory than the database's.

#include <filesystem>

#include "test/tiered_env/support.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class WalDirTest : public TieredTest {
 protected:
  void OpenMemory(uint64_t ttl_seconds) {
    NewFs(
        "memory={kind=memory;path=" + TierPath("memory") + "};slow={path=" + TierPath("slow") + "}",
        "0..=memory");
    Options options = DbOptions();
    options.wal_dir = folder_ + "/logs";
    options.WAL_ttl_seconds = ttl_seconds;
    Open(options);
  }
  VolatileStats Stats() const {
    TieredStats stats;
    EXPECT_OK(GetTieredStats(fs_.get(), &stats));
    return stats.in_memory;
  }
  void LoseMemory() { std::filesystem::remove_all(TierPath("memory")); }
};

// From the first log of the database on.
TEST_F(WalDirTest, LogsAreRetainedThere) {
  for (const uint64_t ttl_seconds : {0, 1000}) {
    SCOPED_TRACE(ttl_seconds);
    OpenMemory(ttl_seconds);
    Fill(500);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_GT(Stats().references, 400u);
    EXPECT_GT(Stats().segments, 0u);
    for (int round = 0; round < 2; round++) {
      Close();
      LoseMemory();
      OpenMemory(ttl_seconds);
      ASSERT_FALSE(HasFailure());
      EXPECT_GT(Stats().rebuilt_files, 0u);
      Verify();
      Fill(5000);
      Settle();
    }
    Verify();
    Close();
    Options options = DbOptions();
    options.wal_dir = folder_ + "/logs";
    ASSERT_OK(DestroyDB(db_name_, options));
    std::error_code error;  // RocksDB leaves the directory there if it had an archive
    EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/logs", error) || error);
    EXPECT_FALSE(std::filesystem::exists(db_name_));
    EXPECT_EQ(FilesIn("memory"), 0u);
    model_.clear();
  }
}

}  // namespace

}  // namespace rocktier
