// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// RALT, the recent access lookup table (Qiu et al., "HotRAP: Hot Record Retention and Promotion for
// LSM-trees with Tiered Storage", sections 3.2 and 3.7): which records have been read so often of
// late that they are worth their place on the fast tier.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// What identifies the records of one column family of one database: a hash of the DB id and the
// family's id. Different spaces never mix.
using Space = uint64_t;

// All sizes are in bytes. Of a record, key and value count. The ratios have the paper's values; a
// value out of its range is brought into it.
struct RaltOptions {
  // nullptr: Env::Default().
  Env* env = nullptr;

  // A directory of the table's own, on the fast tier. It is created if need be; the one above it
  // must exist. One Ralt at a time may have it open.
  std::string path;

  // The size of the fast tier as far as hot records may fill it; all the ratios below are of this.
  // At least 1.
  uint64_t fast_bytes = 0;

  // The most that the files of the table take, but for what is being written: one more run of a
  // full buffer and one more file. 0: 15% of fast_bytes. At least 64K.
  uint64_t max_bytes = 0;

  // Memory for accesses that are not on the disk yet. Half of it full is written. More takes fewer
  // and larger writes; less makes records known as hot earlier, and loses less to a kill -9. 0: a
  // 16th of max_bytes, from 256K to 16M. At least 4K.
  uint64_t buffer_bytes = 0;

  // After so many seconds what the buffer has is written, however little it is. At least 1.
  uint32_t flush_seconds = 5;

  // The score of a record is the sum of alpha^age over the ticks in which it was accessed. Above 0,
  // at most 1.
  double alpha = 0.999;
  // A tick passes with each tick_ratio of fast_bytes that is accessed. Above 0.
  double tick_ratio = 0.1;

  // The hot set's size limit follows the stable records: it is their size and unstable_ratio of
  // hot_max_ratio, but no less than hot_min_ratio and no more than hot_max_ratio. From 0 to 1.
  double hot_min_ratio = 0.05;
  double hot_max_ratio = 0.7;
  double unstable_ratio = 0.1;
  // The hot set's size limit until it is first set.
  double initial_hot_ratio = 0.5;

  // An access adds counter_step to a record's counter, up to counter_max; each decay_ratio of
  // fast_bytes that is accessed takes 1 from all of them. A record is stable if it was accessed
  // more than once and its counter is above 0. Counters are kept to a tenth; counter_max is from 1
  // to 12.
  double counter_step = 2.6;
  double counter_max = 5;
  double decay_ratio = 0.7;

  // An eviction makes this part of a limit free. From 0.01 to 0.9.
  double evict_ratio = 0.1;

  // Where problems are told. May be null.
  std::shared_ptr<Logger> logger;
};

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

// Accesses are gathered in memory and merged in the background into sorted runs on the disk, from
// which filters and sums are kept in memory. FORMAT.md has the format.
//
// Thread-safe. Owns its directory, which holds nothing that cannot be lost.
//
// What is there again: after a clean close everything; after kill -9 or a power loss all but the
// accesses of the last flush_seconds, and of these at most as many as buffer_bytes hold (an access
// takes its key's size and about 10 bytes).
class Ralt {
 public:
  // Files that are damaged or unknown are dropped, with a line in the LOG; a table without any is
  // empty. IOError, or what the Env says: the directory cannot be used or is in use.
  static Status Open(const RaltOptions& options, std::unique_ptr<Ralt>* result);

  // Writes what the buffer has. Does not wait for merges to end.
  ~Ralt();
  Ralt(const Ralt&) = delete;
  Ralt& operator=(const Ralt&) = delete;

  // Counts a read of a record. Never waits for I/O: when the background is behind, accesses are
  // dropped and counted; so are those of records that are larger than the hot set may ever be. The
  // access is known to the other functions when it has been written: when the buffer is half full,
  // after flush_seconds, or by Flush().
  void Access(Space space, const Slice& key, size_t value_size);

  // Whether the record is in the hot set. No I/O. Of the records that are not, about one in 10,000
  // is said to be.
  bool IsHot(Space space, const Slice& key) const;

  // Estimates how many bytes (keys and values) the hot records from `begin` to before `end` have,
  // by bytewise order. An empty `end` is the end of the space. No I/O: up to a block of access
  // records too many at either end and run are counted.
  uint64_t HotBytes(Space space, const Slice& begin, const Slice& end) const;

  RaltStats Stats() const;

  // Makes durable what was recorded before the call. IOError: it is lost, and counted as dropped.
  Status Flush();

  // Waits until no flush and no merge is due or under way. For tests and tools.
  void Settle();

 private:
  class Rep;
  explicit Ralt(std::unique_ptr<Rep> rep);
  const std::unique_ptr<Rep> rep_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
