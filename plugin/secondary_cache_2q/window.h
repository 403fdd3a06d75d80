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
//
// If newcomers return much more often than victims, waiting for their return costs a miss each, and
// keeps what is worth less. Then they are taken at once, but for one in eight: these go on to tell
// how often newcomers return.
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
  // Whether AM takes this newcomer, of which nothing is known.
  bool TakesNewcomer() { return takes_newcomers_ && ++newcomers_seen_ % kSample != 0; }
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
  // Newcomers are taken from below the first quotient on until it is above the second one, if there
  // are as many references as make it sure enough.
  static constexpr double kTakeBelow = 0.375;
  static constexpr double kTakeUpTo = 0.65;
  static constexpr double kMinReferences = 3500;
  static constexpr uint64_t kSample = 8;

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
      Adapt(victims_.Share() / newcomers_.Share());
    }
    for (Count* count : {&victims_, &newcomers_}) {
      count->pushed *= kDecay;
      count->returned *= kDecay;
    }
  }

  void Adapt(double quotient) {
    const double target = Target(quotient);
    factor_ =
        factor_ < target ? std::min(factor_ * kStep, target) : std::max(factor_ / kStep, target);
    const bool sure = victims_.pushed + newcomers_.pushed >= kMinReferences;
    takes_newcomers_ = takes_newcomers_ ? quotient < kTakeUpTo : sure && quotient < kTakeBelow;
  }

  Count victims_;
  Count newcomers_;
  uint64_t pushes_ = 0;
  uint64_t newcomers_seen_ = 0;  // while they are taken
  double factor_ = 1.0;
  bool takes_newcomers_ = false;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
