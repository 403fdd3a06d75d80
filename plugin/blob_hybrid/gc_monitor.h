// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Microseconds of a clock that is never set back.
inline uint64_t SteadyMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// What the threads of a database share: the one of the job, flushes that wait for it, and callers
// of SettleBlobHybrid(). Who changes what others may wait for notifies `changed`.
struct GcMonitor {
  std::mutex mutex;
  std::condition_variable changed;
  // What follows is guarded by mutex.
  bool stop = false;         // the thread is to end
  bool closing = false;      // RocksDB is closing the database
  int settling = 0;          // callers of SettleBlobHybrid()
  uint64_t settles = 0;      // calls of it
  uint64_t wanted = 0;       // wake-ups
  std::set<uint32_t> woken;  // families with something to do, perhaps
  uint64_t looked = 0;       // the wake-up after which all that were woken have been looked at
  uint64_t done = 0;         // the wake-up after which there was nothing to do in any family

  // Has the job look at a family, which may have something to do.
  void Wake(uint32_t family) {
    std::lock_guard<std::mutex> lock(mutex);
    woken.insert(family);
    wanted++;
    changed.notify_all();
  }
  // Tells whether nothing is compacted any more. Requires mutex.
  bool ends() const { return stop || closing; }
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
