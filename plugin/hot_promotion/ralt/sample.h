// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Finds the rank from which on records have a given size, from a sample taken in one pass (section
// 3.2, Figure 4). The records lie one behind the other on a line, which is cut into equal parts; a
// point is drawn in each of these, and the records that the points hit are the sample. Drawn like
// this, a quarter of a percent of the size is a usual error with 1000 points where free draws give
// one percent. When there are too many parts for the length that the line turns out to have, two
// become one.
class Sample {
 public:
  // Makes a sample that has from `points` to twice as many points at the end, if all records have
  // at least as many bytes.
  Sample(size_t points, uint64_t seed);

  void Add(double rank, uint64_t size);

  // Records of at least this rank have about `target` bytes; -infinity if all together have no
  // more.
  double Threshold(uint64_t target) const;

  // The size of all records so far.
  uint64_t size() const { return size_; }

 private:
  void Draw();
  void Halve();

  const size_t points_;
  Random64 random_;
  uint64_t step_ = 1;  // size of a part
  uint64_t next_ = 0;  // the next point
  uint64_t size_ = 0;
  std::vector<double> ranks_;  // one for each part so far
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
