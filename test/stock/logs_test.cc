// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A log that has lost its end, between two records, before a later log: stock RocksDB opens without
// an error and has what is in the later log, though not what was lost before it. PowerFs does not
// cut a log there.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int kLogs = 3;
constexpr int kPerLog = 10;

class StockLogs : public testing::Test {
 protected:
  StockLogs() : name_(test::PerThreadDBPath("stock_logs")), copy_(name_ + "-copy") {
    std::filesystem::remove_all(name_);
    std::filesystem::remove_all(copy_);
  }

  static Options DbOptions() {
    Options options;
    options.create_if_missing = true;
    options.max_write_buffer_number = kLogs + 2;
    return options;
  }
  static std::string KeyOf(int log, int i) { return std::to_string(log) + "-" + std::to_string(i); }

  // The number of bytes that the log in use has.
  uint64_t LogSize(DB* db) {
    VectorLogPtr logs;
    EXPECT_OK(db->GetSortedWalFiles(logs));
    return logs.empty() ? 0 : logs.back()->SizeFileBytes();
  }

  // Several logs, all of them needed; `cut` gets where the last record of each begins.
  void WriteLogs(std::vector<uint64_t>* cut) {
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(DbOptions(), name_, &db));
    ASSERT_OK(db->PauseBackgroundWork());
    for (int log = 0; log < kLogs; log++) {
      for (int i = 0; i < kPerLog; i++) {
        if (i == kPerLog - 1) {
          cut->push_back(LogSize(db.get()));
        }
        ASSERT_OK(db->Put(WriteOptions(), KeyOf(log, i), "value"));
      }
      FlushOptions flush;
      flush.wait = false;
      ASSERT_OK(log + 1 < kLogs ? db->Flush(flush) : Status::OK());
    }
    std::filesystem::copy(name_, copy_);
    ASSERT_OK(db->ContinueBackgroundWork());
  }

  const std::string name_;
  const std::string copy_;
};

TEST_F(StockLogs, ALostEndBeforeALaterLogIsNotSeen) {
  std::vector<uint64_t> cut;
  ASSERT_NO_FATAL_FAILURE(WriteLogs(&cut));
  std::vector<std::filesystem::path> logs;
  for (const auto& entry : std::filesystem::directory_iterator(copy_)) {
    if (entry.path().extension() == ".log" && entry.file_size() > 0) {
      logs.push_back(entry.path());
    }
  }
  std::sort(logs.begin(), logs.end());
  ASSERT_EQ(logs.size(), static_cast<size_t>(kLogs));
  for (size_t i = 0; i + 1 < logs.size(); i++) {
    std::filesystem::resize_file(logs[i], cut[i]);
  }
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(DbOptions(), copy_, &db));
  std::string value;
  for (int log = 0; log < kLogs; log++) {
    for (int i = 0; i < kPerLog; i++) {
      const bool lost = i == kPerLog - 1 && log + 1 < kLogs;
      const Status s = db->Get(ReadOptions(), KeyOf(log, i), &value);
      EXPECT_TRUE(lost ? s.IsNotFound() : s.ok()) << KeyOf(log, i) << ": " << s.ToString();
    }
  }
}

}  // namespace

}  // namespace rocktier
