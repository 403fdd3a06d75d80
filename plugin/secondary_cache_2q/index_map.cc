// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/index_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>

#include "plugin/secondary_cache_2q/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

IndexMap::~IndexMap() {
  if (memory_ != nullptr) {
    munmap(memory_, size_);
  }
}

Status IndexMap::Open(int fd, const std::string& path, uint64_t size) {
  path_ = path;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return PosixError("make a pipe", path, errno);
  }
  from_ = Descriptor(ends[0]);
  to_ = Descriptor(ends[1]);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return PosixError("mmap", path, errno);
  }
  memory_ = static_cast<char*>(memory);
  size_ = size;
  return Status::OK();
}

Status IndexMap::Store(uint64_t offset, const Slice& bytes) {
  assert(offset + bytes.size() <= size_);
  const auto size = static_cast<ssize_t>(bytes.size());
  TEST_SYNC_POINT_CALLBACK("TwoQIndexMap::Store", &path_);
  std::lock_guard<std::mutex> lock(mutex_);
  if (write(to_.get(), bytes.data(), bytes.size()) != size) {
    return PosixError("store in the index", path_, errno);
  }
  const ssize_t n = read(from_.get(), memory_ + offset, bytes.size());
  if (n == size) {
    return Status::OK();
  }
  const int error = n < 0 ? errno : EIO;
  char rest[256];
  while (read(from_.get(), rest, sizeof(rest)) > 0) {
  }
  return PosixError("store in the index", path_, error);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
