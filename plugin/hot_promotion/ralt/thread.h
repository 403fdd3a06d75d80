// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstddef>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Threads are numbered in the order in which they ask. For the choice of a shard.
inline size_t ThreadNumber() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
