// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a child that will be killed tells its parent.

#pragma once

#include <atomic>
#include <cstdint>

namespace rocktier {

// In a file that parent and child map.
struct Shared {
  std::atomic<uint64_t> issued{0};        // writes [0, issued) may have happened
  std::atomic<uint64_t> acknowledged{0};  // writes [0, acknowledged) were acknowledged
  std::atomic<uint64_t> failed{0};
  // Of tiers in memory, of all children.
  std::atomic<uint64_t> rebuilt{0};  // SSTs
  std::atomic<uint64_t> trims{0};
  std::atomic<uint64_t> references{0};
};

}  // namespace rocktier
