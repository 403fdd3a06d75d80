// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/index_map.h"
#include "plugin/secondary_cache_2q/posix.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "plugin/secondary_cache_2q/uring.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// A buffer fit for direct I/O.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size);  // rounded up to 4096 bytes; check data()
  char* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> data_;
};

// A read of the index, for tests that make it fail (the SyncPoint TwoQDevice::ReadIndex).
struct IndexRead {
  uint64_t offset;  // in the file
  size_t size;
  int error;  // an errno
};

// The open cache file, and the one seam for its I/O. The index is read at opening and stored into
// by a mapping. The data area is read and written by io_uring, by pread and pwrite, or through a
// persistent memory mapping. Thread-safe after Open().
class Device {
 public:
  // Takes over `file`, the cache file at `path`, and locks its inode. Busy if another cache has
  // that inode by another name.
  static Status Open(const TwoQSecondaryCacheOptions& options, const std::string& path,
                     Descriptor file, const Superblock& superblock,
                     std::unique_ptr<Device>* result);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Read, write or store a part of the index, from an offset in the file. It is read and written at
  // opening, in whole pages, and stored into later, an entry at a time. What was stored reaches the
  // file even if the process dies.
  Status ReadIndex(uint64_t offset, size_t size, char* bytes) const;
  Status WriteIndex(uint64_t offset, const Slice& bytes) const;
  Status StoreIndex(uint64_t offset, const Slice& bytes) { return index_.Store(offset, bytes); }

  // The whole file, mapped for loads, or null if it is read by Transfers.
  const char* mapping() const { return pmem_; }

  // Starts a transfer. It is done when Poll() says so or Wait() returns; without `async` it is done
  // at once. Offsets, sizes and addresses are multiples of 4096, or of 512 if the file is so
  // aligned.
  void Start(Transfer* transfer, bool async);
  bool Poll(Transfer* transfer);
  void Wait(Transfer* transfer);
  // Tells how a transfer ended, when Wait() has returned: IOError unless all bytes were moved.
  Status Check(const Transfer& transfer) const;

  // What io=auto and direct_io came to, for people to read.
  std::string ToString() const;

  // The alignment that O_DIRECT wants of this file, from 512 to 4096; 512 where there is no
  // O_DIRECT. Requires that the file has at least 4096 bytes.
  static uint32_t BlockSize(int fd);

 private:
  Device(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  Status Lock() const;
  Status OpenDirect();
  Status OpenIo(Io io, uint64_t file_size);
  Status OpenPmem(uint64_t file_size);
  Status CheckSame(const struct stat& other) const;
  int data_fd() const { return direct_.get() >= 0 ? direct_.get() : file_.get(); }
  std::shared_ptr<Ring> ThreadRing();
  void Run(Transfer* transfer) const;

  const std::string path_;
  const Descriptor file_;  // with the lock of the inode
  // Constant after Open().
  Descriptor direct_;  // with O_DIRECT, if that works
  IndexMap index_;
  char* pmem_ = nullptr;
  size_t pmem_size_ = 0;

  // Whether io_uring is used. Goes to false for good when the kernel refuses it, as it may at any
  // moment.
  std::atomic<bool> uring_{false};

  // Held by this object only: when it is gone, threads let go of their rings.
  const std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
