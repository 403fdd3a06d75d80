// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The output level of the compaction that the calling thread is running. RocksDB tells it to
// listeners, after it has made the filter, and does not always tell it. Nothing but the time of
// merging depends on it.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Begins a compaction whose filter is being made: the level is not known.
void ForgetOutputLevel();

void SetOutputLevel(uint32_t family, int level);

// The level of a family's compaction. -1: not known.
int OutputLevel(uint32_t family);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
