// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plugin/hot_promotion/ralt/parameters.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// What RALT is to know, by the letter of the paper: every access of every key is remembered, and
// score, counter and tag are worked out from all of them, one access and one decay at a time.
// Shares no code with the table but its Parameters.
class Model {
 public:
  struct Key {
    std::vector<uint64_t> ticks;  // of its accesses
    uint64_t size = 0;
  };

  explicit Model(const Parameters& parameters) : parameters_(parameters) {}

  // `key` is one of the table: with its space.
  void Access(const std::string& key, uint64_t size);

  uint64_t tick() const { return tick_; }
  const std::map<std::string, Key>& keys() const { return keys_; }

  // At the current tick.
  double Score(const Key& key) const;
  int Counter(const Key& key) const;  // tenths
  bool Stable(const Key& key) const { return key.ticks.size() > 1 && Counter(key) > 0; }

  uint64_t Bytes() const;
  uint64_t StableBytes() const;

  // Line 15 of Algorithm 1.
  void EvictUnstable();
  void Keep(const std::set<std::string>& keys);

 private:
  const Parameters parameters_;
  uint64_t tick_ = 0;
  uint64_t bytes_ = 0;
  std::map<std::string, Key> keys_;
};

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
