// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

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
  // and larger writes; less makes records known as hot earlier, and loses less to a kill -9. While
  // they are written, up to 100 bytes more for each access, of 16M of the buffer at a time. 0: a
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

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
