// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "rocksdb/io_status.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// "IO error: /the/file: operation: what errno says".
inline IOStatus PosixError(const std::string& operation, const std::string& path, int error) {
  const std::string where = path + ": " + operation;
  switch (error) {
    case ENOSPC:
      return IOStatus::NoSpace(where, strerror(error));
    case ENOENT:
      return IOStatus::PathNotFound(where, strerror(error));
    default:
      return IOStatus::IOError(where, strerror(error));
  }
}

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

inline IOStatus OpenFile(const std::string& path, int flags, Descriptor* result) {
  *result = Descriptor(open(path.c_str(), flags | O_CLOEXEC, 0644));
  return result->get() >= 0 ? IOStatus::OK() : PosixError("open", path, errno);
}

inline IOStatus SizeOf(int fd, const std::string& path, uint64_t* result) {
  struct stat st;
  if (fstat(fd, &st) != 0) {
    return PosixError("fstat", path, errno);
  }
  *result = static_cast<uint64_t>(st.st_size);
  return IOStatus::OK();
}

// All n bytes; Corruption if the file ends before.
inline IOStatus ReadFully(int fd, const std::string& path, uint64_t at, size_t n, char* to) {
  while (n > 0) {
    const ssize_t got = pread(fd, to, n, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return got < 0 ? PosixError("pread", path, errno)
                     : IOStatus::Corruption(path, "ends before its length");
    }
    at += static_cast<uint64_t>(got);
    to += got;
    n -= static_cast<size_t>(got);
  }
  return IOStatus::OK();
}

inline IOStatus WriteFully(int fd, const std::string& path, uint64_t at, Slice data) {
  while (!data.empty()) {
    const ssize_t put = pwrite(fd, data.data(), data.size(), static_cast<off_t>(at));
    if (put < 0 && errno != EINTR) {
      return PosixError("pwrite", path, errno);
    }
    if (put > 0) {
      at += static_cast<uint64_t>(put);
      data.remove_prefix(static_cast<size_t>(put));
    }
  }
  return IOStatus::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
