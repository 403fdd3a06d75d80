// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <vector>

#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Finds the rank from which on records have a given size, from a sample taken in one pass (section 3.2,
// Figure 4). The records lie one behind the other on a line; one point is drawn in each of `points` equal
// parts of it, and the records that the points hit are the sample. Drawn like this, a quarter of a
// percent of the size is a usual error with 1000 points where free draws give one percent.
class Sample {
 public:
  // `total`: no less than the size of all records.
  Sample(uint64_t total, uint64_t points, uint64_t seed);

  void Add(double rank, uint64_t size);

  // Records of at least this rank have about `target` bytes; -infinity if all together have no more.
  double Threshold(uint64_t target) const;

  // The size of all records so far.
  uint64_t size() const { return size_; }

 private:
  void Draw();

  Random64 random_;
  const uint64_t step_;
  uint64_t part_ = 0;
  uint64_t next_ = 0;
  uint64_t size_ = 0;
  std::vector<double> ranks_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
