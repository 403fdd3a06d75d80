// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <unistd.h>

#include <cstring>
#include <string>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// "IO error: path=/the/file: operation: what errno says".
inline Status PosixError(const std::string& operation, const std::string& path, int error) {
  return Status::IOError("path=" + path + ": " + operation, strerror(error));
}

// A file descriptor that closes itself; negative if the open failed.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
