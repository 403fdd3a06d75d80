// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/sampling.h"

#include <algorithm>

#include "plugin/hot_promotion/policy/copy_policy.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

constexpr uint64_t kSecond = 1000000;  // microseconds, as all times here
constexpr uint64_t kSampleInterval = kSecond / 10;
// Up to so many accesses a second all are recorded. That is enough to tell what is hot while it
// matters, and does not make slow what is fast. While the hot set becomes known the limit is
// kAccessesToLearn: as long as each eviction of the access table finds kLearnt more of the largest
// hot set to be stable.
constexpr double kAccessesPerSecond = 8 << 10;
constexpr double kAccessesToLearn = 32 << 10;
constexpr double kLearnt = 1.0 / 64;
// Reads of slow storage that are looked at each second; slow storage does no more. To find them
// among those that memory answers, up to kLooksForOne times as many are looked at.
constexpr double kSlowReadsPerSecond = 8 << 10;
constexpr double kLooksForOne = 8;

}  // namespace

bool SamplingControl::IsDue(uint64_t now) const { return now - last_ >= kSampleInterval; }

// Whether the hot set is still becoming known.
bool SamplingControl::Learns(const RaltStats& table) {
  if (table.evictions != evictions_) {
    const double learnt =
        static_cast<double>(table.stable_bytes) - static_cast<double>(stable_bytes_);
    learns_ = learnt > kLearnt * CopyPolicy::kHotShare * static_cast<double>(budget_);
    evictions_ = table.evictions;
    stable_bytes_ = table.stable_bytes;
  }
  return learns_;
}

void SamplingControl::Update(uint64_t now, const RaltStats& table, uint64_t slow_reads) {
  const uint64_t recorded = table.accesses + table.dropped;
  const double seconds = static_cast<double>(now - last_) / kSecond;
  Sampler& accesses = sampling_->accesses_;
  accesses.SetRate(static_cast<double>(recorded - accesses_) * accesses.one_in() / seconds,
                   Learns(table) ? kAccessesToLearn : kAccessesPerSecond);
  // There may be many more reads that memory answers.
  const uint64_t offered = sampling_->offered_.load(std::memory_order_relaxed);
  Sampler& looks = sampling_->slow_reads_;
  looks.SetRate(std::max(static_cast<double>(offered - offered_) * looks.one_in(),
                         static_cast<double>(slow_reads - slow_reads_) / kLooksForOne) /
                    seconds,
                kSlowReadsPerSecond);
  last_ = now;
  accesses_ = recorded;
  offered_ = offered;
  slow_reads_ = slow_reads;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
