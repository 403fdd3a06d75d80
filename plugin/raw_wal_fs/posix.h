// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Returns "IO error: device=/the/device: operation: what errno says". Not RocksDB's IOError() of
// env/io_posix.h: that one makes ENOENT, of the device, a PathNotFound, which whoever follows a log
// takes for a log that was deleted; and it has no message for ESTALE.
inline IOStatus PosixError(const std::string& operation, const std::string& device, int error) {
  const std::string where = "device=" + device + ": " + operation;
  return error == ENOSPC ? IOStatus::NoSpace(where, strerror(error))
                         : IOStatus::IOError(where, strerror(error));
}

// A file descriptor that closes itself; negative if the open failed.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Close();
    fd_ = other.Release();
    return *this;
  }
  int get() const { return fd_; }

 private:
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void Close() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }

  int fd_ = -1;
};

// Finds random bytes that nobody has had before.
inline IOStatus RandomBytes(size_t size, std::string* bytes) {
  bytes->resize(size);
  const ssize_t n = getrandom(bytes->data(), size, 0);  // all of them, up to 256
  return n == static_cast<ssize_t>(size)
             ? IOStatus::OK()
             : IOStatus::IOError("raw_wal_fs: getrandom", strerror(errno));
}

struct Free {
  void operator()(void* p) const { free(p); }
};

// Memory for direct I/O, null if there is none: util/aligned_buffer.h would end the process.
using Buffer = std::unique_ptr<char, Free>;

inline Buffer NewBuffer(size_t size) {
  void* p = nullptr;
  return Buffer(posix_memalign(&p, 4096, size) == 0 ? static_cast<char*>(p) : nullptr);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
