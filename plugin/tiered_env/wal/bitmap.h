// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "util/math.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A set of numbers from 0 on, a bit each. Thread-safe if nobody adds to it.
class Bits {
 public:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  void Set(uint64_t i) {
    if (i / 64 >= words_.size()) {
      words_.resize(i / 64 + 1);
    }
    words_[i / 64] |= uint64_t{1} << (i % 64);
  }

  bool Get(uint64_t i) const {
    return i / 64 < words_.size() && ((words_[i / 64] >> (i % 64)) & 1) != 0;
  }

  // The smallest one that is not below i, or kNone.
  uint64_t Next(uint64_t i) const {
    if (i / 64 >= words_.size()) {
      return kNone;
    }
    uint64_t word = words_[i / 64] & (~uint64_t{0} << (i % 64));
    for (uint64_t at = i / 64;; word = words_[at]) {
      if (word != 0) {
        return at * 64 + static_cast<uint64_t>(CountTrailingZeroBits(word));
      }
      if (++at == words_.size()) {
        return kNone;
      }
    }
  }

  size_t memory_bytes() const { return words_.capacity() * sizeof(uint64_t); }

 protected:
  std::vector<uint64_t> words_;
};

// Bits that know how many there are below one. Numbers are added in their order.
class RankedBits : public Bits {
 public:
  void Set(uint64_t i) {
    Bits::Set(i);
    ranks_.resize(words_.size(), size_);
    size_++;
  }

  // How many are below i, which is one of them.
  uint64_t Rank(uint64_t i) const {
    const uint64_t below = words_[i / 64] & ((uint64_t{1} << (i % 64)) - 1);
    return ranks_[i / 64] + static_cast<uint64_t>(BitsSetToOne(below));
  }

  size_t memory_bytes() const {
    return Bits::memory_bytes() + ranks_.capacity() * sizeof(uint32_t);
  }

 private:
  std::vector<uint32_t> ranks_;  // how many are below each word
  uint32_t size_ = 0;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
