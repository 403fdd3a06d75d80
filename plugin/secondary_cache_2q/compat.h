// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Flags in the last word of a block, besides that of the hash index.
#if ROCKSDB_MAJOR >= 11
constexpr uint32_t kUniformKeys = 1u << 29;
constexpr uint32_t kSeparateValues = 1u << 28;
#else
constexpr uint32_t kUniformKeys = 0;
constexpr uint32_t kSeparateValues = 0;
#endif

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
