// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A secondary reads of an SST and, in the same go, that it was moved to another level, and then the
// primary deletes it. Earlier versions have it open by then; RocksDB 11 has let go of it, and
// TryCatchUpWithPrimary() fails. TieredOpeningTest tries again.

#include "test/support/secondary.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

// Deletes an SST before it is opened a second time.
class DeletingFs : public FileSystemWrapper {
 public:
  DeletingFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "DeletingFs"; }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    if (std::filesystem::path(path).extension() == ".sst" && ++opens_ > 1) {
      std::filesystem::remove(path);
    }
    return target_->NewRandomAccessFile(path, options, file, dbg);
  }
  int opens() const { return opens_; }

 private:
  int opens_ = 0;
};

TEST(StockSecondary, AMovedTableThatIsDeletedMeanwhile) {
  const std::string name = test::PerThreadDBPath("stock_secondary");
  const std::string own = name + "-secondary";
  std::filesystem::remove_all(name);
  std::filesystem::remove_all(own);
  Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> primary;
  ASSERT_OK(OpenDb(options, name, &primary));

  const auto fs = std::make_shared<DeletingFs>();
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options reading;
  reading.env = env.get();
  reading.max_open_files = -1;
  std::unique_ptr<DB> secondary;
  ASSERT_OK(OpenDbAsSecondary(reading, name, own, &secondary));

  ASSERT_OK(primary->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(primary->Flush(FlushOptions()));
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 1;
  move.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
  ASSERT_OK(primary->CompactRange(move, nullptr, nullptr));

  const Status s = secondary->TryCatchUpWithPrimary();
  EXPECT_EQ(fs->opens() == 1, ROCKSDB_MAJOR < 11);
  EXPECT_EQ(s.ok(), ROCKSDB_MAJOR < 11) << s.ToString();
  EXPECT_EQ(MustTryAgain(s, name), ROCKSDB_MAJOR >= 11) << s.ToString();
  secondary.reset();
}

// Nothing else is forgiven, and nothing for ever.
TEST(StockSecondary, WhatIsTriedAgain) {
  const std::string name = test::PerThreadDBPath("stock_secondary");
  std::filesystem::remove_all(name);
  std::filesystem::create_directories(name);
  const auto missing = [&](const std::string& base) {
    return Status::PathNotFound("While open a file for random read: " + name + "/" + base,
                                "No such file or directory");
  };
  EXPECT_TRUE(MissesADeletedTable(missing("000012.sst"), name));
  EXPECT_FALSE(MissesADeletedTable(missing("000012.log"), name));
  EXPECT_FALSE(MissesADeletedTable(missing("MANIFEST-000012"), name));
  EXPECT_FALSE(MissesADeletedTable(missing(".sst"), name));
  EXPECT_FALSE(MissesADeletedTable(Status::IOError(name + "/000012.sst"), name));
  EXPECT_FALSE(MissesADeletedTable(Status::OK(), name));
  std::ofstream(name + "/000012.sst") << "a stub, of a file that is lost";
  EXPECT_FALSE(MissesADeletedTable(missing("000012.sst"), name));
  EXPECT_TRUE(MissesADeletedTable(missing("000013.sst"), name));

  int tries = 0;
  const auto read = [&](int failures, const std::string& base) {
    tries = 0;
    return ReadAsSecondary(name, [&] { return tries++ < failures ? missing(base) : Status::OK(); });
  };
  const bool again = ROCKSDB_MAJOR >= 11;
  EXPECT_EQ(read(3, "000013.sst").ok(), again);
  EXPECT_EQ(tries, again ? 4 : 1);
  EXPECT_FALSE(read(1000, "000013.sst").ok());
  EXPECT_FALSE(read(3, "000012.sst").ok());
  EXPECT_EQ(tries, 1);
}

}  // namespace

}  // namespace rocktier
