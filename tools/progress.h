// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "tools/command.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// A line on stderr that says how far a verb is, from a second after its beginning until Stop(), and
// then goes: a bar if the verb tells how much is done, else the seconds that have passed.
class ProgressLine {
 public:
  // `shown`: false if stderr is no terminal; then nothing is ever shown.
  ProgressLine(std::string name, bool shown);
  ~ProgressLine() { Stop(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // For the verb; null if nothing is shown.
  Progress callback();
  void Stop();

 private:
  void Show();

  const std::string name_;
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> total_{0};
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;   // guarded by mutex_
  std::thread thread_;  // none if nothing is shown
};

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
