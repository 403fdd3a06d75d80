// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Tells which errors of a file are worth a line in the LOG: the 1st, 10th, 100th and so on. The
// same values are read again with each compaction that comes across them, so that a file with many
// bad ones would fill a disk. The filters of a database share one. Thread-safe.
class ErrorLog {
 public:
  // Errors of the file until now, with this one, if it is to be told; else 0.
  uint64_t Add(uint64_t file);

 private:
  static constexpr size_t kMostFiles = 4096;  // those beyond count as one file together

  std::mutex mutex_;
  std::map<uint64_t, uint64_t> errors_;  // by file
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
