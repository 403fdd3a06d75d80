// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>

namespace rocktier {

// Seconds by which the wall clock that RocksDB sees is ahead of the right one, as one that is to be
// set back. For programs that have wall_clock.cc among their sources.
extern std::atomic<int64_t> wall_clock_ahead;

}  // namespace rocktier
