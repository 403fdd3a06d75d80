// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/hot_promotion/engine/sampler.h"
#include "plugin/hot_promotion/ralt/stats.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Chooses which accesses are recorded in the access table, and which reads of slow storage are
// looked at: all of them, or a random part if there are very many. Thread-safe.
class ReadSampling {
 public:
  bool TakesAccess() const { return accesses_.Take(); }
  bool TakesSlowRead() const { return slow_reads_.Take(); }

  // Counts a read of slow storage that was looked at and was not quick.
  void CountOffer() { offered_.fetch_add(1, std::memory_order_relaxed); }

  // One of so many accesses is recorded.
  int one_access_in() const { return accesses_.one_in(); }

 private:
  friend class SamplingControl;

  Sampler accesses_;
  Sampler slow_reads_;
  std::atomic<uint64_t> offered_{0};
};

// Sets the rates of a ReadSampling by what has happened since they were last set. Not thread-safe.
class SamplingControl {
 public:
  // Times are in microseconds.
  SamplingControl(ReadSampling* sampling, uint64_t budget, uint64_t now)
      : sampling_(sampling), budget_(budget), last_(now) {}

  // Whether it is time to set the rates.
  bool IsDue(uint64_t now) const;

  // Sets the rates. `slow_reads`: reads of slow storage so far, looked at or not.
  void Update(uint64_t now, const RaltStats& table, uint64_t slow_reads);

 private:
  bool Learns(const RaltStats& table);

  ReadSampling* const sampling_;
  const uint64_t budget_;
  uint64_t last_;
  uint64_t accesses_ = 0;  // as all below, at that time
  uint64_t offered_ = 0;
  uint64_t slow_reads_ = 0;
  bool learns_ = true;  // the hot set is still becoming known
  uint64_t evictions_ = 0;
  uint64_t stable_bytes_ = 0;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
