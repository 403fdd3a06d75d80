// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Returns the time in microseconds, by a clock that nobody sets: for periods and deadlines.
inline uint64_t SteadyMicros() { return Env::Default()->NowNanos() / 1000; }

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
