// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

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

// The open cache file: a mapped index, and a data area that is read and written by io_uring, by pread
// and pwrite, or through a persistent memory mapping. The one seam for the cache file's I/O.
// Thread-safe; a Transfer belongs to one thread at a time.
class Device {
 public:
  // Opens an existing file. `index_end`: the bytes from the start that are mapped.
  static Status Open(const TwoQSecondaryCacheOptions& options, uint64_t index_end,
                     std::unique_ptr<Device>* result);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The first `index_end` bytes; stores reach the file even if the process dies.
  char* index() const { return index_; }
  // The whole file, mapped for loads, or null if it is read by Transfers.
  const char* mapping() const { return pmem_; }

  // Starts a transfer; it is done when Poll() says so or Wait() returns. Without `async` it is done at
  // once. Offsets, sizes and addresses are multiples of 4096, or of 512 if the file is so aligned.
  void Start(Transfer* transfer, bool async);
  bool Poll(Transfer* transfer);
  void Wait(Transfer* transfer);
  // After Wait: IOError unless all bytes were moved.
  Status Check(const Transfer& transfer) const;

  // What became of io=auto and direct_io, for people.
  std::string ToString() const;

  // The alignment that O_DIRECT wants on this path: 512 to 4096, and 512 where there is no O_DIRECT.
  static uint32_t BlockSize(const std::string& path);

 private:
  Device(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status Lock();
  Status MapIndex(uint64_t index_end);
  Status MapPmem();
  std::shared_ptr<Ring> ThreadRing();
  void Run(Transfer* transfer) const;

  const std::string path_;
  const int fd_;
  // Constant after Open().
  bool direct_ = false;
  bool uring_ = false;
  char* index_ = nullptr;
  size_t index_size_ = 0;
  char* pmem_ = nullptr;
  size_t pmem_size_ = 0;

  // Dies with this object: threads then let go of their rings.
  const std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
