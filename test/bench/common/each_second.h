// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "test/bench/common/json_out.h"

namespace rocktier_bench {

// What was done in each second of a run: a thread looks at the number of operations.
class EachSecond {
 public:
  // `done`: operations so far; any thread may call it.
  explicit EachSecond(std::function<uint64_t()> done);
  EachSecond(const EachSecond&) = delete;
  EachSecond& operator=(const EachSecond&) = delete;
  ~EachSecond() { Stop(); }

  // Takes the rest of the last second.
  void Stop();

  // "each second": moments in seconds since the beginning, and the operations up to each of them
  // since the one before. After Stop().
  void AddTo(JsonObject* json) const;

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  void Look();

  const std::function<uint64_t()> done_;
  const Clock::time_point start_ = Clock::now();
  uint64_t last_;
  std::vector<double> seconds_;
  std::vector<double> operations_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rocktier_bench
