// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases with a tier in memory where no thread can be had, as in a container with a limit.

#include "test/support/no_threads.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/volatile.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kThreads[] = "recovery_threads=8";

class ThreadsTest : public VolatileTest {
 protected:
  // Of RocksDB, which needs some itself, none are begun while a database is opened beside it.
  void OpenBeside() {
    Options options = DbOptions();
    options.env = Env::Default();
    options.listeners.clear();
    ASSERT_OK(OpenDb(options, folder_ + "/beside", &beside_));
  }
  Status OpenWithoutThreads() {
    const NoThreads none;
    Options options = DbOptions();
    options.max_file_opening_threads = 1;
    options.disable_auto_compactions = true;
    return OpenDb(options, db_name_, &db_);
  }

  std::unique_ptr<DB> beside_;
};

TEST_F(ThreadsTest, ARecoveryGoesOnWithoutOthers) {
  PrepareRetained(4000);
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  MountMemory(kThreads);
  {
    const NoThreads none;
    ASSERT_OK(RecoverTiers(fs_.get(), db_name_));
  }
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(Stats().rebuilt_files, 0u);
  EXPECT_GT(FilesIn("memory"), 1u);
  Verify();
}

// What works in the background begins when a thread can be had.
TEST_F(ThreadsTest, ADatabaseIsOpenedWithoutAThread) {
  PrepareRetained(4000);
  ASSERT_FALSE(HasFailure());
  OpenBeside();
  ASSERT_FALSE(HasFailure());
  LoseMemory();
  MountMemory(kThreads);
  ASSERT_OK(OpenWithoutThreads());
  EXPECT_GT(Stats().rebuilt_files, 1u);
  {
    const NoThreads none;
    ASSERT_OK(WaitForMoves(fs_.get()));
    Fill(200);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  EXPECT_FALSE(Kept(".log").empty());
  Fill(200);
  ASSERT_OK(db_->Flush(FlushOptions()));
  CompactRangeOptions all;
  all.change_level = true;
  all.target_level = 6;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  EXPECT_TRUE(WaitFor([&] { return Kept(".log").empty() && Kept(".seg").empty(); }));
  ASSERT_OK(WaitForMoves(fs_.get()));
  Verify();
  LoseAndVerify();
}

}  // namespace

}  // namespace rocktier
