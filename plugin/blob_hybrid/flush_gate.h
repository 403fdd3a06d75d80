// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <mutex>

#include "plugin/blob_hybrid/counters.h"
#include "plugin/blob_hybrid/gc_monitor.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Where the flushes of a family wait as long as the job frees space. The job publishes how it
// stands. Thread-safe.
class FlushGate {
 public:
  // `counters` and `monitor` must outlive it.
  FlushGate(uint32_t family, Counters* counters, GcMonitor* monitor)
      : family_(family), counters_(counters), monitor_(monitor) {}

  // Lets a flush wait, which may add `memtable_bytes` where `disk_bytes` are too many: wakes the
  // job, and waits until it has freed as much or can do nothing more. If the last wait was in vain,
  // goes on at once until the job has freed something.
  void Wait(uint64_t disk_bytes, uint64_t memtable_bytes);

  // Tells how many bytes are taken, as the job has just seen.
  void SetSpace(uint64_t disk_bytes);
  // Tells how the job stands. `above`: the bound is exceeded, and the job is at work. `missed`: it
  // is exceeded, and nothing can be done.
  void Publish(bool above, bool missed);

  // Tells whether somebody waits for the job: a flush, or a caller of SettleBlobHybrid().
  bool IsAwaited() const;

 private:
  // Waits until less than `enough` is taken, after wake-up `wake`. False if space does not fall for
  // some seconds: a job that ends well may still free nothing, and a slow device may take minutes
  // for one.
  bool Await(uint64_t wake, uint64_t enough, std::unique_lock<std::mutex>* lock);

  const uint32_t family_;
  Counters* const counters_;
  GcMonitor* const monitor_;
  // What follows is guarded by monitor_->mutex.
  bool above_ = false;
  bool missed_ = false;
  int waiting_ = 0;
  uint64_t disk_bytes_ = 0;  // when the job looked
  uint64_t freed_ = 0;       // bytes by which that fell from look to look
  uint64_t worth_ = 0;       // freed bytes from which on it is worth to wait
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
