// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// X(name, unit, description). Counters count since the table was opened; gauges (marked so) move.
#define RALT_STATS(X)                                                                         \
  X(accesses, accesses, "recorded")                                                           \
  X(dropped, accesses,                                                                        \
    "not recorded: no room in the buffer, a record too large, or a failed write")             \
  X(flushes, events, "buffers written")                                                       \
  X(merges, events, "runs merged into one, without evictions")                                \
  X(evictions, events, "whole tables merged because a limit was exceeded")                    \
  X(evicted_unstable, records, "removed because they were no longer, or not yet, stable")     \
  X(evicted_cold, records, "stable ones removed by score")                                    \
  X(read_bytes, bytes, "of runs, read by merges")                                             \
  X(written_bytes, bytes, "of runs, written by flushes and merges")                           \
  X(damaged, files, "dropped because they were damaged or unknown")                           \
  X(errors, events, "failed flushes and merges")                                              \
  X(tick, ticks, "gauge: the current one")                                                    \
  X(records, records, "gauge: in the table, once for each run that has one")                  \
  X(runs, runs, "gauge: sorted runs")                                                         \
  X(files, files, "gauge: of the runs")                                                       \
  X(file_bytes, bytes, "gauge: of these files")                                               \
  X(memory_bytes, bytes, "gauge: buffer, filters and indexes")                                \
  X(hot_keys, records, "gauge: records that are hot")                                         \
  X(hot_bytes, bytes, "gauge: keys and values of these")                                      \
  X(hot_limit, bytes, "gauge: the limit of hot_bytes")                                        \
  X(stable_bytes, bytes, "gauge: keys and values of the stable records at the last eviction") \
  X(table_bytes, bytes, "gauge: access records, each key's counted once")                     \
  X(table_limit, bytes, "gauge: the limit of table_bytes")

struct RaltStats {
#define X(name, unit, description) uint64_t name = 0;
  RALT_STATS(X)
#undef X
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
