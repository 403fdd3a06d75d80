// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "plugin/raw_wal_fs/raw_wal_fs.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Knows whether a device stalls or fails, and asks it each second until it answers again. Each
// Volume has one; LogWriter, which waits for the device, tells it. The thresholds are those of
// Pebble's WAL failover, as its documentation has them. Thread-safe.
class Health {
 public:
  // When it is well again: each answer within `good`, for as long as `period`.
  struct Limits {
    explicit Limits(const RawWalOptions& options)
        : good(options.failover_latency * 1000 / 4), period(options.failback_after) {}
    std::chrono::microseconds good;
    std::chrono::seconds period;
  };

  // Returns whether new logs should go to the standby.
  bool stalled() const { return stalled_.load(std::memory_order_acquire); }

  // Notes that the device took too long or failed, and begins to call answers(), from a thread of
  // its own, which returns whether the device has written something. False if that was known.
  // `owner` has this object and what answers() needs: it is kept while the device is asked, and
  // nobody is asked any more when it is gone.
  bool NoteStall(const std::weak_ptr<void>& owner, std::function<bool()> answers,
                 const Limits& limits);

 private:
  void Ask(const std::weak_ptr<void>& owner, const std::function<bool()>& answers,
           const Limits& limits);

  uint64_t stalls() const;
  // Forgets the stall, if there was none since there were `stalls`.
  bool Recover(uint64_t stalls);

  std::atomic<bool> stalled_{false};  // changed under mutex_
  mutable std::mutex mutex_;
  uint64_t stalls_ = 0;  // that were noted; guarded by mutex_
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
