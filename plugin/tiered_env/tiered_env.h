// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env: a FileSystem that spreads the files of a database over tiers of storage, by level, and moves
// them when their level changes. RocksDB and all tools see one directory. After "PmemEnv" (tiers of
// persistent memory, section 5) and "WAL-assisted tiering"; RocksDB and its files are as they were.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/file_system.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What a tier is made of.
enum class TierKind {
  kPath,  // a directory of the target FileSystem
  kPmem,  // a directory whose files are mapped and written by libpmem
};

// Makes a tier slower, for benchmarks and planning. 0, or 1 for slowdown: as it is.
struct Emulation {
  uint64_t read_latency_us = 0;  // added to each read
  uint64_t iops = 0;             // reads, writes and syncs per second
  uint64_t bandwidth = 0;        // bytes per second, read and written
  double slowdown = 1;           // each operation takes so many times as long as it did

  bool none() const { return read_latency_us == 0 && iops == 0 && bandwidth == 0 && slowdown <= 1; }
};

struct TierOptions {
  // Letters, digits, '_' and '-'. "home" is the tier of the database directory itself.
  std::string name;

  TierKind kind = TierKind::kPath;

  // Directory of the tier; databases have folders of their own in it. Empty for home only.
  std::string path;

  // Most bytes of one database in this tier, 0 for no limit. What finds no room goes to the next tier.
  uint64_t budget = 0;

  // What the tier's files are reported as.
  Temperature temperature = Temperature::kUnknown;

  Emulation emulate;
};

// All options can be set by name from strings: "id=TieredFileSystem;tiers={...};placement={...}". The
// grammar is in README.md.
struct TieredOptions {
  static const char* kName() { return "TieredOptions"; }

  // The fastest first: a file that finds no room goes to the next one. "home" is added at the end if it
  // is not there.
  std::string tiers;

  // Which files belong to which tier; the first rule that fits counts, and what fits none stays at home.
  std::string placement;

  // Bytes per second that files are moved with, read and write counted once. Default: 100M. 0: no limit.
  uint64_t mover_bytes_per_second = 100 << 20;

  // Whether files are moved at all. Default: true.
  bool mover = true;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
