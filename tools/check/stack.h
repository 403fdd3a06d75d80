// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What an OPTIONS file has a database stand on, and where its copies are.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/check/options_text.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

// A tier, or a directory of one that has several.
struct Tier {
  std::string name;  // "home": the database's directory
  std::string path;
  bool in_memory = false;
  std::string temperature;  // empty: none
  uint64_t budget = 0;      // 0: none
};

struct Stack {
  std::vector<Tier> tiers;  // the fastest first
  std::string device;       // empty: the logs are plain files
  uint64_t device_size = 0;
  std::string standby;        // a directory; empty: there is none
  bool device_above = false;  // above the tiers
  uint64_t orphan_budget = 0;

  bool HasMemory() const;
};

// The FileSystem of this text, and what is below it; an empty text is RocksDB's own. Adds to
// `refused` what is wrong with its options. Opens nothing.
Stack StackOf(const std::string& file_system, std::vector<std::string>* refused);

// A cache with a file: block_cache or blob_cache.
struct CacheText {
  uint64_t memory = 0;    // the cache's own, and a secondary cache's in memory
  std::string path;       // empty: it has no file
  uint64_t capacity = 0;  // of the file
};

// `value`: as an option has it. `otherwise`: bytes if it has none.
CacheText CacheOf(const std::string& value, uint64_t otherwise);

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
