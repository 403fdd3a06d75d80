// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Calls of the operating system, on files of persistent memory and wherever RocksDB's FileSystem
// has no such call. Errors are RocksDB's IOError(): "IO error: While ...: /the/file: why".

#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "rocksdb/io_status.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A file descriptor that closes itself; negative if there is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Reset();
    fd_ = other.Release();
    return *this;
  }
  int get() const { return fd_; }
  void Reset() {
    if (fd_ >= 0) {
      close(fd_);
    }
    fd_ = -1;
  }

 private:
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

  int fd_ = -1;
};

// Creates the file as 0644, if `flags` say so.
IOStatus OpenFile(const std::string& path, int flags, Descriptor* result);
IOStatus SizeOf(int fd, const std::string& path, uint64_t* result);
// Reads all n bytes; Corruption if the file ends before.
IOStatus ReadFully(int fd, const std::string& path, uint64_t at, size_t n, char* to);
IOStatus WriteFully(int fd, const std::string& path, uint64_t at, Slice data);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
