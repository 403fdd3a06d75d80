// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases over TieredFileSystem.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "rocksdb/utilities/checkpoint.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

using TieredDbTest = TieredTest;

TEST_F(TieredDbTest, LevelsAreInTheirTiers) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  Open();
  Fill(40000);
  Settle();
  const auto census = Census();
  int in_slow = 0;
  for (const auto& [where, count] : census) {
    const bool upper = where[1] <= '1';
    EXPECT_EQ(where.substr(3), upper ? "fast" : "slow") << where << ": " << count;
    in_slow += upper ? 0 : count;
  }
  EXPECT_GT(in_slow, 5);
  EXPECT_EQ(StatsOf("fast").stranded_bytes + StatsOf("slow").stranded_bytes, 0u);
  Verify();
  Open();
  Verify();
  Close();
  EXPECT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_EQ(FilesIn("fast"), 0u);
  EXPECT_EQ(FilesIn("slow"), 0u);
  EXPECT_FALSE(std::filesystem::exists(db_name_));
}

TEST_F(TieredDbTest, WithoutTheListenerTheManifestTells) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  Options options = DbOptions();
  options.listeners.clear();
  Open(options);
  Fill(40000);
  Settle();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] <= '1' ? "fast" : "slow") << where << ": " << count;
  }
  Verify();
}

TEST_F(TieredDbTest, FilesThatMoveTriviallyFollow) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  Open();
  for (int i = 0; i < 20000; i++) {  // in order: no two SSTs overlap
    const std::string key = "key" + std::to_string(1000000 + i);
    ASSERT_OK(db_->Put(WriteOptions(), key, std::string(100, 'v')));
    model_[key] = std::string(100, 'v');
  }
  Settle();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] <= '1' ? "fast" : "slow") << where << ": " << count;
  }
  EXPECT_GT(StatsOf("slow").moves, 0u);
  Verify();
}

TEST_F(TieredDbTest, OtherProcessesAreKeptOut) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  Open();
  const std::string path = db_name_ + "/LOCK";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const int fd = open(path.c_str(), O_RDWR);
    _exit(fd < 0 ? 2 : fcntl(fd, F_SETLK, &lock) == 0 ? 1 : 0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: another process got the lock";
}

}  // namespace rocktier
