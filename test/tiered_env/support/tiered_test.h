// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "test/support/open_db.h"
#include "test/support/seed.h"

namespace rocktier {

#define ASSERT_OK(expression)                               \
  do {                                                      \
    const ROCKSDB_NAMESPACE::Status status_ = (expression); \
    ASSERT_TRUE(status_.ok()) << status_.ToString();        \
  } while (false)
#define EXPECT_OK(expression)                               \
  do {                                                      \
    const ROCKSDB_NAMESPACE::Status status_ = (expression); \
    EXPECT_TRUE(status_.ok()) << status_.ToString();        \
  } while (false)

// Whether a file in a folder of a tier says whose that is, or was put aside there.
inline bool IsOfFolder(const std::filesystem::directory_entry& entry) {
  return entry.path().filename() == "OWNER" || entry.path().filename() == "LOCK" ||
         entry.path().parent_path().filename() == "lost";
}

// Prints why, and ends the test.
#define ROCKTIER_SKIP(reason)                                \
  do {                                                       \
    printf("[ SKIPPED ] %s\n", std::string(reason).c_str()); \
    return;                                                  \
  } while (false)

// A folder of its own for each test, with a database directory and two tiers.
class TieredTest : public ::testing::Test {
 protected:
  TieredTest();
  ~TieredTest() override;

  // Path of a tier.
  std::string TierPath(const std::string& name) const { return folder_ + "/" + name; }
  // Two tiers, fast and slow, and home after them.
  std::string Tiers(const std::string& fast_more = "", const std::string& slow_more = "") const;
  // Makes env_ anew, as another process would, over target_ if that is set.
  void NewFs(const std::string& tiers, const std::string& placement, const std::string& more = "");
  // Options with env_ and the listener, for small SSTs.
  ROCKSDB_NAMESPACE::Options DbOptions() const;
  // With env_ as it is now, unless options.env is the default one.
  void Open(const ROCKSDB_NAMESPACE::Options& options);
  void Open() { Open(DbOptions()); }
  void Close() { db_.reset(); }

  void Reopen(const std::string& tiers, const std::string& placement);

  // Writes random keys, of `keys`, and notes them in model_.
  void Fill(int count, int keys = 20000, size_t value_size = 100);
  // Every key of model_ and no other.
  void Verify();
  // Until nothing compacts or moves.
  void Settle();

  // Settles; nothing moves any more, and each tier counts what it holds, within its budget.
  void ExpectQuiet();
  uint64_t Moves() const;

  // Tier in which a file of the database is, by its stub: "home" if it has none.
  std::string TierOf(const std::string& base) const;
  // Levels and tiers of all SSTs: {"L0 fast", 3}...
  std::map<std::string, int> Census() const;
  // Each SST is where the placement "0..1=fast;2..=slow" wants it.
  void ExpectUpperInFast() const;
  // Names of the live files of a kind: ".sst", ".blob"...
  std::vector<std::string> FilesOf(const std::string& end) const;
  // Bytes of them in a tier.
  uint64_t BytesIn(const std::string& tier) const;
  // Files in a tier's folders, all databases together, without those that name owners.
  size_t FilesIn(const std::string& tier) const;
  ROCKSDB_NAMESPACE::tiered_env::TieredTierStats StatsOf(const std::string& tier) const;

  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> target_;
  std::string folder_;
  std::string db_name_;
  std::string checkpoints_ = "plain";  // the option, over target_
  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> fs_;
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  std::map<std::string, std::string> model_;
  std::mt19937_64 random_{1};
};

}  // namespace rocktier
