// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/sample.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

Sample::Sample(uint64_t total, uint64_t points, uint64_t seed)
    : random_(seed), step_(std::max<uint64_t>(total / points, 1)) {
  Draw();
}

void Sample::Draw() {
  next_ = part_ * step_ + random_.Uniform(step_);
  ++part_;
}

void Sample::Add(double rank, uint64_t size) {
  size_ += size;
  while (next_ < size_) {
    ranks_.push_back(rank);
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
