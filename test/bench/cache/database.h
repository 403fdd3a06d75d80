// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The database that all systems of a benchmark read: uncompressed 4 KB blocks, bloom filters, fully
// compacted, index and filters outside the block cache so that the cache holds data blocks only.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"

namespace rocktier_bench {

// `block_cache` null: RocksDB's default one. `env` must outlive the DB.
ROCKSDB_NAMESPACE::Options DatabaseOptions(
    ROCKSDB_NAMESPACE::Env* env, const std::shared_ptr<ROCKSDB_NAMESPACE::Cache>& block_cache);

// Writes the keys 0..num_keys-1 at version 0 and compacts everything.
ROCKSDB_NAMESPACE::Status FillDatabase(const std::string& path, uint64_t num_keys,
                                       size_t value_size);

}  // namespace rocktier_bench
