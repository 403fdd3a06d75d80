// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// With manual_wal_flush, stock RocksDB waits for ever if the first write to its new log fails while
// it opens a database: DB::Open() holds the mutex that WALIOStatusCheck() takes, which FlushWAL()
// calls. KindsTest has no power failure there with that option.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/support/open_db.h"
#include "test/support/wait.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

class FailingFile : public FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override {
    return IOStatus::IOError("the log", "fails");
  }
};

// Fails each write to a log.
class FailingLogs : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "FailingLogs"; }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    IOStatus s = target_->NewWritableFile(path, options, result, dbg);
    if (s.ok() && std::filesystem::path(path).extension() == ".log") {
      *result = std::make_unique<FailingFile>(std::move(*result));
    }
    return s;
  }
};

// Returns whether an opening has ended in time. It is done by another process.
bool OpeningEnds(const Options& options, const std::string& name, std::chrono::seconds time) {
  const pid_t child = fork();
  if (child == 0) {
    std::unique_ptr<DB> db;
    OpenDb(options, name, &db).PermitUncheckedError();
    _exit(0);
  }
  const bool ended = WaitFor([child] { return waitpid(child, nullptr, WNOHANG) == child; }, time);
  if (!ended) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return ended;
}

TEST(StockOpening, ALogThatCannotBeWrittenWithManualWalFlush) {
  const std::string name = test::PerThreadDBPath("stock_opening");
  std::filesystem::remove_all(name);
  Options options;
  options.create_if_missing = true;
  options.avoid_flush_during_recovery = true;
  {
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, name, &db));
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db->Put(WriteOptions(), "damaged", std::string(1000, 'v')));
  }
  // A log with a damaged end, as a loss of power leaves it: then there is a first write.
  for (const auto& entry : std::filesystem::directory_iterator(name)) {
    if (entry.path().extension() == ".log") {
      std::fstream log(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      log.seekp(-100, std::ios::end);
      log << "damage";
    }
  }
  const std::unique_ptr<Env> env =
      NewCompositeEnv(std::make_shared<FailingLogs>(FileSystem::Default()));
  options.env = env.get();
  EXPECT_TRUE(OpeningEnds(options, name, std::chrono::seconds(60)));
  options.manual_wal_flush = true;
  EXPECT_FALSE(OpeningEnds(options, name, std::chrono::seconds(5)))
      << "RocksDB gets it right: let KindsTest ask for it";
}

}  // namespace
}  // namespace rocktier
