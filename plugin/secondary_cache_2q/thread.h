// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Starts a thread that calls work(). False if none can be had, as where a limit is reached: then
// *thread is not changed. std::thread throws, and nobody in RocksDB catches that.
template <typename Work>
bool StartThread(std::thread* thread, Work work) {
  try {
    *thread = std::thread(std::move(work));
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
