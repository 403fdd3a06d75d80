// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/extent_map.h"
#include "plugin/raw_wal_fs/spill.h"
#include "plugin/raw_wal_fs/volume.h"
#include "plugin/raw_wal_fs/window.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

class Standby;

// The byte that takes the place of bytes that were durable and are gone. RocksDB's log reader
// reports it as a damaged record; it would pass over zeros in silence.
constexpr char kFiller = 1;

// A log on the device, as its readers see it: LogWriter if this process writes it, else
// RecoveredLog. RawWalFileSystem finds it by its stub, and Reader reads it.
//
// Thread-safe. Keeps the volume open. The FileSystem that has the stub must live longer.
class Log {
 public:
  virtual ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // Returns the logical size in bytes.
  virtual uint64_t size() const = 0;
  // Returns a number that changes whenever bytes move: what was read from the device before may be
  // elsewhere now.
  virtual uint64_t version() const = 0;
  // Finds a run of the log's bytes from `offset` on, which is not below early_end(): either in
  // `bytes`, or, if that is empty, on the device in `extent`. False at the end of the log.
  virtual bool Locate(uint64_t offset, size_t n, Extent* extent, std::string* bytes) const = 0;
  // Hands over the window with all frames of extents on the device, each verified, if there is one
  // that nobody has asked for yet; else null.
  virtual std::unique_ptr<Window> TakeVerified() { return nullptr; }
  // Makes all bytes durable that are there now.
  virtual IOStatus Sync() = 0;
  // Does so with a log that an earlier process has left, which may have frames in `standby`. If the
  // log is whole without them, these may take no longer than `limit`, nor fail: else the log goes
  // on without, for good, and *given_up says why.
  virtual IOStatus SyncFound(const std::shared_ptr<const Standby>& /*standby*/,
                             std::chrono::milliseconds /*limit*/, std::string* /*given_up*/) {
    return Sync();
  }

  // Lists the segments that Locate() knows nothing of, by ordinal, and the end of the log's bytes
  // in them: Reader scans these. None in a log that is being written.
  const std::vector<uint64_t>& early_segments() const { return early_segments_; }
  uint64_t early_end() const { return early_end_; }

  // Reads frames, from the device or the spill.
  IOStatus ReadFrames(uint64_t position, size_t n, char* to) const;
  // Returns the unit of frames there.
  uint32_t BlockSizeAt(uint64_t position) const {
    return Spill::Holds(position) ? spill()->block_size() : volume_->superblock().block_size;
  }
  // Returns the end of what can be read in one go from the extent's position on.
  uint64_t EndOf(const Extent& extent) const;

  LogId id() const { return id_; }
  const std::string& path() const { return path_; }
  const Volume& volume() const { return *volume_; }

 protected:
  Log(std::shared_ptr<Volume> volume, std::string path, LogId id,
      std::vector<uint64_t> early_segments = {}, uint64_t early_end = 0)
      : volume_(std::move(volume)),
        path_(std::move(path)),
        id_(id),
        early_segments_(std::move(early_segments)),
        early_end_(early_end) {}

  Volume* mutable_volume() const { return volume_.get(); }
  // For a log that has been given segments, and has no stub yet.
  void ReleaseWhenDestroyed() { release_ = true; }
  void KeepWhenDestroyed() { release_ = false; }

 private:
  // Returns null if the log has none.
  virtual const Spill* spill() const = 0;

  const std::shared_ptr<Volume> volume_;
  const std::string path_;
  const LogId id_;
  const std::vector<uint64_t> early_segments_;
  const uint64_t early_end_;
  std::atomic<bool> release_{false};
};

// Returns a pointer to a log that has `keep`, too, as long as it lives: see Volume::Keep().
std::shared_ptr<Log> KeptLog(std::shared_ptr<Log> log, std::shared_ptr<void> keep);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
