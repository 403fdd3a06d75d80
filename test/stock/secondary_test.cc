// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A secondary reads of an SST and, in the same go, that it was moved to another level, and then the
// primary deletes it. Earlier versions have it open by then; RocksDB 11 has let go of it, and
// TryCatchUpWithPrimary() fails. TieredOpeningTest tries again.

#include "test/support/secondary.h"

#include <filesystem>
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

constexpr int kAdditions = 2;  // to level 0, and to the one it was moved to

// Deletes an SST before it is opened again, once both its additions were looked at.
class DeletingFs : public FileSystemWrapper {
 public:
  DeletingFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "DeletingFs"; }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    IOStatus s = target_->GetFileSize(path, options, size, dbg);
    if (s.ok() && std::filesystem::path(path).extension() == ".sst") {
      doomed_ = path;
      looks_++;
    }
    return s;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    if (looks_ == kAdditions) {
      std::filesystem::remove(doomed_);
    }
    return target_->NewRandomAccessFile(path, options, file, dbg);
  }
  int looks() const { return looks_; }

 private:
  std::string doomed_;
  int looks_ = 0;
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
  EXPECT_EQ(fs->looks(), kAdditions);
  EXPECT_EQ(s.ok(), ROCKSDB_MAJOR < 11) << s.ToString();
  EXPECT_EQ(MustTryAgain(s), ROCKSDB_MAJOR >= 11) << s.ToString();
  secondary.reset();
}

}  // namespace

}  // namespace rocktier
