// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "plugin/secondary_cache_2q/posix.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The index of the cache file as a shared mapping, for stores only. Stores outlive the process, and
// do not wait for reads of the file, as write() does. The process never touches a page of the
// mapping itself: the kernel copies into it, from a pipe. So a page that cannot be had (a bad
// sector, a full file system, a file that was cut short) is an error and not a SIGBUS. Thread-safe.
class IndexMap {
 public:
  IndexMap() = default;
  ~IndexMap();
  IndexMap(const IndexMap&) = delete;
  IndexMap& operator=(const IndexMap&) = delete;

  // Maps the first `size` bytes of the file.
  Status Open(int fd, const std::string& path, uint64_t size);
  // `offset` is from the start of the file; the bytes lie in one page.
  Status Store(uint64_t offset, const Slice& bytes);

 private:
  // Constant after Open().
  std::string path_;
  char* memory_ = nullptr;
  uint64_t size_ = 0;

  std::mutex mutex_;
  // A pipe, empty but within Store(). Guarded by mutex_.
  Descriptor from_;
  Descriptor to_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
