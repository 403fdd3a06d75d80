// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "rocksdb/block_cache_trace_writer.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace rocktier_bench {

// ErasedBlocks: tells how many misses of point reads a cache would not have if its blocks survived
// compactions. Such a miss is of a key that was in a block that was used within one turnover, whose
// SST was compacted since. A turnover is over when misses have read as many bytes as the cache has.
// Thread-safe.
class ErasedBlocks {
 public:
  struct Counts {
    uint64_t lookups = 0;
    uint64_t misses = 0;
    uint64_t erased = 0;          // of these: the key was certainly in such a block
    uint64_t perhaps_erased = 0;  // further ones: a key nearby was
    uint64_t compacted_files = 0;
  };

  // `turnover`: bytes.
  explicit ErasedBlocks(uint64_t turnover) : turnover_(turnover) {}

  // Begins to count anew; what is known of blocks stays.
  void Restart();
  Counts counts() const;

  // A point read found this key in a block of an SST, or that had no such key (`found` false).
  struct Read {
    uint64_t key = 0;
    uint64_t block = 0;
    uint64_t file = 0;  // number
    uint64_t bytes = 0;
    bool hit = false;
    bool found = false;
  };
  void OnRead(const Read& read);

  // The SSTs of these numbers are no more.
  void OnCompacted(const std::set<uint64_t>& files);

 private:
  struct Use {
    uint64_t block = 0;
    uint64_t file = 0;
    uint64_t at = 0;  // bytes that misses had read
  };

  bool WasErased(const Use& use) const;
  void Judge(uint64_t key);

  const uint64_t turnover_;
  mutable std::mutex mutex_;
  Counts counts_;
  uint64_t now_ = 0;              // bytes that misses have read
  std::map<uint64_t, Use> uses_;  // of each key, the last one
  std::set<uint64_t> compacted_;
};

// What a database tells ErasedBlocks: its compactions, and its block accesses.
std::shared_ptr<ROCKSDB_NAMESPACE::EventListener> NewErasedBlocksListener(ErasedBlocks* erased);
std::unique_ptr<ROCKSDB_NAMESPACE::BlockCacheTraceWriter> NewErasedBlocksTracer(
    ErasedBlocks* erased);

}  // namespace rocktier_bench
