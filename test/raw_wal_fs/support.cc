// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/raw_wal_fs/support.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#include "test/support/scratch.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

RawWalTest::RawWalTest() : folder_(NewFolder()) {
  device_ = folder_ + "/device";
  db_name_ = folder_ + "/db";
}

void RawWalTest::NewFs(const std::string& more) {
  db_.reset();
  env_.reset();
  fs_.reset();
  ASSERT_OK(FileSystem::CreateFromString(ConfigOptions(), Uri(more), &fs_));
  env_ = NewCompositeEnv(fs_);
}

Options RawWalTest::DbOptions() const {
  Options options;
  options.env = env_.get();
  options.create_if_missing = true;
  options.avoid_flush_during_shutdown = true;
  return options;
}

void RawWalTest::Open(const Options& options) {
  db_.reset();
  ASSERT_OK(OpenDb(options, db_name_, &db_));
}

void RawWalTest::Put(const std::string& key, const std::string& value, bool sync) {
  WriteOptions options;
  options.sync = sync;
  ASSERT_OK(db_->Put(options, key, value));
}

std::string RawWalTest::Get(DB* db, const std::string& key) {
  std::string value;
  Status s = db->Get(ReadOptions(), key, &value);
  return s.ok() ? value : s.ToString();
}

std::string RawWalTest::NewestLog() const {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(db_name_)) {
    if (entry.path().extension() == ".log") {
      newest = std::max(newest, entry.path().string());
    }
  }
  return newest;
}

std::string RawWalTest::ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<DeviceKind> DeviceKinds() {
  std::vector<DeviceKind> kinds = {{"File", 0}};
  for (const DeviceKind& kind : {DeviceKind{"Loop512", 512}, DeviceKind{"Loop4096", 4096}}) {
    LoopDevice loop;
    const std::string problem = loop.Open(Scratch() + "/" + kind.name, 1 << 20, kind.sector);
    if (problem.empty()) {
      kinds.push_back(kind);
    } else {
      printf("skipped: all tests on %s: %s\n", kind.name, problem.c_str());
    }
  }
  return kinds;
}

void RawWalDeviceTest::MakeDevice() {
  if (GetParam().sector == 0) {
    std::filesystem::remove(device_);
    return;
  }
  const std::string problem = loop_.Open(folder_ + "/disk", device_size_, GetParam().sector);
  ASSERT_EQ(problem, "");
  device_ = loop_.path();
  raw_wal_fs::RawWalOptions options;
  options.device = device_;
  options.segment_size = 64 << 10;
  ASSERT_OK(raw_wal_fs::FormatLogDevice(options));
}

}  // namespace rocktier
