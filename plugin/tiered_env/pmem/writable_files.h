// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Files of a pmem tier that are written.

#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "plugin/tiered_env/pmem/mapping.h"
#include "plugin/tiered_env/pmem/posix.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What is to become of a file of this name that is there.
enum class Existing {
  kReplace,   // it is removed; those that have it open keep it
  kContinue,  // appends continue it
  kReuse,     // it is emptied but keeps its room
};

// Appended bytes are in a shared mapping, and with the length outlive the process at once. The
// length is stored when the bytes that it covers are durable and the file system's own data of them
// are, so that Sync() has one cache line to write; without pmem that holds for nothing until
// Sync(), as with any file.
//
// Invariants: the file has size_ bytes, allocated; kHeaderSize + length_ <= size_; the length in
// the header is length_, but for a crash between bytes and length.
class PmemWritableFile : public FSWritableFile {
 public:
  static IOStatus Open(const std::string& path, const FileOptions& options, Existing existing,
                       std::unique_ptr<FSWritableFile>* result);
  ~PmemWritableFile() override;

  using FSWritableFile::Append;
  // All of it or, with an error, nothing. NoSpace if there is no room.
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override;
  using FSWritableFile::PositionedAppend;
  // Writes what is not beyond the end, of files that were begun with direct I/O in another tier.
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions&,
                            IODebugContext*) override;
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override;
  bool IsSyncThreadSafe() const override { return true; }
  // Requires that nobody reads the file through a mapping. Makes it longer with zeros.
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override;
  // Gives room back that was allocated and not used.
  IOStatus Close(const IOOptions&, IODebugContext*) override;
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return length_.load(); }
  IOStatus Allocate(uint64_t offset, uint64_t n, const IOOptions&, IODebugContext*) override;
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }

 private:
  PmemWritableFile(const std::string& path, const FileOptions& options, Descriptor fd)
      : FSWritableFile(options),
        path_(path),
        allow_fallocate_(options.allow_fallocate),
        fd_(std::move(fd)) {}

  IOStatus Start();
  IOStatus Write(uint64_t offset, const Slice& data);
  IOStatus CreateHeader();
  IOStatus ReadHeader();
  // Makes size_ >= size, with some to spare if there is room.
  IOStatus Grow(uint64_t size);
  IOStatus GrowTo(uint64_t size);
  // Maps the part of the file that `at` is in.
  IOStatus Aim(uint64_t at);
  void SetLength(uint64_t length);

  const std::string path_;
  const bool allow_fallocate_;
  Descriptor fd_;
  std::unique_ptr<Mapping> header_;
  std::unique_ptr<Mapping> window_;
  uint64_t window_begin_ = 0;
  uint64_t size_ = 0;
  std::atomic<uint64_t> length_{0};
};

// Writes within the length only.
class PmemRandomRWFile : public FSRandomRWFile {
 public:
  static IOStatus Open(const std::string& path, std::unique_ptr<FSRandomRWFile>* result);

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions&, IODebugContext*) override;
  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override;
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Sync(options, dbg);
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override;

 private:
  PmemRandomRWFile(const std::string& path, Descriptor fd) : path_(path), fd_(std::move(fd)) {}

  const std::string path_;
  Descriptor fd_;
  uint64_t length_ = 0;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
