// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/status.h"

namespace rocktier_bench {

// TracedWrite: a put of a client. A trace is a file of these, in the order of the puts, as the
// machine has them in memory.
struct TracedWrite {
  uint64_t record = 0;
  uint32_t value_bytes = 0;
  uint32_t phase = 0;  // WriteTrace::Phase
};
static_assert(sizeof(TracedWrite) == 16, "lifetimes.py reads it");

// WriteTrace: writes each put to a file. Thread-safe, but for Close().
class WriteTrace {
 public:
  enum Phase : uint32_t { kLoad = 0, kRun = 1 };

  // Appends to what is there: a load and a run after it have one trace.
  static ROCKSDB_NAMESPACE::Status Open(const std::string& path, Phase phase,
                                        std::unique_ptr<WriteTrace>* result);
  ~WriteTrace();

  ROCKSDB_NAMESPACE::Status Add(uint64_t record, size_t value_bytes);
  ROCKSDB_NAMESPACE::Status Close();

 private:
  WriteTrace(std::FILE* file, Phase phase) : file_(file), phase_(phase) {}

  std::mutex mutex_;
  std::FILE* file_;  // null: closed
  const Phase phase_;
};

}  // namespace rocktier_bench
