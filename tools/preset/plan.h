// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a preset is made of: what was asked for, and what comes of it. plan.cc has what several
// presets compute alike, and what is refused for want of room.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"
#include "tools/preset/arithmetic.h"
#include "tools/preset/options_file.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

// The flags; 0 and empty: not given.
struct Request {
  uint64_t data = 0;
  uint64_t value = 0;
  double hot = 0;     // percent
  double writes = 0;  // in a second
  std::string fast;
  std::string slow;
  std::string families;  // "users=fast;log_*=slow"
  std::string device;
  uint64_t memory = 0;
  uint64_t fast_size = 0;
  uint64_t slow_size = 0;
  uint64_t device_size = 0;
  std::string standby;
  uint64_t budget = 0;
  uint64_t memtable = 64ull << 20;  // RocksDB's write_buffer_size
  bool uri = false;
};

struct Plan {
  Arithmetic figures;
  OptionsFile file;
  std::vector<std::string> notes;
  std::string uri;       // empty: there is none
  std::string uri_flag;  // of db_bench

  // Adds a comment on what is only slow, or was not measured.
  void Note(const std::string& text) { notes.push_back(text); }
  // Names the FileSystem, and has it as the URI.
  void FileSystem(const std::string& file_system);
};

// An error of a preset.
Status Refuse(const std::string& why);

// Adds what was given or, if it was not, is read: "data", "value", "hot", "writes", "memtable",
// "memory" and the "memtables" that it has; bytes of the directories and of the device, "fast",
// "slow" and "device". Errors name the flag.
void GiveLoad(const Request& request, Plan* plan);
Status GiveMemory(const Request& request, Plan* plan);
// With "block_cache" besides, and the option to it.
Status GiveMemoryAndCache(const Request& request, Plan* plan);
void AddBlockCache(Plan* plan);
Status GiveFast(const Request& request, Plan* plan);
Status GiveSlow(const Request& request, Plan* plan);
Status GiveDevice(const Request& request, Plan* plan);
// Refuses room that would be counted twice.
Status CheckApart(const Request& request);

// Takes --budget instead of the figure, which is the most that there is room for. Adds "budget".
Status TakeBudget(const Request& request, const std::string& most, const std::string& why,
                  Plan* plan);

// Refuses `need` if it is more than `have`. `flag`: what to give more of.
Status CheckRoom(const Plan& plan, const std::string& need, const std::string& have,
                 const std::string& flag);

// Adds the sizes of copies of hot records: "hot_set", "hot_budget", "hot_store", "access_table" and
// "hot_memory". Requires "data", "value" and "hot".
Status ComputeHotStore(const Request& request, Plan* plan);
// The options to it, below `directory`.
void AddHotStore(const std::string& directory, const std::string& slow, Plan* plan);

// Adds "block_size", "budget" (its capacity) and "index" of a cache of blocks in a file. Requires
// "data", "fast", "spare", "memory" and what belongs to it.
Status ComputeBlockCacheFile(const Request& request, Plan* plan);
// The options to it: a block cache, and the secondary cache `uri` behind it.
void AddSecondaryCache(const std::string& uri, Plan* plan);

// Reads --families into rules for `placement`: "home" is the fast device, "slow" the slow one. Adds
// notes. No rules if the flag was not given.
Status ReadFamilies(const Request& request, std::string* rules, Plan* plan);

// The URI of the log device.
std::string WalUri(const Request& request);

// Adds the options that each preset has.
void AddBasics(Plan* plan);
// Adds max_total_wal_size, which is the figure "logs".
void AddLogs(Plan* plan);

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
