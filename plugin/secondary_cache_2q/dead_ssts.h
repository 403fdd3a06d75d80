// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The SSTs that were erased lately: the primary cache still has blocks of them to offer. One is
// forgotten when some 4000 others were erased after it. One table for all shards; it takes no
// memory until an SST is erased. Thread-safe: adding takes a lock, looking takes none.
class DeadSsts {
 public:
  DeadSsts() = default;
  ~DeadSsts() { delete table_.load(); }
  DeadSsts(const DeadSsts&) = delete;
  DeadSsts& operator=(const DeadSsts&) = delete;

  // `file`: see FileKeys; not 0.
  void Add(uint64_t file) {
    if (file == 0 || Has(file)) {
      return;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    Table* table = table_.load(std::memory_order_relaxed);
    if (table == nullptr) {
      table = new Table();
      table_.store(table, std::memory_order_release);
    }
    Line& line = (*table)[LineOf(file)];
    line.files[line.added++ % kPlaces].store(file, std::memory_order_release);
  }

  bool Has(uint64_t file) const {
    const Table* table = table_.load(std::memory_order_acquire);
    if (table == nullptr || file == 0) {
      return false;
    }
    for (const std::atomic<uint64_t>& dead : (*table)[LineOf(file)].files) {
      if (dead.load(std::memory_order_acquire) == file) {
        return true;
      }
    }
    return false;
  }

  size_t MemoryUsage() const {
    return sizeof(*this) + (table_.load(std::memory_order_relaxed) != nullptr ? sizeof(Table) : 0);
  }

 private:
  static constexpr size_t kPlaces = 8;
  static constexpr size_t kLines = 512;
  struct Line {
    std::array<std::atomic<uint64_t>, kPlaces> files = {};
    uint32_t added = 0;  // guarded by mutex_
  };
  using Table = std::array<Line, kLines>;

  static size_t LineOf(uint64_t file) { return file * 0x9E3779B97F4A7C15u >> 55; }

  std::mutex mutex_;
  std::atomic<Table*> table_{nullptr};
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
