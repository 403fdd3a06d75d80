// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/log.h"
#include "plugin/raw_wal_fs/scan.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Reads a log, also one that is being written. What it hands out was verified in the memory that it
// is copied from. LogSequentialFile and LogRandomAccessFile have one each. Not thread-safe.
//
// The early segments of a log that was found (see RecoveredLog) are scanned here, one after the
// other, and what a scan verified is handed out without being read again. Memory: a segment, or
// Window::kPart of a larger one than Window::kMax; when it reads ahead, kAhead + 1 of them.
class Reader {
 public:
  // With `ahead` scans the next segments with threads meanwhile, for one who reads from the first
  // byte to the last.
  explicit Reader(std::shared_ptr<Log> log, bool ahead = false)
      : log_(std::move(log)), ahead_(ahead ? Ahead() : 0) {}

  // Reads up to `n` bytes from `offset` on; fewer only at the end of the log.
  IOStatus Read(uint64_t offset, size_t n, char* to, size_t* got);

  const Log& log() const { return *log_; }

 private:
  // Segments that are read ahead: with only one, the device would wait while it is verified.
  // If segments are small, how many bytes are.
  static constexpr size_t kAhead = 2;
  static constexpr size_t kAheadBytes = 1 << 20;

  // An early segment, as a scan found it.
  struct Scanned {
    IOStatus status;
    Window window;
    ExtentMap extents;
  };
  using ScannedPtr = std::unique_ptr<Scanned>;

  size_t Ahead() const;
  // Finds a run of bytes from `offset` on, at most `n`; none at the end of the log. Busy: try
  // again.
  IOStatus Next(uint64_t offset, size_t n, Slice* bytes);
  IOStatus NextEarly(uint64_t offset, size_t n, Slice* bytes);
  // Points `bytes` to an extent's bytes in a window. Busy if the extent was moved meanwhile.
  IOStatus Load(const Extent& extent, uint64_t version, Slice* bytes);
  IOStatus Fill(const Extent& extent, uint64_t version);
  Slice Filler(uint64_t n);

  // Makes an early segment the current one.
  IOStatus GoTo(size_t ordinal);
  std::future<ScannedPtr> Scan(size_t ordinal, std::launch how);
  IOStatus CheckHole() const;

  const std::shared_ptr<Log> log_;
  const size_t ahead_;
  std::string bytes_;  // in no window

  std::unique_ptr<Window> window_;
  uint64_t version_ = 0;            // the log's when the window was filled
  uint64_t verified_ = UINT64_MAX;  // position of the frame that was verified last
  bool all_verified_ = false;       // the window is the one of the scan

  ScannedPtr current_;  // null before the first
  size_t ordinal_ = 0;  // current_'s
  uint64_t from_ = 0;   // the bytes from here on are not in a segment before it
  ScannedPtr spare_;    // for its memory
  std::deque<std::future<ScannedPtr>> next_;  // the segments behind it
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
