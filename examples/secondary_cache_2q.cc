// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// secondary_cache_2q FOLDER: a database with a small block cache in front of a TwoQSecondaryCache.
//
// FOLDER is created; what an earlier run has left in it is deleted. A folder with other files in it
// is refused. The program writes records, reads them with skew, checks every answer and prints the
// statistics of the cache: first with the blocks in DRAM, then with the blocks in a file, and a
// last time to show that the file's blocks survive a restart.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>

#include "own_folder.h"
// Installed with RocksDB: "rocksdb/plugin/secondary_cache_2q/secondary_cache_2q.h".
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"

namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::DestroyDB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::LRUCacheOptions;
using ROCKSDB_NAMESPACE::NewBlockBasedTableFactory;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::SecondaryCache;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;
using ROCKSDB_NAMESPACE::secondary_cache_2q::GetTwoQSecondaryCacheStats;
using ROCKSDB_NAMESPACE::secondary_cache_2q::NewTwoQSecondaryCache;
using ROCKSDB_NAMESPACE::secondary_cache_2q::NewTwoQSecondaryCacheListener;
using ROCKSDB_NAMESPACE::secondary_cache_2q::Storage;
using ROCKSDB_NAMESPACE::secondary_cache_2q::TwoQSecondaryCacheOptions;
using ROCKSDB_NAMESPACE::secondary_cache_2q::TwoQSecondaryCacheStats;

constexpr int kRecords = 20000;
constexpr int kReads = 50000;
constexpr size_t kPrimaryCapacity = 512 << 10;
constexpr size_t kSecondaryCapacity = 4 << 20;

std::string Key(int i) { return "key" + std::to_string(1000000 + i); }

std::string Value(int i) {
  std::mt19937 random(static_cast<uint32_t>(i));
  std::string value(400, '\0');
  for (char& c : value) {
    c = static_cast<char>('a' + random() % 26);
  }
  return value;
}

// The options of a database whose blocks go from the block cache into `secondary`.
Options DatabaseOptions(const std::shared_ptr<SecondaryCache>& secondary) {
  LRUCacheOptions primary;
  primary.capacity = kPrimaryCapacity;
  primary.secondary_cache = secondary;
  BlockBasedTableOptions table;
  table.block_cache = primary.MakeSharedCache();
  Options options;
  options.create_if_missing = true;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  // Blocks of SSTs that compactions delete leave the secondary cache at once.
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  return options;
}

struct Step {
  const char* title;
  bool fill = false;      // write the records first
  bool recovers = false;  // the cache file has blocks of the step before
};

Status Write(DB* db) {
  Status s;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Put(WriteOptions(), Key(i), Value(i));
  }
  if (s.ok()) {
    s = db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  }
  return s;
}

// Half of the reads go to an eighth of the keys.
Status ReadWithSkew(DB* db) {
  std::mt19937 random(301);
  std::uniform_real_distribution<double> uniform(0, 1);
  Status s;
  std::string value;
  for (int n = 0; s.ok() && n < kReads; n++) {
    const int i = static_cast<int>(kRecords * std::pow(uniform(random), 3));
    s = db->Get(ReadOptions(), Key(i), &value);
    if (s.ok() && value != Value(i)) {
      s = Status::Corruption(Key(i), "has another value than the one written");
    }
  }
  return s;
}

Status PrintStats(const Step& step, const SecondaryCache* cache) {
  TwoQSecondaryCacheStats stats;
  Status s = GetTwoQSecondaryCacheStats(cache, &stats);
  if (s.ok()) {
    printf("%s\n%s\n", step.title, stats.ToString().c_str());
  }
  if (s.ok() && (stats.hits == 0 || stats.corrupt > 0 || (step.recovers && stats.recovered == 0))) {
    s = Status::Aborted(step.title, "the cache did not do what this example is to show");
  }
  return s;
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

// Opens the database with a cache, reads, and closes both. On return the cache file, if there is
// one, has all blocks that the cache held.
Status Run(const std::string& path, const TwoQSecondaryCacheOptions& cache_options,
           const Step& step) {
  std::shared_ptr<SecondaryCache> cache;
  Status s = NewTwoQSecondaryCache(cache_options, &cache);
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<DB> db;
  s = Open(DatabaseOptions(cache), path, &db);
  if (!s.ok()) {
    return s;
  }
  if (step.fill) {
    s = Write(db.get());
  }
  if (s.ok()) {
    s = ReadWithSkew(db.get());
  }
  if (s.ok()) {
    s = PrintStats(step, cache.get());
  }
  const Status closed = db->Close();
  return s.ok() ? closed : s;
}

Status RunAll(const std::string& folder) {
  const std::string path = folder + "/db";
  Status s = Env::Default()->CreateDirIfMissing(folder);
  if (s.ok()) {
    s = DestroyDB(path, Options());
  }
  const std::string cache_file = folder + "/cache";
  if (s.ok() && Env::Default()->FileExists(cache_file).ok()) {
    s = Env::Default()->DeleteFile(cache_file);
  }
  TwoQSecondaryCacheOptions options;
  options.capacity = kSecondaryCapacity;
  if (s.ok()) {
    s = Run(path, options, {"storage=dram", /*fill=*/true});
  }
  options.storage = Storage::kFile;
  options.path = cache_file;
  if (s.ok()) {
    s = Run(path, options, {"storage=file"});
  }
  if (s.ok()) {
    s = Run(path, options, {"storage=file, reopened", /*fill=*/false, /*recovers=*/true});
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
  const Status s = RunAll(argv[1]);
  if (!s.ok()) {
    fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  return 0;
}
