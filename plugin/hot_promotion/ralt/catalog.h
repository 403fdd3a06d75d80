// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/parameters.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

constexpr char kCatalogName[] = "/CATALOG";
// The magic of a catalog; the plugin's other formats have magics of their own.
constexpr char kCatalogMagic[] = "RKTRALT\n";

// Time in ticks, which advances by accessed bytes.
struct Clock {
  uint64_t tick = 0;
  uint64_t bytes = 0;  // since the tick began

  void Advance(uint64_t accessed, uint64_t tick_bytes) {
    bytes += accessed;
    tick += bytes / tick_bytes;
    bytes %= tick_bytes;
  }
};

// All of the table's state that is not in the run files: which they are, and what the next eviction
// needs.
//
//   size      field
//          8  magic "RKTRALT\n"
//          4  version, 1
//          4  masked CRC-32C of all that follows
//   varint64  clock.tick, clock.bytes, next_file, limits.hot, limits.table, stable.hot_bytes,
//             stable.table_bytes: one behind the other
//          8  alpha, a double
//          8  hot_rank, a double
//   varint64  number of runs, the newest first, and for each of these:
//     varint64  number of parts, at least one, and for each of these:
//       varint64 number of the run file, varint64 its size, varint32 size of `begin`, `begin`
//
// Integers are little-endian. Nothing follows.
struct Catalog {
  struct Part {
    uint64_t number = 0;
    uint64_t file_size = 0;
    std::string begin;
  };

  Clock clock;
  uint64_t next_file = 1;
  Limits limits = {0, 0};
  Stable stable;
  double alpha = 1;
  // Records of a lower rank are not hot.
  double hot_rank = -std::numeric_limits<double>::infinity();
  std::vector<std::vector<Part>> runs;

  std::string Encode() const;
  // Corruption or, for another version, NotSupported.
  static Status Decode(Slice bytes, Catalog* result);
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
