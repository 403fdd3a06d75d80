// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The TwoQSecondaryCache that RocksDB's own tests run over.

#pragma once

#include <cstddef>
#include <memory>

#include "rocksdb/secondary_cache.h"

namespace ROCKSDB_NAMESPACE {

// Makes a cache from the string in the environment variable ROCKTIER_SECONDARY_CACHE and
// `capacity`, or the smallest capacity of the plugin if that is less. With storage=file each cache
// has a file of its own below TEST_TMPDIR. Ends the process if the cache cannot be made.
std::shared_ptr<SecondaryCache> NewTwoQFromEnvironment(size_t capacity);

}  // namespace ROCKSDB_NAMESPACE
