// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// How long A1 shall remember, as a multiple of the configured ghost_ratio. The longer it remembers,
// the rarer the blocks that are admitted. A1 holds references to victims of AM and to newcomers
// that were not admitted. The share of each that is asked for again soon tells which of the two AM
// should hold. If victims return much more often than newcomers, the hot set is stable and AM is to
// be guarded. If they do not, the hot set moves on, and AM must follow.
// Not thread-safe.
class Window {
 public:
  void OnPush(bool victim) {
    (victim ? victims_ : newcomers_).pushed++;
    if (++pushes_ >= kPeriod) {
      Adapt();
    }
  }
  // Counts a reference that was asked for again. Requires that it is younger than the window would
  // be with a factor of 1, so that the shares do not depend on the factor in force.
  void OnReturn(bool victim) { (victim ? victims_ : newcomers_).returned++; }

  double factor() const { return factor_; }
  // Goes on with a factor that was in force before; bounded.
  void Restore(double factor) { factor_ = std::min(std::max(factor, 1.0), kMost); }

 private:
  struct Count {
    double pushed = 0;
    double returned = 0;
    double Share() const { return (returned + 1) / (pushed + 1); }
  };
  static constexpr uint64_t kPeriod = 256;   // references between two adaptions
  static constexpr double kDecay = 0.95;     // of older counts, per period
  static constexpr double kMinVictims = 64;  // below that the share says nothing
  static constexpr double kStep = 1.2;
  static constexpr double kMost = 8;

  // The factor for a quotient of the shares. The quotient is far below 1 if the hot set moves fast,
  // about 1 if it moves slowly, and above 1 if it stays; scans make it several times as large.
  static double Target(double quotient) {
    if (quotient < 0.5) {
      return kMost;
    }
    return quotient < 1.2 ? 1.5 : 1;
  }

  void Adapt() {
    pushes_ = 0;
    if (victims_.pushed >= kMinVictims) {
      const double target = Target(victims_.Share() / newcomers_.Share());
      factor_ =
          factor_ < target ? std::min(factor_ * kStep, target) : std::max(factor_ / kStep, target);
    }
    for (Count* count : {&victims_, &newcomers_}) {
      count->pushed *= kDecay;
      count->returned *= kDecay;
    }
  }

  Count victims_;
  Count newcomers_;
  uint64_t pushes_ = 0;
  double factor_ = 1.0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
