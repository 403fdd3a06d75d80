// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Begins a thread that calls function(). False if none can be had, as where a container has a limit
// of threads: then *thread is as it was.
template <typename Function>
bool StartThread(Function function, std::thread* thread) {
  try {
    *thread = std::thread(std::move(function));
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
