// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/block_cache_trace_writer.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace rocktier_bench {

// BlockAccess: a look-up of a data block. A trace is a file of these, in the order of the look-ups,
// as the machine has them in memory.
struct BlockAccess {
  uint64_t block = 0;  // the same number: the same block
  uint64_t size = 0;   // bytes, without compression
};

// Numbers blocks by the keys that they have in a block cache. Two of some million blocks have one
// number with a probability of one in a million.
uint64_t BlockNumber(const ROCKSDB_NAMESPACE::Slice& key);

// BlockTraceWriter: writes each look-up of a data block by a client to a file. Compactions' are
// left out: they do not fill the cache. Thread-safe.
class BlockTraceWriter : public ROCKSDB_NAMESPACE::BlockCacheTraceWriter {
 public:
  // `written` gets the number of accesses so far.
  static ROCKSDB_NAMESPACE::Status Create(const std::string& path, std::atomic<uint64_t>* written,
                                          std::unique_ptr<BlockCacheTraceWriter>* result);
  ~BlockTraceWriter() override;

  ROCKSDB_NAMESPACE::Status WriteHeader() override { return ROCKSDB_NAMESPACE::Status::OK(); }
  ROCKSDB_NAMESPACE::Status WriteBlockAccess(
      const ROCKSDB_NAMESPACE::BlockCacheTraceRecord& record,
      const ROCKSDB_NAMESPACE::Slice& block_key, const ROCKSDB_NAMESPACE::Slice& cf_name,
      const ROCKSDB_NAMESPACE::Slice& referenced_key) override;

 private:
  BlockTraceWriter(std::FILE* file, std::atomic<uint64_t>* written)
      : file_(file), written_(written) {}

  std::mutex mutex_;
  std::FILE* const file_;
  std::atomic<uint64_t>* const written_;
};

// Reads a whole trace. IOError, or Corruption if the file ends within an access.
ROCKSDB_NAMESPACE::Status ReadBlockTrace(const std::string& path,
                                         std::vector<BlockAccess>* accesses);

}  // namespace rocktier_bench
