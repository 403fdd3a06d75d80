// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// raw_wal_fs FOLDER: a database whose write-ahead log is on a log device, here a file in FOLDER.
//
// FOLDER is created; what an earlier run has left in it is deleted. A folder with other files in it
// is refused. The program writes with sync, opens the database again, so that the log is replayed,
// prints the statistics of the device, and last brings the logs back into plain files and opens the
// database without the plugin.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "own_folder.h"
// Installed with RocksDB: "rocksdb/plugin/raw_wal_fs/raw_wal_fs.h".
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"

namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DestroyDB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::NewCompositeEnv;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;
using ROCKSDB_NAMESPACE::raw_wal_fs::ExportLogs;
using ROCKSDB_NAMESPACE::raw_wal_fs::GetRawWalStats;
using ROCKSDB_NAMESPACE::raw_wal_fs::NewRawWalFileSystem;
using ROCKSDB_NAMESPACE::raw_wal_fs::RawWalOptions;
using ROCKSDB_NAMESPACE::raw_wal_fs::RawWalStats;

constexpr int kRecords = 2000;

std::string Key(int i) { return "key" + std::to_string(1000000 + i); }
std::string Value(int i) { return std::string(static_cast<size_t>(i % 300), 'v') + Key(i); }

Status Open(Env* env, const std::string& path, std::unique_ptr<DB>* db) {
  Options options;
  options.create_if_missing = true;
  options.avoid_flush_during_shutdown = true;  // leaves something to replay
  options.env = env;
#if ROCKSDB_MAJOR >= 11
  return DB::Open(options, path, db);
#else
  DB* raw = nullptr;
  Status s = DB::Open(options, path, &raw);
  db->reset(raw);
  return s;
#endif
}

Status Write(DB* db) {
  WriteOptions sync;
  sync.sync = true;
  for (int i = 0; i < kRecords; i++) {
    Status s = db->Put(sync, Key(i), Value(i));
    if (!s.ok()) {
      return s;
    }
  }
  return Status::OK();
}

Status Verify(DB* db) {
  std::string value;
  for (int i = 0; i < kRecords; i++) {
    Status s = db->Get(ReadOptions(), Key(i), &value);
    if (!s.ok()) {
      return s;
    }
    if (value != Value(i)) {
      return Status::Corruption("wrong value of", Key(i));
    }
  }
  return Status::OK();
}

Status Run(const std::string& folder) {
  const std::string path = folder + "/db";
  Status s = Env::Default()->CreateDirIfMissing(folder);
  RawWalOptions wal;
  wal.device = folder + "/log-device";
  wal.size = 64 << 20;
  std::shared_ptr<FileSystem> fs;
  if (s.ok()) {
    s = NewRawWalFileSystem(wal, FileSystem::Default(), &fs);
  }
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options of_env;
  of_env.env = env.get();
  s = DestroyDB(path, of_env);
  std::unique_ptr<DB> db;
  if (s.ok()) {
    s = Open(env.get(), path, &db);
  }
  if (s.ok()) {
    s = Write(db.get());
  }
  db.reset();
  if (s.ok()) {
    s = Open(env.get(), path, &db);
  }
  if (s.ok()) {
    s = Verify(db.get());
  }
  RawWalStats stats;
  if (s.ok()) {
    s = GetRawWalStats(fs.get(), &stats);
  }
  if (!s.ok()) {
    return s;
  }
  std::printf("%d records written with sync and replayed\n%s", kRecords, stats.ToString().c_str());

  db.reset();
  env.reset();
  fs.reset();  // lets go of the device
  uint64_t logs = 0;
  s = ExportLogs(wal, path, &logs);
  if (s.ok()) {
    s = Open(Env::Default(), path, &db);
  }
  if (s.ok()) {
    s = Verify(db.get());
  }
  std::printf("%llu logs exported; read again without the plugin\n",
              static_cast<unsigned long long>(logs));
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr,
                 "usage: %s FOLDER\n"
                 "What an earlier run has left in FOLDER is deleted.\n",
                 argv[0]);
    return 2;
  }
  if (!rocktier_example::OwnFolder(argv[1])) {
    return 2;
  }
  const Status s = Run(argv[1]);
  if (!s.ok()) {
    std::fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
