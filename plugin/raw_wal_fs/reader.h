// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/raw_wal_fs/log.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Reads a log, also one that is being written. Reads ahead on the device and verifies each frame again.
// Not thread-safe.
class Reader {
 public:
  explicit Reader(std::shared_ptr<Log> log) : log_(std::move(log)) {}

  // Up to `n` bytes from `offset` on; fewer only at the end of the log.
  IOStatus Read(uint64_t offset, size_t n, char* to, size_t* got);

  const Log& log() const { return *log_; }

 private:
  // Points `bytes` to a piece's bytes in the window. Busy if the piece was moved meanwhile.
  IOStatus Load(const Piece& piece, uint64_t version, Slice* bytes);
  IOStatus Fill(const Piece& piece, uint64_t version);

  const std::shared_ptr<Log> log_;
  Buffer window_;
  uint64_t begin_ = 0;  // range of the device in the window
  uint64_t end_ = 0;
  uint64_t version_ = 0;            // of the log when the window was filled
  uint64_t verified_ = UINT64_MAX;  // position of the frame that was verified last
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
