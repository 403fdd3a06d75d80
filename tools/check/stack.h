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

struct Tier {
  std::string name;  // "home": the database's directory
  std::string path;
  std::string kind;
  std::string temperature;
  uint64_t budget = 0;  // 0: none
};

struct Stack {
  std::vector<Tier> tiers;  // the fastest first
  std::string device;       // empty: the logs are plain files
  uint64_t device_size = 0;
  bool device_above = false;  // above the tiers
  uint64_t orphan_budget = 0;

  bool HasMemory() const;
};

// The FileSystem that the option `env` names, and what is below it.
Stack StackOf(const OptionMap& database);

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
