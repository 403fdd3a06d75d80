// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Slower storage than there is, for benchmarks and planning.

#pragma once

#include <memory>
#include <mutex>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/system_clock.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A device that does one thing after another, as fast as the emulation says. Thread-safe.
class SlowDevice {
 public:
  SlowDevice(const Emulation& emulation, std::shared_ptr<SystemClock> clock)
      : emulation_(emulation), clock_(std::move(clock)) {}

  enum class Kind { kRead, kOther };

  // Called after something that began at `begin` was done: waits until the device would have done
  // it. `operations` are done at the same time, with one latency.
  void Wait(uint64_t begin, Kind kind, uint64_t operations, uint64_t bytes);

  uint64_t Now() const { return clock_->NowNanos(); }

 private:
  // When the device has done this, too.
  uint64_t Reserve(uint64_t begin, uint64_t nanos);

  const Emulation emulation_;
  const std::shared_ptr<SystemClock> clock_;
  std::mutex mutex_;
  uint64_t free_at_ = 0;  // GUARDED_BY(mutex_); nanoseconds
};

// `target` with the limits of `emulation`, which all files of the result share. Reads, writes and
// syncs are waited for when they are done; asynchronous reads are done at submission. Operations on
// names cost nothing. Waits are exact to some microseconds on an idle processor; what is overslept
// of the limits of iops and bandwidth is made up for later, by up to a millisecond. `clock` is for
// tests.
std::shared_ptr<FileSystem> NewEmulatedFileSystem(
    const std::shared_ptr<FileSystem>& target, const Emulation& emulation,
    const std::shared_ptr<SystemClock>& clock = nullptr);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
