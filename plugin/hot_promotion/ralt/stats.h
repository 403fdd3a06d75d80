// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// X(name, type, unit, description). Counters count since the table was opened; gauges move.
#define RALT_STATS(X)                                                                              \
  X(accesses, counter, accesses, "accesses recorded in the access table")                          \
  X(dropped, counter, accesses, "accesses not recorded: no room, too large, or a failed write")    \
  X(flushes, counter, events, "buffers of accesses written")                                       \
  X(merges, counter, events, "runs merged into one, without evictions")                            \
  X(evictions, counter, events, "whole tables merged because a limit was exceeded")                \
  X(evicted_unstable, counter, records, "access records removed: not stable any more, or not yet") \
  X(evicted_cold, counter, records, "stable access records removed by score")                      \
  X(read_bytes, counter, bytes, "bytes of runs, read by merges")                                   \
  X(written_bytes, counter, bytes, "bytes of runs, written by flushes and merges")                 \
  X(damaged, counter, files, "files dropped because they were damaged or unknown")                 \
  X(errors, counter, events, "failed flushes and merges")                                          \
  X(tick, gauge, ticks, "the current tick")                                                        \
  X(records, gauge, records, "records in the table, once for each run that has one")               \
  X(runs, gauge, runs, "sorted runs")                                                              \
  X(files, gauge, files, "files of the runs")                                                      \
  X(file_bytes, gauge, bytes, "size of the files of the runs")                                     \
  X(memory_bytes, gauge, bytes, "memory for buffer, filters and indexes")                          \
  X(hot_keys, gauge, records, "records that are hot")                                              \
  X(hot_bytes, gauge, bytes, "keys and values of the hot records")                                 \
  X(hot_limit, gauge, bytes, "the limit of hot_bytes")                                             \
  X(stable_bytes, gauge, bytes, "keys and values of the stable records at the last eviction")      \
  X(table_bytes, gauge, bytes, "size of access records, each key's counted once")                  \
  X(table_limit, gauge, bytes, "the limit of table_bytes")

struct RaltStats {
#define X(name, type, unit, description) uint64_t name = 0;
  RALT_STATS(X)
#undef X
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
