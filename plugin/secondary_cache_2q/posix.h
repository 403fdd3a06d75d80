// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// "IO error: path=/the/file: operation: what errno says".
inline Status PosixError(const std::string& operation, const std::string& path, int error) {
  return Status::IOError("path=" + path + ": " + operation, strerror(error));
}

// A file descriptor that closes itself; negative if there is none, as after a failed open.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
