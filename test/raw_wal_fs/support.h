// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/raw_wal_fs/loop.h"
#include "test/support/open_db.h"

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

// RocksDB then does not resume by itself where there is no space, which takes it 5 seconds.
class UnknownFreeSpace : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "UnknownFreeSpace"; }
  ROCKSDB_NAMESPACE::IOStatus GetFreeSpace(const std::string&, const ROCKSDB_NAMESPACE::IOOptions&,
                                           uint64_t*, ROCKSDB_NAMESPACE::IODebugContext*) override {
    return ROCKSDB_NAMESPACE::IOStatus::NotSupported();
  }
};

// A folder of its own for each test, with a log device in a file.
class RawWalTest : public ::testing::Test {
 protected:
  RawWalTest();

  // URI of a RawWalFileSystem over the device of this test.
  std::string Uri(const std::string& more = "") const {
    return "id=RawWalFileSystem;device=" + device_ + ";size=" + std::to_string(device_size_) +
           ";segment_size=64K" + (more.empty() ? "" : ";" + more);
  }
  // Makes env_ anew, as another process would.
  void NewFs(const std::string& more = "");
  // Options with env_.
  ROCKSDB_NAMESPACE::Options DbOptions() const;
  void Open(const ROCKSDB_NAMESPACE::Options& options);
  void Open() { Open(DbOptions()); }
  void Put(const std::string& key, const std::string& value, bool sync = true);
  std::string Get(const std::string& key) { return Get(db_.get(), key); }
  // Returns the value, or the error.
  static std::string Get(ROCKSDB_NAMESPACE::DB* db, const std::string& key);
  // Path of the newest log.
  std::string NewestLog() const;
  static std::string ReadAll(const std::string& path);

  std::string folder_;
  std::string device_;
  std::string db_name_;
  uint64_t device_size_ = 16 << 20;
  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> fs_;
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
};

// What a log device is.
struct DeviceKind {
  const char* name;
  uint32_t sector;  // of a loop device; 0: a file
};

// A file, and loop devices if there can be any here; if not, prints why.
std::vector<DeviceKind> DeviceKinds();

inline std::string NameOf(const ::testing::TestParamInfo<DeviceKind>& kind) {
  return kind.param.name;
}

// The same on each kind of device.
class RawWalDeviceTest : public RawWalTest, public ::testing::WithParamInterface<DeviceKind> {
 protected:
  void SetUp() override { MakeDevice(); }
  // A new device of device_size_ bytes in the place of the one before: a file that is not there
  // yet, or a formatted loop device.
  void MakeDevice();

 private:
  LoopDevice loop_;
};

}  // namespace rocktier
