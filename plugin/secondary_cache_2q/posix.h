// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Returns what errno says of a system call: "IO error: ... CONTEXT: PATH: No space left on device".
inline Status PosixError(const std::string& context, const std::string& path, int error) {
  const std::string where = context + ": " + path;
  switch (error) {
    case ENOSPC:
      return Status::NoSpace(where, strerror(error));
    case ENOENT:
      return Status::PathNotFound(where, strerror(error));
    default:
      return Status::IOError(where, strerror(error));
  }
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
