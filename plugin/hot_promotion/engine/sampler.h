// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Takes a random part of the events of a kind, so that the work for them in each second is bounded.
// Thread-safe.
class Sampler {
 public:
  // Whether this event is taken.
  bool Take() const {
    const int one_in = one_in_.load(std::memory_order_relaxed);
    return one_in == 1 || Random::GetTLSInstance()->OneIn(one_in);
  }

  // Sets the part by how many events there are a second now, and how many are enough.
  void SetRate(double rate, double enough) {
    const double one_in = rate / enough + 0.5;
    one_in_.store(static_cast<int>(std::clamp(one_in, 1.0, kMost)), std::memory_order_relaxed);
  }

  // One of so many events is taken.
  int one_in() const { return one_in_.load(std::memory_order_relaxed); }

 private:
  static constexpr double kMost = 4096;

  std::atomic<int> one_in_{1};
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
