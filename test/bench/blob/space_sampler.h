// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "rocksdb/db.h"
#include "test/bench/common/json_out.h"

namespace rocktier_bench {

// Looks at the space amplification of a database ten times a second: bytes of the SSTs and blob
// files of the current version (what iterators, snapshots of the version and compactions keep
// besides is not in it), for each live byte, of which there are `floor` at least.
class SpaceSampler {
 public:
  SpaceSampler(ROCKSDB_NAMESPACE::DB* db, uint64_t floor, std::function<uint64_t()> live_bytes,
               std::function<double()> progress);
  ~SpaceSampler() { Stop(); }

  // Takes the last sample.
  void Stop();

  // space_max, space_mean, space_end, and after each tenth of the progress space_10 to space_100.
  void AddTo(JsonObject* json) const;

  // space_sum, of all samples, and space_samples, their number.
  void AddSums(JsonObject* json) const;

 private:
  struct Sample {
    double progress;  // 0 to 1
    double amplification;
  };
  void Run();
  void Look();

  ROCKSDB_NAMESPACE::DB* const db_;
  const uint64_t floor_;
  const std::function<uint64_t()> live_bytes_;
  const std::function<double()> progress_;
  std::vector<Sample> samples_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rocktier_bench
