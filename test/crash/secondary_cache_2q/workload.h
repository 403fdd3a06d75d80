// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "test/crash/secondary_cache_2q/oracle.h"

namespace rocktier {

// What the threads of a child do to the DB until Shared::stop: reads whose every answer is checked,
// mixed with overwrites, flushes and compactions. A wrong answer ends the process with
// kWrongAnswer. Thread-safe.
class Workload {
 public:
  static constexpr int kWrongAnswer = 3;

  Workload(ROCKSDB_NAMESPACE::DB* db, Oracle* oracle) : db_(db), oracle_(oracle) {}

  void Read(uint64_t seed);
  // To be called by one thread only: a key has one writer.
  void Write(uint64_t seed);

 private:
  using Random = std::mt19937_64;

  bool Stopped() { return oracle_->shared().stop.load(std::memory_order_relaxed); }
  void Expect(uint32_t key, uint32_t oldest, const Status& status, const Slice& value);
  void ReadOne(uint32_t key);
  void ReadMany(const std::vector<uint32_t>& keys);
  void Scan(uint32_t first);
  void WriteOne(uint32_t key);
  void Fail(const std::string& what);

  ROCKSDB_NAMESPACE::DB* const db_;
  Oracle* const oracle_;
};

}  // namespace rocktier
