// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Returns what all cache keys of an SST or blob file begin with, as FileOfKey() finds it. It comes
// from the database's identity, from the session that made the SST or reads the blob file, and from
// the file's number in it. 0 if RocksDB has no unique id of the file, as of an SST of a RocksDB
// before 6.24.
uint64_t CacheKeyFile(const std::string& db_id, const std::string& session_id, uint64_t number);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
