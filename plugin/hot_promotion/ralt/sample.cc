// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/sample.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

Sample::Sample(size_t points, uint64_t seed) : points_(points), random_(seed) {}

void Sample::Draw() { next_ = ranks_.size() * step_ + random_.Uniform(step_); }

void Sample::Halve() {
  for (size_t i = 0; i < points_; ++i) {
    ranks_[i] = ranks_[2 * i + random_.Uniform(2)];
  }
  ranks_.resize(points_);
  step_ *= 2;
}

void Sample::Add(double rank, uint64_t size) {
  size_ += size;
  while (next_ < size_) {
    ranks_.push_back(rank);
    if (ranks_.size() == 2 * points_) {
      Halve();
    }
    Draw();
  }
}

double Sample::Threshold(uint64_t target) const {
  if (target >= size_ || ranks_.empty()) {
    return -std::numeric_limits<double>::infinity();
  }
  const double share = static_cast<double>(target) / static_cast<double>(size_);
  const auto kept = static_cast<size_t>(share * static_cast<double>(ranks_.size()));
  if (kept == 0) {
    return std::numeric_limits<double>::infinity();
  }
  std::vector<double> ranks = ranks_;
  const auto nth = ranks.begin() + static_cast<std::ptrdiff_t>(kept - 1);
  std::nth_element(ranks.begin(), nth, ranks.end(), std::greater<>());
  return *nth;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
