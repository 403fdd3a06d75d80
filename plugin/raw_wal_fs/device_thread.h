// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

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

// A thread that writes to a device for somebody who waits no longer than a limit: the kernel does
// not take a write back that was begun. LogWriter has one for each log if there is a standby.
//
// Not thread-safe: one caller at a time.
class DeviceThread {
 public:
  // The device must live until this is destroyed, and until a work that was given up has ended.
  explicit DeviceThread(Device* device);
  // Waits for the thread, but not after GiveUp().
  ~DeviceThread();
  DeviceThread(const DeviceThread&) = delete;
  DeviceThread& operator=(const DeviceThread&) = delete;

  // Returns what became of the work. TimedOut: it goes on; nothing but GiveUp() may be called.
  IOStatus Run(const DeviceWork& work, std::chrono::milliseconds limit);

  // Lets the thread go on alone. `keep` and `buffer` live until the work has ended, and are then
  // destroyed by the thread, `buffer` first.
  void GiveUp(std::shared_ptr<void> keep, Buffer buffer);

 private:
  struct State;
  static void Loop(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
