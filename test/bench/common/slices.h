// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>

#include "rocksdb/status.h"
#include "test/bench/common/json_out.h"

namespace rocktier_bench {

// Runs a workload for so many seconds at most and adds what it has done to `figures`: sums, so that
// the figures of several slices can be added.
using Slice = std::function<ROCKSDB_NAMESPACE::Status(double seconds, JsonObject* figures)>;

// Serves the demo, which runs slices of two databases in turn (common/drivers.py): prints "ready",
// and for each line of standard input, which has the seconds of a slice, the figures of that slice
// as one line. Returns at the end of the input, or when a slice fails.
ROCKSDB_NAMESPACE::Status ServeSlices(const Slice& slice);

}  // namespace rocktier_bench
