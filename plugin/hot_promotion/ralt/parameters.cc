// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/parameters.h"

#include <algorithm>
#include <cmath>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr uint64_t kLeastTable = 64 << 10;

double Within(double value, double least, double most) {
  return value >= least ? std::min(value, most) : least;  // NaN becomes `least`
}

uint64_t Part(uint64_t bytes, double ratio) {
  return static_cast<uint64_t>(static_cast<double>(bytes) * ratio);
}

int Tenths(double value, double least, double most) {
  return static_cast<int>(std::lround(Within(value, least, most) * 10));
}

uint64_t MaxBytes(const RaltOptions& options) {
  const uint64_t bytes = options.max_bytes > 0 ? options.max_bytes : Part(options.fast_bytes, 0.15);
  return std::max(bytes, kLeastTable);
}

uint64_t BufferBytes(const RaltOptions& options, uint64_t max_bytes) {
  return options.buffer_bytes > 0 ? std::clamp<uint64_t>(options.buffer_bytes, 4 << 10, 1 << 30)
                                  : std::clamp<uint64_t>(max_bytes / 16, 256 << 10, 16 << 20);
}

// Bytes of access records for each byte of hot records. If there are no hot records: the ratio that
// max_bytes is made for.
double TableRatio(const Parameters& p, const Stable& stable) {
  const bool none = stable.hot_bytes == 0;
  const uint64_t hot = none ? std::max<uint64_t>(p.hot_max, 1) : stable.hot_bytes;
  return static_cast<double>(none ? p.max_bytes : stable.table_bytes) / static_cast<double>(hot);
}

}  // namespace

Parameters::Parameters(const RaltOptions& options) {
  const uint64_t fast = std::max<uint64_t>(options.fast_bytes, 1);
  const double tick = Within(options.tick_ratio, 1e-6, 1e3);
  alpha = Within(options.alpha, 1e-6, 1);
  tick_bytes = std::max<uint64_t>(Part(fast, tick), 1);
  decay_ticks = static_cast<uint64_t>(
      std::max(std::round(Within(options.decay_ratio, 1e-6, 1e3) / tick), 1.0));
  counter_max = Tenths(options.counter_max, 1, 12);
  counter_step = std::min(Tenths(options.counter_step, 0.1, 12), counter_max);
  hot_max = Part(fast, Within(options.hot_max_ratio, 0, 1));
  hot_min = std::min(Part(fast, Within(options.hot_min_ratio, 0, 1)), hot_max);
  hot_initial = std::clamp(Part(fast, Within(options.initial_hot_ratio, 0, 1)), hot_min, hot_max);
  unstable = Part(hot_max, Within(options.unstable_ratio, 0, 1));
  evict_ratio = Within(options.evict_ratio, 0.01, 0.9);
  max_bytes = MaxBytes(options);
  file_bytes = std::clamp<uint64_t>(max_bytes / 32, 64 << 10, 32 << 20);
  buffer_bytes = BufferBytes(options, max_bytes);
  flush_micros = std::max<uint64_t>(options.flush_seconds, 1) * 1000000;
}

Limits InitialLimits(const Parameters& parameters) {
  return {parameters.hot_initial, parameters.max_bytes};
}

Limits NextLimits(const Parameters& p, const Stable& stable) {
  Limits limits;
  limits.hot = std::clamp(stable.hot_bytes + p.unstable, p.hot_min, p.hot_max);
  // Where the hot set may be larger than its stable part, so may the table.
  const uint64_t spare = std::max(p.unstable, p.hot_min - std::min(p.hot_min, stable.hot_bytes));
  limits.table =
      std::clamp(stable.table_bytes + Part(spare, TableRatio(p, stable)), kLeastTable, p.max_bytes);
  return limits;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
