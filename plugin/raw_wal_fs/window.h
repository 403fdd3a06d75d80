// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstdint>

#include "plugin/raw_wal_fs/posix.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A range of the device, or of a spill, in memory. A scan or a Reader fills it. Not thread-safe.
class Window {
 public:
  // Reads take so many bytes at once if not all of a segment is wanted; more than the largest
  // frame.
  static constexpr uint64_t kPart = 1 << 20;
  // Segments up to this size, in bytes, are read at once, and what was verified there is handed out
  // without being read again.
  static constexpr uint64_t kMax = 16 << 20;

  bool Holds(uint64_t position, uint64_t size) const {
    return position >= begin_ && position + size <= end_;
  }
  void Drop() { begin_ = end_ = 0; }
  // Returns the bytes at a position that the window holds.
  const char* At(uint64_t position) const { return bytes_.get() + (position - begin_); }
  // Returns how many bytes the window holds from a position on that it holds.
  uint64_t BytesFrom(uint64_t position) const { return end_ - position; }

  // Holds this range from now on, and nothing else. read(position, size, to) is an IOStatus.
  template <typename Read>
  IOStatus Fill(uint64_t position, uint64_t size, const Read& read) {
    Drop();
    if (size > capacity_) {
      bytes_ = NewBuffer(size);
      capacity_ = bytes_ != nullptr ? size : 0;
      if (bytes_ == nullptr) {
        return IOStatus::IOError("raw_wal_fs", "no memory for a buffer");
      }
    }
    IOStatus s = read(position, size, bytes_.get());
    if (s.ok()) {
      begin_ = position;
      end_ = position + size;
    }
    return s;
  }

 private:
  Buffer bytes_;
  uint64_t capacity_ = 0;
  uint64_t begin_ = 0;  // positions
  uint64_t end_ = 0;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
