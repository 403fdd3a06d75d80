// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/engine/file_system_lease.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

bool BorrowedFileSystem::Lacks(const std::string& path, bool* lacks) const {
  if (HasEnded()) {  // so that End() need not wait for more than the call that is under way
    return false;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_system_ == nullptr) {
    return false;
  }
  *lacks = file_system_->FileExists(path, IOOptions(), nullptr).IsNotFound();
  return true;
}

void BorrowedFileSystem::End() {
  ended_.store(true, std::memory_order_release);
  std::lock_guard<std::mutex> lock(mutex_);
  file_system_.reset();
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
