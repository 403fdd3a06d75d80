// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Persistent memory through libpmem; without the library each call says so.

#pragma once

#include <cstddef>
#include <string>

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Whether the file can be mapped so that stores reach persistent memory (a DAX mount).
bool IsDax(int fd);

// Maps the whole file. NotSupported without libpmem, IOError if it refuses.
Status MapPmem(const std::string& path, char** memory, size_t* size);
void UnmapPmem(char* memory, size_t size);

// Copies by non-temporal stores and waits until they have left the processor's caches.
void CopyToPmem(char* to, const char* from, size_t size);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
