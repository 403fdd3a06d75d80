// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Takes a random part of the events of a kind, so that what follows from them has a bound in each second. Thread-safe.
class Sampler {
 public:
  // Whether this event is taken.
  bool Take() const {
    const int one_in = one_in_.load(std::memory_order_relaxed);
    return one_in == 1 || Random::GetTLSInstance()->OneIn(one_in);
  }

  // There are so many events a second now, of which so many are enough.
  void SetRate(double rate, double enough) {
    const double one_in = rate / enough + 0.5;
    one_in_.store(static_cast<int>(std::clamp(one_in, 1.0, kMost)), std::memory_order_relaxed);
  }

  // Of so many events one is taken.
  int one_in() const { return one_in_.load(std::memory_order_relaxed); }

 private:
  static constexpr double kMost = 4096;

  std::atomic<int> one_in_{1};
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
