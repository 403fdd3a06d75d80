// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <vector>

#include "options/cf_options.h"
#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Tells which of cf_paths SSTs of a level belong to, as RocksDB's own picker has it
// (LevelCompactionBuilder::GetPathId): the first one that has room for all levels down to this one,
// each as large as it may become; the last one if none has. CompactFiles() does not choose by
// itself.
uint32_t PathOf(const std::vector<DbPath>& paths, const MutableCFOptions& options, bool dynamic,
                int level);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
