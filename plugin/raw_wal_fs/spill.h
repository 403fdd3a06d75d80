// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/scan.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// The end of a log that is not on the device: frames in a file, one behind the other. If the device
// had no room, the file is the log's stub, behind the tail; if it stalled or failed, the log's file
// in the standby. LogWriter creates it, and writes to it from then on; RecoveredLog finds it.
//
// Readers may read beside the one that writes; otherwise not thread-safe.
class Spill {
 public:
  // The payload of the largest frame, in bytes: what is lost with one damaged block, against
  // headers.
  static constexpr uint64_t kMaxPayload = (256 << 10) - FrameHeader::kSize;

  // Positions from here on are offsets in the file, not on the device.
  static constexpr uint64_t kPosition = uint64_t{1} << 62;
  static bool Holds(uint64_t position) { return position >= kPosition; }

  // Makes an empty spill of a log that is being written, at the end of a file of `begin` bytes. Its
  // frames begin at multiples of `block_size`.
  static IOStatus Create(FileSystem* target, const std::string& path, uint64_t begin,
                         uint32_t block_size, std::unique_ptr<Spill>* result);
  // Finds the frames, from `begin` on, of a log that is not being written, and adds them to
  // `frames`. Null if there are none. Behind a damaged one they only tell what was durable.
  // `superblock`: with the block_size of these frames.
  static IOStatus Find(FileSystem* target, const std::string& path, uint64_t begin,
                       const Stub& stub, const Superblock& superblock, Frames* frames,
                       std::unique_ptr<Spill>* result);

  IOStatus Append(const Slice& frame, uint64_t* position);
  // Appends bytes of a log as frames of its own, without a sync. `from` says which log's they are,
  // and from which offset on; its other fields but `durable` are not looked at.
  IOStatus AppendBytes(const std::string& uuid, const FrameHeader& from, const Slice& bytes,
                       std::vector<Extent>* extents);
  IOStatus Sync();
  IOStatus Close() { return writer_->Close(IOOptions(), nullptr); }

  // Returns the bytes of the file.
  uint64_t end() const { return end_; }
  const std::string& path() const { return path_; }
  uint32_t block_size() const { return block_size_; }

  // Makes durable what an earlier process has written.
  IOStatus SyncFound(FileSystem* target) const;

  // Reads exactly `n` bytes.
  IOStatus Read(uint64_t position, size_t n, char* to) const;

 private:
  // Finds a whole frame. NotFound: there is none.
  IOStatus ReadFrame(uint64_t at, const Stub& stub, std::string* frame, FrameHeader* header) const;

  Spill(std::string path, uint64_t end, uint32_t block_size)
      : path_(std::move(path)), block_size_(block_size), end_(end) {}

  const std::string path_;
  const uint32_t block_size_;
  uint64_t end_;  // offset in the file
  std::unique_ptr<FSWritableFile> writer_;
  std::unique_ptr<FSRandomAccessFile> reader_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
