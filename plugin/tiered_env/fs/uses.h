// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <mutex>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Uses: counts what works with the things that TieredFileSystem has made of its options, and is
// not, or no longer, an open database. They are made anew with mutex() held, so that nobody begins
// to use them meanwhile. Thread-safe.
class Uses {
 public:
  std::mutex* mutex() { return &mutex_; }
  // Requires mutex().
  bool any() const { return count_ > 0; }

 private:
  friend class Use;

  void Count(int difference) {
    std::lock_guard<std::mutex> lock(mutex_);
    count_ += difference;
  }

  std::mutex mutex_;
  int count_ = 0;  // guarded by mutex_
};

// A use, as long as it lives.
class Use {
 public:
  explicit Use(Uses* uses) : uses_(uses) { uses_->Count(1); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { uses_->Count(-1); }

 private:
  Uses* const uses_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
