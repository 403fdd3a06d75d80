// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The time of day in seconds since 1970, as files have it. Tests change it by the sync point
// "SecondsSince1970". Thread-safe.
uint64_t SecondsSince1970();

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
