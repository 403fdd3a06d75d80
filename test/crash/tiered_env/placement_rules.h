// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The option `placement` as REFERENCE.md has it, understood without the plugin: what decides which
// file must move is not what is tested.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/advanced_options.h"

namespace rocktier {

// An SST or blob file as RocksDB tells of it, and as old as it is on the disk.
struct KnownFile {
  bool is_blob = false;
  std::string family;  // the column family's name
  uint64_t size = 0;   // bytes
  uint64_t age = 0;    // seconds
  // Of an SST:
  int level = 0;
  int base = 1;  // the first level below L0 of its family that has files
  int last = 1;  // the deepest one
  std::string smallest;
  std::string largest;
  ROCKSDB_NAMESPACE::Temperature temperature = ROCKSDB_NAMESPACE::Temperature::kUnknown;
};

// Where a file belongs.
struct Belonging {
  std::string tier;
  // What the rule that counts begins with: cf, range, older, blob, temperature, levels; else none.
  std::string by;
};

// Knows what the placements of these tests have: ages in days, patterns with a * at their end, keys
// as text.
Belonging BelongingOf(const std::string& placement, const KnownFile& file);

}  // namespace rocktier
