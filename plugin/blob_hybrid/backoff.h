// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The SSTs that something failed with, and when to try again: after a second, then after twice as
// long each time, up to an hour. Times are in microseconds, of any clock. Not thread-safe.
class Backoff {
 public:
  static constexpr uint64_t kFirst = uint64_t{1000} * 1000;
  static constexpr uint64_t kLongest = 3600 * kFirst;
  static constexpr uint64_t kNever = UINT64_MAX;

  // Notes that it failed with an SST. Returns how long that one is left alone.
  uint64_t Fail(uint64_t sst, uint64_t now);
  // Forgets an SST: it did not fail, or there is no such SST any more.
  void Forget(uint64_t sst) { ssts_.erase(sst); }
  // Forgets all but these.
  void Keep(const std::set<uint64_t>& ssts);

  // The SSTs that are not to be tried now, or all the others.
  std::set<uint64_t> Resting(uint64_t now) const;
  std::set<uint64_t> Due(uint64_t now) const;
  // The first time at which there is one to try; kNever if there is none.
  uint64_t next() const;
  bool empty() const { return ssts_.empty(); }

 private:
  struct Pause {
    uint64_t length = 0;
    uint64_t end = 0;
  };

  std::map<uint64_t, Pause> ssts_;  // by number
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
