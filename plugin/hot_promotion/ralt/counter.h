// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Counter: what a time of accesses and decays does to the stability counter of a record (Algorithm
// 1), in tenths: from a value before it makes the one after it.
//
// An access is min(c + step, max) and a decay max(c - 1, 0). Any sequence of them is one addition
// and one clamp; so two runs that each know a part of a record's history can be merged, in any
// grouping, to what the whole history gives.
//
// Invariant: 0 <= floor <= cap <= max and |add| <= max, with max <= kMax.
struct Counter {
  static constexpr int kMax = 120;

  int8_t add = 0;
  uint8_t floor = 0;
  uint8_t cap = 0;

  static Counter Access(int step, int max) { return Make(step, 0, max, max); }
  // `amount` may be as large as one likes.
  static Counter Decay(uint64_t amount, int max) {
    const int less = static_cast<int>(std::min<uint64_t>(amount, static_cast<uint64_t>(max)));
    return Make(-less, 0, max - less, max);
  }

  // The value after it for a record that was not known before.
  int Value() const { return Apply(0); }
  int Apply(int before) const { return std::clamp<int>(before + add, floor, cap); }

  // Returns what this time does, and then another one.
  Counter Then(const Counter& later, int max) const {
    return Make(add + later.add, later.Apply(floor), later.Apply(cap), max);
  }

 private:
  // Values are from 0 to max, so that an addition beyond it does not differ from one of it.
  static Counter Make(int add, int floor, int cap, int max) {
    Counter result;
    result.add = static_cast<int8_t>(std::clamp(add, -max, max));
    result.floor = static_cast<uint8_t>(floor);
    result.cap = static_cast<uint8_t>(cap);
    return result;
  }
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
