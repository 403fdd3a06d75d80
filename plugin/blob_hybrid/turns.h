// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// A mutex that threads have in the order in which they ask for it: one that takes it again and
// again does not keep others from it, as it may with a std::mutex. Thread-safe.
class Turns {
 public:
  void Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    const uint64_t mine = asked_++;
    changed_.wait(lock, [&] { return now_ == mine; });
  }
  // Ends the caller's turn.
  void Pass() {
    std::lock_guard<std::mutex> lock(mutex_);
    now_++;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  // What follows is guarded by mutex_.
  uint64_t asked_ = 0;  // turns
  uint64_t now_ = 0;    // whose turn it is
};

// Has a turn as long as it lives.
class Turn {
 public:
  explicit Turn(Turns* turns) : turns_(turns) { turns_->Await(); }
  ~Turn() { turns_->Pass(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns* const turns_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
