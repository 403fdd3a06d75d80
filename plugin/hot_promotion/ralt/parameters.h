// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>

#include "plugin/hot_promotion/ralt/options.h"
#include "plugin/hot_promotion/ralt/record.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// RaltOptions with every value in its range and every ratio turned into bytes or ticks.
struct Parameters {
  explicit Parameters(const RaltOptions& options);

  Scoring NewScoring() const { return Scoring(alpha, decay_ticks, counter_step, counter_max); }

  double alpha;
  uint64_t tick_bytes;
  uint64_t decay_ticks;
  int counter_step;  // tenths
  int counter_max;   // tenths
  uint64_t hot_min;
  uint64_t hot_max;
  uint64_t hot_initial;
  uint64_t unstable;
  double evict_ratio;
  uint64_t max_bytes;
  uint64_t file_bytes;  // a file is closed when it has so many bytes of access records
  size_t buffer_bytes;
  uint64_t flush_micros;
};

// The two size limits.
struct Limits {
  uint64_t hot;    // of the hot records' keys and values
  uint64_t table;  // of the access records
};

Limits InitialLimits(const Parameters& parameters);

// Stable: what an eviction left, the stable records' keys and values, and their access records.
struct Stable {
  uint64_t hot_bytes = 0;
  uint64_t table_bytes = 0;
};

// Lines 18 to 21 of Algorithm 1.
Limits NextLimits(const Parameters& parameters, const Stable& stable);

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
