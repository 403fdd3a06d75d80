// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "plugin/raw_wal_fs/device.h"
#include "plugin/raw_wal_fs/posix.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A write or a flush of a device, which may take too long.
struct DeviceWork {
  uint64_t offset = 0;
  size_t size = 0;  // bytes; 0: a flush
  const char* from = nullptr;
  bool durable = false;

  IOStatus Run(Device* device) const {
    return size == 0 ? device->Flush() : device->Write(offset, size, from, durable);
  }
};

// Writes to a device for somebody who waits no longer than a limit: the kernel does not take a
// write back that was begun. LogWriter has one for each log if there is a standby.
//
// Not thread-safe: one caller at a time.
class PatientWriter {
 public:
  // Makes one that uses io_uring, if this build and the kernel have it, else one with a thread,
  // which costs a change of threads, twice, for each work. Null if no thread can be had. The device
  // must live until this is destroyed, and until a work that was given up has ended.
  static std::unique_ptr<PatientWriter> New(Device* device);
  virtual ~PatientWriter() = default;
  PatientWriter(const PatientWriter&) = delete;
  PatientWriter& operator=(const PatientWriter&) = delete;

  // Returns what became of the work. TimedOut: it goes on; nothing but GiveUp() may be called.
  virtual IOStatus Run(const DeviceWork& work, std::chrono::milliseconds limit) = 0;

  // Lets the work go on alone. `keep` and `buffer` live until it has ended, and are then destroyed
  // by another thread, `buffer` first. If no thread can be had they live for ever.
  virtual void GiveUp(std::shared_ptr<void> keep, Buffer buffer) = 0;

 protected:
  PatientWriter() = default;

  static IOStatus TimedOut(const Device& device, std::chrono::milliseconds limit);
};

// Returns null if there is no io_uring that never waits for this device, or the device has no
// descriptor.
std::unique_ptr<PatientWriter> NewRingWriter(Device* device);
// Returns null if no thread can be had.
std::unique_ptr<PatientWriter> NewThreadWriter(Device* device);

// Calls function() in a thread of its own. False if none can be had.
template <typename Function>
bool Detach(Function function) {
  try {
    std::thread(std::move(function)).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

// A thread whose function is waited for, and not its exit: the kernel does not let a thread go
// before the writes have ended that it has begun by io_uring, and a device may stand still.
class LooseThread {
 public:
  // Returns null if no thread can be had.
  template <typename Function>
  static std::shared_ptr<LooseThread> Start(Function function) {
    const auto thread = std::make_shared<LooseThread>();
    const bool begun = Detach([thread, function = std::move(function)] {
      function();
      thread->End();
    });
    return begun ? thread : nullptr;
  }

  // Waits until the function has returned.
  void Await() {
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [this] { return has_ended_; });
  }

 private:
  void End() {
    std::lock_guard<std::mutex> lock(mutex_);
    has_ended_ = true;
    ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;  // guarded by mutex_
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
