// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/error_log.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

uint64_t ErrorLog::Add(uint64_t file) {
  std::lock_guard<std::mutex> lock(mutex_);
  // No blob file has number 0.
  const bool full = errors_.size() >= kMostFiles && errors_.count(file) == 0;
  const uint64_t count = ++errors_[full ? 0 : file];
  uint64_t power = 1;
  while (power < count) {
    power *= 10;
  }
  return power == count ? count : 0;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
