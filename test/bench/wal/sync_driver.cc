// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Writes records with sync, one after another, to a database whose log is where a FileSystem or an
// option puts it: in slices, when the demo asks for them. In the end it reads them all.

#include <gflags/gflags.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "test/bench/common/json_out.h"
#include "test/bench/common/records.h"
#include "test/bench/common/slices.h"
#include "test/bench/common/store.h"
#include "test/bench/common/workload.h"
#include "test/support/open_db.h"

DEFINE_string(db, "", "directory of the database");
DEFINE_string(fs_uri, "", "FileSystem; empty: RocksDB's own");
DEFINE_string(options, "", "RocksDB's options: name=value;name=value");
DEFINE_uint64(records, 100000, "that are written again and again, in random order");
DEFINE_uint64(value_size, 200, "bytes per value");
DEFINE_uint64(seed, 42, "same seed, same operations");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::NewCompositeEnv;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

using Clock = std::chrono::steady_clock;

class SyncBench {
 public:
  Status Open();
  Status Write(double seconds, JsonObject* figures);
  Status Close();

 private:
  Status WriteOne();
  // That each record has the version that was acknowledged last.
  Status Check();

  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  Random random_{FLAGS_seed};
  std::vector<uint32_t> versions_ = std::vector<uint32_t>(FLAGS_records);  // 0: not written
  std::string key_;
  std::string value_;
};

Status SyncBench::Open() {
  std::shared_ptr<FileSystem> fs = FileSystem::Default();
  Status s;
  if (!FLAGS_fs_uri.empty()) s = FileSystem::CreateFromString(ConfigOptions(), FLAGS_fs_uri, &fs);
  if (!s.ok()) return s;
  env_ = NewCompositeEnv(fs);
  Options base, options;
  base.env = env_.get();
  base.create_if_missing = true;
  base.compression = ROCKSDB_NAMESPACE::kNoCompression;
  s = GetOptionsFromString(ConfigOptions(), base, FLAGS_options, &options);
  return s.ok() ? ROCKSDB_NAMESPACE::OpenDb(options, FLAGS_db, &db_) : s;
}

Status SyncBench::WriteOne() {
  const uint64_t record = random_.Uniform(FLAGS_records);
  const uint32_t version = versions_[record] + 1;
  MakeKey(record, &key_);
  MakeValue(record, version, FLAGS_value_size, &value_);
  WriteOptions options;
  options.sync = true;
  const Status s = db_->Put(options, key_, value_);
  if (s.ok()) versions_[record] = version;
  return s;
}

Status SyncBench::Write(double seconds, JsonObject* figures) {
  const auto start = Clock::now();
  const auto took = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  uint64_t operations = 0;
  Status s;
  do {  // one, however late it is
    s = WriteOne();
    operations++;
  } while (s.ok() && took() < seconds);
  figures->Add("seconds", took());
  figures->Add("ops", operations);
  return s;
}

Status SyncBench::Check() {
  Status s;
  for (uint64_t record = 0; s.ok() && record < versions_.size(); record++) {
    if (versions_[record] == 0) continue;
    s = GetRecord(db_.get(), record, FLAGS_value_size, versions_[record]);
  }
  return s;
}

Status SyncBench::Close() {
  Status s = Check();
  if (s.ok()) s = db_->Close();
  db_.reset();
  return s;
}

Status RunAll() {
  SyncBench bench;
  Status s = bench.Open();
  if (s.ok()) {
    s = ServeSlices(
        [&](double seconds, JsonObject* figures) { return bench.Write(seconds, figures); });
  }
  return s.ok() ? bench.Close() : s;
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const rocktier_bench::Status s = rocktier_bench::RunAll();
  if (!s.ok()) {
    std::fprintf(stderr, "sync_driver: %s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
