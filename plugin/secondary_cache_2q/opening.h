// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/posix.h"
#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// A cache file that was made or found, and that nobody else opens under this path.
struct OpenFile {
  std::string path;  // absolute, without symbolic links
  Descriptor lock;   // the locked lock file
  Descriptor file;   // for reading and writing, without O_DIRECT
  Superblock superblock;
};

// Opens the cache file at options.path for these options and shards, or makes it; see the table in
// opening.cc. Busy if another cache has it, by the lock file.
Status OpenCacheFile(const TwoQSecondaryCacheOptions& options, uint32_t shards, OpenFile* result);

// Opens an existing cache file for reading and reads its superblock. Errors: NotFound, IOError,
// InvalidArgument (no regular file), Corruption (not ours, or damaged), NotSupported (another
// version).
Status OpenForReading(const std::string& path, Descriptor* file, Superblock* superblock);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
