// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/posix.h"

#include "env/io_posix.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

IOStatus OpenFile(const std::string& path, int flags, Descriptor* result) {
  *result = Descriptor(open(path.c_str(), flags | O_CLOEXEC, 0644));
  return result->get() >= 0 ? IOStatus::OK() : IOError("While opening", path, errno);
}

IOStatus SizeOf(int fd, const std::string& path, uint64_t* result) {
  struct stat st;
  if (fstat(fd, &st) != 0) {
    return IOError("While asking for the size", path, errno);
  }
  *result = static_cast<uint64_t>(st.st_size);
  return IOStatus::OK();
}

IOStatus ReadFully(int fd, const std::string& path, uint64_t at, size_t n, char* to) {
  while (n > 0) {
    const ssize_t got = pread(fd, to, n, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return got < 0 ? IOError("While reading", path, errno)
                     : IOStatus::Corruption(path, "ends before its length");
    }
    at += static_cast<uint64_t>(got);
    to += got;
    n -= static_cast<size_t>(got);
  }
  return IOStatus::OK();
}

IOStatus WriteFully(int fd, const std::string& path, uint64_t at, Slice data) {
  while (!data.empty()) {
    const ssize_t put = pwrite(fd, data.data(), data.size(), static_cast<off_t>(at));
    if (put < 0 && errno != EINTR) {
      return IOError("While writing", path, errno);
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
