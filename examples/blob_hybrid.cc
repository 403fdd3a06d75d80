// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// blob_hybrid FOLDER: a database with large values in blob files, whose space has a bound.
//
// FOLDER is created; what an earlier run has left in it is deleted. A folder with other files in it
// is refused. The program writes values and overwrites them at random, checks every answer, and
// prints the statistics; then it opens the database without the plugin.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "own_folder.h"
// Installed with RocksDB: "rocksdb/plugin/blob_hybrid/blob_hybrid.h".
#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"

namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DestroyDB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;
using ROCKSDB_NAMESPACE::blob_hybrid::BlobHybridOptions;
using ROCKSDB_NAMESPACE::blob_hybrid::BlobHybridStats;
using ROCKSDB_NAMESPACE::blob_hybrid::GetBlobHybridStats;
using ROCKSDB_NAMESPACE::blob_hybrid::SettleBlobHybrid;
using ROCKSDB_NAMESPACE::blob_hybrid::UseBlobHybrid;

constexpr int kRecords = 5000;
constexpr int kOverwrites = 5 * kRecords;
constexpr double kBound = 1.5;

std::string Key(int i) { return "key" + std::to_string(1000000 + i); }

std::string Value(int i, int version) {
  std::mt19937 random(static_cast<uint32_t>(i * 100000 + version));
  std::string value(1000, '\0');
  for (char& c : value) {
    c = static_cast<char>('a' + random() % 26);
  }
  return value;
}

// Small sizes, so that a small example has several levels.
Options StockOptions() {
  Options options;
  options.create_if_missing = true;
  options.enable_blob_files = true;
  options.min_blob_size = 256;
  options.blob_file_size = 256 << 10;
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 32 << 10;
  options.max_bytes_for_level_base = 64 << 10;
  return options;
}

Status Open(const Options& options, const std::string& path, std::unique_ptr<DB>* db) {
#if ROCKSDB_MAJOR < 11
  DB* opened = nullptr;
  Status s = DB::Open(options, path, &opened);
  db->reset(opened);
  return s;
#else
  return DB::Open(options, path, db);
#endif
}

Status Write(DB* db, std::vector<int>* versions) {
  std::mt19937 random(1);
  Status s;
  for (int n = 0; s.ok() && n < kRecords + kOverwrites; n++) {
    const int i = n < kRecords ? n : static_cast<int>(random() % kRecords);
    (*versions)[i] = n;
    s = db->Put(WriteOptions(), Key(i), Value(i, n));
  }
  return s.ok() ? db->Flush(FlushOptions()) : s;
}

Status Check(DB* db, const std::vector<int>& versions) {
  Status s;
  std::string value;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Get(ReadOptions(), Key(i), &value);
    if (s.ok() && value != Value(i, versions[i])) {
      s = Status::Corruption(Key(i), "has another value than the one written");
    }
  }
  return s;
}

Status ShowSpace(DB* db) {
  BlobHybridStats stats;
  const Status s = GetBlobHybridStats(db, db->DefaultColumnFamily(), &stats);
  if (!s.ok()) {
    return s;
  }
  printf("%s", stats.ToString().c_str());
  const double live = kRecords * 1010.0;
  const double amplification =
      static_cast<double>(stats.blob_file_bytes + stats.small_bytes) / live;
  printf("bytes of files for each live byte: %.2f\n", amplification);
  return amplification <= kBound && stats.moved_values > 0
             ? Status::OK()
             : Status::Aborted("blob_hybrid did not do what this example is to show");
}

Status Run(const std::string& path) {
  BlobHybridOptions hybrid;
  hybrid.max_space_amplification = kBound;
  hybrid.space_floor = 1 << 20;
  Options options = StockOptions();
  Status s = UseBlobHybrid(hybrid, &options, &options);
  std::unique_ptr<DB> db;
  if (s.ok()) {
    s = Open(options, path, &db);
  }
  std::vector<int> versions(kRecords);
  if (s.ok()) {
    s = Write(db.get(), &versions);
  }
  if (s.ok()) {
    s = SettleBlobHybrid(db.get());
  }
  if (s.ok()) {
    s = Check(db.get(), versions);
  }
  if (s.ok()) {
    s = ShowSpace(db.get());
  }
  if (s.ok()) {
    s = db->Close();
  }
  db.reset();
  if (s.ok()) {
    s = Open(StockOptions(), path, &db);
  }
  if (s.ok()) {
    s = Check(db.get(), versions);
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr,
            "Usage: %s FOLDER\n"
            "What an earlier run has left in FOLDER is deleted.\n",
            argv[0]);
    return 2;
  }
  if (!rocktier_example::OwnFolder(argv[1])) {
    return 2;
  }
  const std::string folder = argv[1];
  Status s = Env::Default()->CreateDirIfMissing(folder);
  if (s.ok()) {
    s = DestroyDB(folder + "/db", StockOptions());
  }
  if (s.ok()) {
    s = Run(folder + "/db");
  }
  if (!s.ok()) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
