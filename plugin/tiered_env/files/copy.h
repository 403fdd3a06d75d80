// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "plugin/tiered_env/files/folders.h"
#include "rocksdb/file_system.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Appends the first `size` bytes of a file to another one. Corruption if there are fewer.
// `limiter` may be null. `stop`, if given: Aborted once it is true.
IOStatus Copy(FileSystem* fs, const std::string& from, uint64_t size, FSWritableFile* to,
              RateLimiter* limiter = nullptr, const std::atomic<bool>* stop = nullptr);
inline IOStatus Copy(const Place& from, uint64_t size, FSWritableFile* to,
                     RateLimiter* limiter = nullptr, const std::atomic<bool>* stop = nullptr) {
  return Copy(from.fs(), from.path, size, to, limiter, stop);
}

// Copies to a new file, durably but for its name, with the time at which it was written.
IOStatus CopyToNew(const Place& from, uint64_t size, const Place& to, RateLimiter* limiter,
                   const std::atomic<bool>* stop);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
