// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/posix.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Says what is known of a path without changing it.
struct DeviceInfo {
  bool exists = false;
  bool is_block_device = false;
  uint64_t size = 0;               // bytes
  uint32_t logical_block = 512;    // bytes; smallest unit of direct I/O
  uint32_t physical_block = 4096;  // bytes; smallest unit that is written as a whole
};

// A block device or a regular file, read and written past the page cache. Volume owns it; while a
// device is being formatted or recovered, the function that does that. This is the one place where
// the plugin touches the device, and the seam for tests that lose power. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // Reads `size` bytes. Requires: offset and size are multiples of the block size, and memory is
  // aligned to 4096; for Write(), too.
  virtual IOStatus Read(uint64_t offset, size_t size, char* to) const = 0;
  // Writes `size` bytes. With `durable` these bytes, and not necessarily those of earlier writes,
  // survive power loss when this returns.
  virtual IOStatus Write(uint64_t offset, size_t size, const char* from, bool durable) = 0;
  // Makes all durable that was written before.
  virtual IOStatus Flush() = 0;

  // Returns the descriptor, for those who write to it by io_uring; -1 if it has none.
  virtual int fd() const { return -1; }
  virtual const std::string& path() const = 0;
  virtual const DeviceInfo& info() const = 0;
};

// Looks at a path. OK, with info->exists false, if nothing is there. InvalidArgument: it is no
// device.
IOStatus InspectDevice(const std::string& path, DeviceInfo* info);

// Opens for reading, and for writing if `write`, when no other process may have it open for
// writing: else Busy. The lock is on the inode, and, of a loop device, on that of the file behind
// it, too.
IOStatus OpenDevice(const std::string& path, bool write, std::unique_ptr<Device>* result);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
