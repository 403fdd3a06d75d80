// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// A FIFO of references. A reference is known by its position, a number that grows with each Push.
// One that is taken out early or pushed again needs no search: its old place just no longer counts.
// Such a place still takes room until it rolls over. Not thread-safe.
class Fifo {
 public:
  uint64_t Push(uint64_t hash) {
    hashes_.push_back(hash);
    return first_ + hashes_.size() - 1;
  }
  // Requires size() > 0.
  uint64_t Pop(uint64_t* position) {
    const uint64_t hash = hashes_.front();
    hashes_.pop_front();
    *position = first_++;
    return hash;
  }
  // How many were pushed since the one at this position.
  uint64_t Age(uint64_t position) const { return first_ + hashes_.size() - 1 - position; }
  size_t size() const { return hashes_.size(); }
  size_t MemoryUsage() const { return hashes_.size() * sizeof(uint64_t); }

 private:
  std::deque<uint64_t> hashes_;
  uint64_t first_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
