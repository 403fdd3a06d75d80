// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "plugin/tiered_env/wal/large_memory.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Where SSTs are rebuilt: one buffer for each thread, used again for the next SST, so that its
// pages are there already. Thread-safe.
class Buffers {
 public:
  struct Buffer {
    LargeMemory memory;
    size_t size = 0;  // bytes, at least
  };

  Buffer Take(size_t size) {
    Buffer buffer;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        buffer = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (buffer.size < size) {
      buffer.memory.reset();
      buffer = {AllocateLarge(size), size};
    }
    return buffer;
  }
  void Give(Buffer buffer) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(buffer));
  }
  // Frees those that nobody has.
  void Clear() {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<Buffer> free_;  // guarded by mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
