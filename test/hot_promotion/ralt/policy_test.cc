// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What decides and does nothing: parameters and limits, the sample, which runs are merged.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "plugin/hot_promotion/ralt/parameters.h"
#include "plugin/hot_promotion/ralt/pick.h"
#include "plugin/hot_promotion/ralt/sample.h"
#include "test/hot_promotion/ralt/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

Parameters Of(uint64_t fast_bytes) {
  RaltOptions options;
  options.fast_bytes = fast_bytes;
  return Parameters(options);
}

}  // namespace

TEST(ParametersTest, DefaultsAreThePapers) {
  const Parameters p = Of(1000 << 20);
  EXPECT_EQ(0.999, p.alpha);
  EXPECT_EQ(100u << 20, p.tick_bytes);
  EXPECT_EQ(7u, p.decay_ticks);
  EXPECT_EQ(26, p.counter_step);
  EXPECT_EQ(50, p.counter_max);
  EXPECT_EQ(50u << 20, p.hot_min);
  EXPECT_EQ(700u << 20, p.hot_max);
  EXPECT_EQ(500u << 20, p.hot_initial);
  EXPECT_EQ(70u << 20, p.unstable);
  EXPECT_EQ(150u << 20, p.max_bytes);
}

TEST(ParametersTest, AreBroughtIntoTheirRange) {
  RaltOptions options;
  options.alpha = std::nan("");
  options.tick_ratio = -1;
  options.hot_min_ratio = 2;
  options.hot_max_ratio = 0.5;
  options.initial_hot_ratio = 3;
  options.counter_step = 100;
  options.counter_max = 100;
  options.decay_ratio = 0;
  options.evict_ratio = 7;
  options.buffer_bytes = 1;
  options.max_bytes = 1;
  options.flush_seconds = 0;
  const Parameters p(options);
  EXPECT_GT(p.alpha, 0);
  EXPECT_EQ(1u, p.tick_bytes);
  EXPECT_GE(p.decay_ticks, 1u);
  EXPECT_EQ(120, p.counter_max);
  EXPECT_EQ(120, p.counter_step);
  EXPECT_LE(p.hot_min, p.hot_max);
  EXPECT_LE(p.hot_initial, p.hot_max);
  EXPECT_EQ(0.9, p.evict_ratio);
  EXPECT_EQ(4096u, p.buffer_bytes);
  EXPECT_EQ(65536u, p.max_bytes);
  EXPECT_EQ(1000000u, p.flush_micros);
}

TEST(LimitsTest, FollowTheStableRecords) {
  const Parameters p = Of(1000 << 20);
  const Limits limits = NextLimits(p, {200 << 20, 20 << 20});
  EXPECT_EQ(270u << 20, limits.hot);
  EXPECT_EQ(27u << 20, limits.table);
}

TEST(LimitsTest, HaveBounds) {
  const Parameters p = Of(1000 << 20);
  EXPECT_EQ(700u << 20, NextLimits(p, {690 << 20, 20 << 20}).hot);
  EXPECT_EQ(150u << 20, NextLimits(p, {690 << 20, 149 << 20}).table);
  const Limits none = NextLimits(p, {0, 0});
  EXPECT_EQ(70u << 20, none.hot);
  EXPECT_EQ(15u << 20, none.table);
  EXPECT_EQ(64u << 10, NextLimits(Of(1000), {500, 50}).table) << "small tables have their overhead";
}

using Records = std::vector<std::pair<double, uint64_t>>;  // rank, size

// The share of the bytes that a threshold for `part` of them keeps.
double KeptOf(const Records& records, const Sample& sample, double part, uint64_t total) {
  const double all = static_cast<double>(total);
  const double threshold = sample.Threshold(static_cast<uint64_t>(all * part));
  uint64_t kept = 0;
  for (const auto& [rank, size] : records) {
    kept += rank >= threshold ? size : 0;
  }
  return static_cast<double>(kept) / all;
}

double DeviationOf(double part, size_t points) {
  return std::sqrt(part * (1 - part) / static_cast<double>(points));
}

TEST(SampleTest, FindsTheThresholdInOnePass) {
  Random64 random(Seed());
  Records records;
  uint64_t total = 0;
  for (int i = 0; i < 100000; ++i) {
    const double rank = std::sqrt(static_cast<double>(random.Uniform(1000000)));
    records.emplace_back(rank, 1 + random.Uniform(1000));
    total += records.back().second;
  }
  // What is kept differs from the target as the share of a sample of so many does from that of all.
  constexpr int kSamples = 30;
  for (const size_t points : {2000, 3000, 4000}) {
    std::map<double, double> sums;
    for (int i = 0; i < kSamples; ++i) {
      Sample sample(points, random.Next());
      for (const auto& [rank, size] : records) {
        sample.Add(rank, size);
      }
      EXPECT_EQ(total, sample.size());
      for (const double part : {0.1, 0.5, 0.9}) {
        const double kept = KeptOf(records, sample, part, total);
        EXPECT_NEAR(part, kept, 6 * DeviationOf(part, points));
        sums[part] += kept;
      }
    }
    for (const auto& [part, sum] : sums) {
      EXPECT_NEAR(part, sum / kSamples, 6 * DeviationOf(part, points * kSamples));
    }
  }
}

TEST(SampleTest, OneRecordMayBeAsLargeAsItLikes) {
  Sample sample(1000, 1);
  for (int i = 0; i < 100; ++i) {
    sample.Add(i, 10);
  }
  EXPECT_EQ(60, sample.Threshold(400));
  sample.Add(1000, uint64_t{1} << 50);
  EXPECT_EQ(1000, sample.Threshold(uint64_t{1} << 49));
}

TEST(SampleTest, KeepsAllIfThereIsRoomAndNothingIfThereIsNone) {
  Sample sample(10, 1);
  EXPECT_EQ(-std::numeric_limits<double>::infinity(), sample.Threshold(0)) << "nothing to remove";
  sample.Add(1, 100);
  EXPECT_EQ(-std::numeric_limits<double>::infinity(), sample.Threshold(100));
  EXPECT_EQ(std::numeric_limits<double>::infinity(), sample.Threshold(0));
}

TEST(PickTest, LeavesFewRuns) {
  EXPECT_EQ(0u, PickMerge({}));
  EXPECT_EQ(0u, PickMerge({1, 1, 1}));
  EXPECT_EQ(4u, PickMerge({1, 1, 1, 1}));
  EXPECT_EQ(3u, PickMerge({1, 1, 1, 100}));
  EXPECT_EQ(4u, PickMerge({1, 1, 1, 23}));
  EXPECT_EQ(5u, PickMerge({1, 1, 1, 100, 50}))
      << "an older run that is too small takes all newer ones";
  EXPECT_EQ(0u, PickMerge({1, 8, 72, 648}));
}

TEST(PickTest, RecordsAreWrittenSeldom) {
  std::vector<uint64_t> runs;
  uint64_t written = 0;
  constexpr uint64_t kFlushes = 1000;
  size_t most = 0;
  for (uint64_t i = 0; i < kFlushes; ++i) {
    runs.insert(runs.begin(), 1);
    const size_t count = PickMerge(runs);
    uint64_t sum = 0;
    for (size_t j = 0; j < count; ++j) {
      sum += runs[j];
    }
    written += sum;
    if (count > 0) {
      runs.erase(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(count));
      runs.insert(runs.begin(), sum);
    }
    most = std::max(most, runs.size());
  }
  EXPECT_LE(most, 7u);
  EXPECT_LE(written, 15 * kFlushes);
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
