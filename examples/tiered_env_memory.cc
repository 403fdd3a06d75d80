// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env_memory FOLDER: a database whose upper levels are in memory, which is then lost.
//
// FOLDER is created; what an earlier run has left in it is deleted. A folder with other files in it
// is refused. The program writes records, closes the database, deletes all that was in memory, as a
// reboot would, and finds every record when it opens the database again. Last it brings all files
// home and opens the database without the plugin.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

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
using ROCKSDB_NAMESPACE::tiered_env::NewTieredEnvListener;
using ROCKSDB_NAMESPACE::tiered_env::NewTieredFileSystem;
using ROCKSDB_NAMESPACE::tiered_env::TieredOptions;
using ROCKSDB_NAMESPACE::tiered_env::TieredStats;

constexpr int kRecords = 50000;

// Not in the order of the keys, so that levels overlap and are compacted.
std::string Key(int i) { return "key" + std::to_string(1000000 + i * 7919LL % kRecords); }
std::string Value(int i) { return std::string(1000, static_cast<char>('a' + i % 26)) + Key(i); }

struct Opened {
  std::shared_ptr<FileSystem> fs;
  std::unique_ptr<Env> env;
  std::unique_ptr<DB> db;

  void Close() {
    db.reset();
    env.reset();
    fs.reset();
  }
};

Status OpenDb(Env* env, const std::string& path, std::unique_ptr<DB>* db) {
  Options options;
  options.create_if_missing = true;
  options.env = env;
  // The levels in memory are not compressed: what is compressed is not found in the logs.
  options.compression = ROCKSDB_NAMESPACE::kNoCompression;
  // Entries keep their sequence numbers, by which they are found in the logs, also while a level in
  // memory is the last one that there is.
  options.preserve_internal_time_seconds = 3600;
  // Small, for an example: so that there are several levels.
  options.write_buffer_size = 1 << 20;
  options.target_file_size_base = 1 << 20;
  options.max_bytes_for_level_base = 4 << 20;
  options.max_bytes_for_level_multiplier = 4;
  options.level_compaction_dynamic_level_bytes = false;
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

Status Open(const std::string& folder, Opened* opened) {
  TieredOptions options;
  // A real one has its memory in a tmpfs, as /dev/shm/rocksdb.
  options.tiers =
      "memory={kind=memory;path=" + folder + "/memory;budget=256M};slow={path=" + folder + "/slow}";
  options.placement = "0..2=memory;3..=slow";
  Status s = NewTieredFileSystem(options, FileSystem::Default(), &opened->fs);
  if (!s.ok()) {
    return s;
  }
  opened->env = NewCompositeEnv(opened->fs);
  return OpenDb(opened->env.get(), folder + "/db", &opened->db);
}

Status Write(DB* db) {
  Status s;
  for (int i = 0; s.ok() && i < kRecords; i++) {
    s = db->Put(WriteOptions(), Key(i), Value(i));
  }
  // What is not synced is not there after a reboot, with the plugin as without.
  if (s.ok()) {
    s = db->SyncWAL();
  }
  return s.ok() ? db->WaitForCompact(WaitForCompactOptions()) : s;
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

Status PrintStats(FileSystem* fs) {
  TieredStats stats;
  Status s = GetTieredStats(fs, &stats);
  std::printf("%s", stats.ToString().c_str());
  return s;
}

Status RunBeforeAndAfter(const std::string& folder) {
  Opened opened;
  Status s = Open(folder, &opened);
  if (s.ok()) {
    s = Write(opened.db.get());
  }
  if (s.ok()) {
    s = PrintStats(opened.fs.get());
  }
  opened.Close();

  std::error_code error;
  const uintmax_t lost = std::filesystem::remove_all(folder + "/memory", error);
  std::printf("lost: %llu files and folders\n", static_cast<unsigned long long>(lost));
  if (s.ok()) {
    s = Open(folder, &opened);
  }
  if (s.ok()) {
    s = Verify(opened.db.get());
  }
  if (s.ok()) {
    s = PrintStats(opened.fs.get());
  }
  opened.db.reset();
  uint64_t moved = 0;
  if (s.ok()) {
    s = EvacuateTiers(opened.fs.get(), folder + "/db", &moved);
  }
  std::printf("%llu files brought home\n", static_cast<unsigned long long>(moved));
  return s;
}

Status Run(const std::string& folder) {
  std::error_code error;
  for (const char* part : {"/db", "/memory", "/slow"}) {
    std::filesystem::remove_all(folder + part, error);
  }
  std::filesystem::create_directories(folder + "/slow", error);
  if (error) {
    return Status::IOError(folder, error.message());
  }
  Status s = RunBeforeAndAfter(folder);
  std::unique_ptr<DB> db;
  if (s.ok()) {
    s = OpenDb(Env::Default(), folder + "/db", &db);
  }
  return s.ok() ? Verify(db.get()) : s;
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
