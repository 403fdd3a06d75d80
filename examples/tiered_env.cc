// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env FOLDER: a database whose upper levels are in one tier and whose lower levels are in
// another.
//
// FOLDER is created; what an earlier run has left in it is deleted. A folder with other files in it
// is refused. The program writes records, shows which levels are in which tier, prints the
// statistics, and last brings all files home and opens the database without the plugin.

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "own_folder.h"
// Installed with RocksDB: "rocksdb/plugin/tiered_env/tiered_env.h".
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
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
using ROCKSDB_NAMESPACE::WaitForCompactOptions;
using ROCKSDB_NAMESPACE::WriteOptions;
using ROCKSDB_NAMESPACE::tiered_env::EvacuateTiers;
using ROCKSDB_NAMESPACE::tiered_env::GetTieredStats;
using ROCKSDB_NAMESPACE::tiered_env::InspectTiers;
using ROCKSDB_NAMESPACE::tiered_env::NewTieredEnvListener;
using ROCKSDB_NAMESPACE::tiered_env::NewTieredFileSystem;
using ROCKSDB_NAMESPACE::tiered_env::TieredDirectoryInfo;
using ROCKSDB_NAMESPACE::tiered_env::TieredFileInfo;
using ROCKSDB_NAMESPACE::tiered_env::TieredOptions;
using ROCKSDB_NAMESPACE::tiered_env::TieredStats;
using ROCKSDB_NAMESPACE::tiered_env::WaitForMoves;

constexpr int kRecords = 100000;

// Not in the order of the keys, so that levels overlap and are compacted.
std::string Key(int i) { return "key" + std::to_string(1000000 + i * 7919LL % kRecords); }
std::string Value(int i) { return std::string(100, static_cast<char>('a' + i % 26)) + Key(i); }

Status Open(Env* env, const std::string& path, std::unique_ptr<DB>* db) {
  Options options;
  options.create_if_missing = true;
  options.env = env;
  // Small, for an example: so that there are several levels.
  options.compression = ROCKSDB_NAMESPACE::kNoCompression;
  options.write_buffer_size = 512 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 1 << 20;
  options.max_bytes_for_level_multiplier = 4;
  options.level_compaction_dynamic_level_bytes = false;
  // Not needed, but so no file is written to one tier and then moved to another.
  options.listeners.push_back(NewTieredEnvListener());
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
  Status s;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Put(WriteOptions(), Key(i), Value(i));
  }
  if (s.ok()) {
    s = db->WaitForCompact(WaitForCompactOptions());
  }
  return s;
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

// As "rocktier tier ls" does.
Status PrintLevels(FileSystem* fs, const std::string& path) {
  TieredDirectoryInfo info;
  Status s = InspectTiers(fs, path, &info);
  std::map<std::pair<int, std::string>, std::pair<int, uint64_t>> sums;
  for (const TieredFileInfo& file : info.files) {
    if (file.needed) {
      auto& [files, bytes] = sums[{file.level, file.tier}];
      files++;
      bytes += file.size;
    }
  }
  for (const auto& [where, sum] : sums) {
    std::printf("level %d in %s: %d files, %llu bytes\n", where.first, where.second.c_str(),
                sum.first, static_cast<unsigned long long>(sum.second));
  }
  return s;
}

Status PrintStats(FileSystem* fs) {
  TieredStats stats;
  Status s = GetTieredStats(fs, &stats);
  std::printf("%s", stats.ToString().c_str());
  return s;
}

Status RunInTiers(FileSystem* fs, Env* env, const std::string& path) {
  std::unique_ptr<DB> db;
  Status s = Open(env, path, &db);
  if (s.ok()) {
    s = Write(db.get());
  }
  if (s.ok()) {
    s = WaitForMoves(fs);
  }
  if (s.ok()) {
    s = Verify(db.get());
  }
  if (s.ok()) {
    s = PrintLevels(fs, path);
  }
  return s.ok() ? PrintStats(fs) : s;
}

Status Run(const std::string& folder) {
  const std::string path = folder + "/db";
  Env* const plain = Env::Default();
  Status s;
  for (const std::string& directory : {folder, folder + "/fast", folder + "/slow"}) {
    s = s.ok() ? plain->CreateDirIfMissing(directory) : s;
  }
  TieredOptions options;
  options.tiers = "fast={path=" + folder + "/fast;budget=64M};slow={path=" + folder + "/slow}";
  options.placement = "0..1=fast;2..=slow";
  std::shared_ptr<FileSystem> fs;
  if (s.ok()) {
    s = NewTieredFileSystem(options, FileSystem::Default(), &fs);
  }
  if (!s.ok()) {
    return s;
  }
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options of_env;
  of_env.env = env.get();
  s = DestroyDB(path, of_env);
  if (s.ok()) {
    s = RunInTiers(fs.get(), env.get(), path);
  }
  uint64_t moved = 0;
  if (s.ok()) {
    s = EvacuateTiers(fs.get(), path, &moved);
  }
  std::unique_ptr<DB> db;
  if (s.ok()) {
    s = Open(plain, path, &db);
  }
  if (s.ok()) {
    s = Verify(db.get());
  }
  std::printf("%llu files brought home; read again without the plugin\n",
              static_cast<unsigned long long>(moved));
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
