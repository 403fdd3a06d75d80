// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
