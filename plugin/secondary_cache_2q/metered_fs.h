// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Makes a FileSystem over another one that adds the bytes read of files of random access to a
// counter, which must outlive it. It reads nothing ahead: RocksDB asks for the last 512 KiB of each
// SST that it opens, of which little is an index. To be used by one thread.
std::shared_ptr<FileSystem> NewMeteredFileSystem(const std::shared_ptr<FileSystem>& fs,
                                                 uint64_t* read_bytes);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
