// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/blob_hybrid/blob_hybrid.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// What families that share a factory count. Thread-safe.
struct Counters {
#define X(name, unit, description) std::atomic<uint64_t> name{0};
  BLOB_HYBRID_COUNTERS(X)
#undef X
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
