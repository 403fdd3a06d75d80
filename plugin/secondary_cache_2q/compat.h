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

// Whether the files of a compaction that begins are only moved, of what is then known of it. False
// if RocksDB does not say so.
template <typename Stats>
auto OnlyMoves(const Stats& stats, int /*newer*/)
    -> decltype(stats.num_input_files_trivially_moved > 0) {
  return stats.num_input_files_trivially_moved > 0;
}
template <typename Stats>
bool OnlyMoves(const Stats& stats, long /*older*/) {       // NOLINT(google-runtime-int)
  return ROCKSDB_MAJOR < 10 && stats.num_input_files > 0;  // known beforehand if none is read
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
