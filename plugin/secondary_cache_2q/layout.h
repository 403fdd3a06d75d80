// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Reads the superblock of an existing file. NotFound, IOError, Corruption, NotSupported.
Status ReadSuperblock(const std::string& path, Superblock* result);

// Makes sure that options.path is a cache file for these options and shards: creates it, takes it as it
// is, or formats it anew when its capacity or number of shards differs. A file that is not ours is left
// alone and refused. The caller holds the lock on the file.
Status PrepareFile(const TwoQSecondaryCacheOptions& options, uint32_t shards, Superblock* result);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
