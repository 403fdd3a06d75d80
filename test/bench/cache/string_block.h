// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/advanced_cache.h"

namespace rocktier_bench {

// How a cache handles blocks that are std::strings. As RocksDB's data blocks, they are copied on
// their way into a secondary cache and out of it. Thread-safe.
const ROCKSDB_NAMESPACE::Cache::CacheItemHelper* StringBlockHelper();

}  // namespace rocktier_bench
