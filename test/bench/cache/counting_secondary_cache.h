// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "rocksdb/secondary_cache.h"

namespace rocktier_bench {

// Counts the bytes that RocksDB's CompressedSecondaryCache really copies. It copies a block on its
// second eviction only and does not say so in its Status; its perf counter of real insertions does.
// Thread-safe. Needs PerfLevel::kEnableCount, the default, in the threads that insert.
class CountingSecondaryCache : public ROCKSDB_NAMESPACE::SecondaryCacheWrapper {
 public:
  using SecondaryCacheWrapper::SecondaryCacheWrapper;

  const char* Name() const override { return "CountingSecondaryCache"; }

  ROCKSDB_NAMESPACE::Status Insert(const ROCKSDB_NAMESPACE::Slice& key,
                                   ROCKSDB_NAMESPACE::Cache::ObjectPtr obj,
                                   const ROCKSDB_NAMESPACE::Cache::CacheItemHelper* helper,
                                   bool force_insert) override;

  uint64_t copied_bytes() const { return copied_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> copied_bytes_{0};
};

}  // namespace rocktier_bench
