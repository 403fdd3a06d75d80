// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/counter.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Record: what a run knows of the accesses to one key. Time is counted in ticks.
//
//   size        field
//   varint64    last: the tick of the latest access
//   varint64    last - first: first is the tick of the earliest access
//   varint64    size: of key and value, at the latest access
//          4    score at `last`: a float, little-endian
//          1    counter.add, in tenths, two's complement
//          1    counter.floor, in tenths
//          1    counter.cap, in tenths
//          1    1 if there was more than one access, else 0
//
// counter is what the time from `first` to `last` does to the record's counter.
struct Record {
  uint64_t first = 0;
  uint64_t last = 0;
  uint64_t size = 0;
  float score = 0;
  Counter counter;
  bool again = false;

  void EncodeTo(std::string* bytes) const;
  size_t EncodedSize() const;
  // False: the bytes are no record.
  static bool Decode(Slice bytes, Record* result);
};

// Scoring: how accesses become a record, and what it says of the key. A pure function of its
// parameters.
class Scoring {
 public:
  // The counter's parameters are in tenths; a decay of one takes place every `decay_ticks`.
  Scoring(double alpha, uint64_t decay_ticks, int counter_step, int counter_max);

  // One access.
  Record Access(uint64_t tick, uint64_t size) const;

  // Returns what two runs know of one key, of which the accesses of `older` came first.
  // Associative. The score is the exact sum of alpha^age over the ticks with accesses, whether or
  // not both runs have accesses of one tick.
  Record Merge(const Record& older, const Record& newer) const;

  // Orders records by score as it is at any one tick, since all scores fade alike: of two records
  // the one with the higher rank has the higher score. It is the logarithm of the score at tick 0,
  // and less than a tenth of a millionth that comes from the hash of the key: records of equal
  // score can then be told apart when some of them have to go.
  double Rank(const Record& record, uint64_t hash) const;

  bool Stable(const Record& record, uint64_t now) const;

  double alpha() const { return alpha_; }

 private:
  double Fade(uint64_t ticks) const;
  Counter Decays(uint64_t from, uint64_t to) const;

  const double alpha_;
  const double log_alpha_;
  const uint64_t decay_ticks_;
  const int max_;
  const Counter access_;
  std::vector<double> fades_;  // alpha^i
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
