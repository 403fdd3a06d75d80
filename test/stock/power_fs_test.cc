// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What PowerFs leaves of files that were not synced: anything, but for logs, where StockLogs is the
// reason.

#include "test/support/power_fs.h"

#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb/file_system.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int kRounds = 1000;
constexpr uint64_t kRecord = 20;  // bytes
constexpr uint64_t kRecords = 3;  // of each file
constexpr char kPlain = 1;        // a tag of a write batch
constexpr char kOfStub = '\xEE';

// A record of RocksDB's log format: checksum, length, type; sequence number, count, tag.
std::string Record(char tag) {
  std::string record(kRecord, '\0');
  record[4] = static_cast<char>(kRecord - 7);
  record[6] = 1;
  record[19] = tag;
  return record;
}

class PowerFsTest : public testing::Test {
 protected:
  PowerFsTest() : folder_(test::PerThreadDBPath("power_fs")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ + "/db");
    power_ = std::make_unique<PowerFs>(folder_ + "/attic");
    random_.seed(Seed());
  }

  void Write(const std::string& name, char tag, bool synced) {
    std::unique_ptr<FSWritableFile> file;
    ASSERT_OK(power_->NewWritableFile(folder_ + "/db/" + name, FileOptions(), &file, nullptr));
    for (uint64_t i = 0; i < kRecords; i++) {
      ASSERT_OK(file->Append(Record(tag), IOOptions(), nullptr));
      ASSERT_OK(synced && i == 0 ? file->Sync(IOOptions(), nullptr) : IOStatus::OK());
    }
    ASSERT_OK(file->Close(IOOptions(), nullptr));
  }
  // How many bytes such a file may have left.
  std::set<uint64_t> Left(const std::string& name, char tag, bool synced) {
    std::set<uint64_t> left;
    for (int i = 0; i < kRounds; i++) {
      Write(name, tag, synced);
      std::unique_ptr<FSDirectory> directory;
      EXPECT_OK(power_->NewDirectory(folder_ + "/db", IOOptions(), &directory, nullptr));
      EXPECT_OK(directory->Fsync(IOOptions(), nullptr));
      power_->Fail(&random_, /*least=*/false);
      left.insert(std::filesystem::file_size(folder_ + "/db/" + name));
      std::filesystem::remove(folder_ + "/db/" + name);
    }
    return left;
  }

  const std::string folder_;
  std::unique_ptr<PowerFs> power_;
  std::mt19937_64 random_;
};

TEST_F(PowerFsTest, LogsAloneAreNotCutBetweenRecords) {
  for (const bool synced : {false, true}) {
    std::set<uint64_t> all;
    for (uint64_t size = synced ? kRecord : 0; size <= kRecords * kRecord; size++) {
      all.insert(size);
    }
    std::set<uint64_t> of_logs = all;
    for (uint64_t i = 0; i < kRecords; i++) {
      of_logs.erase(i * kRecord);
    }
    for (const std::string name : {"000007.log", "000007.log.0123456789abcdef"}) {
      EXPECT_EQ(Left(name, kPlain, synced), of_logs) << name << " " << synced;
    }
    for (const std::string name :
         {"MANIFEST-000005", "000008.sst", "TIERS-000007.log", "TIERS-RECIPES-1.log", "x.log"}) {
      EXPECT_EQ(Left(name, kPlain, synced), all) << name << " " << synced;
    }
    EXPECT_EQ(Left("000007.log", kOfStub, synced), all) << "a stub " << synced;
  }
}

}  // namespace

}  // namespace rocktier
