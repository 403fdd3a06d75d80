// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a child that will be killed tells its parent.

#pragma once

#include <atomic>
#include <cstdint>

#include "plugin/tiered_env/tiered_env.h"

namespace rocktier {

// In a file that parent and child map.
struct Shared {
  std::atomic<uint64_t> issued{0};        // writes [0, issued) may have happened
  std::atomic<uint64_t> acknowledged{0};  // writes [0, acknowledged) were acknowledged
  std::atomic<uint64_t> failed{0};
  // Of the parent and all children.
  std::atomic<uint64_t> moves{0};
  std::atomic<uint64_t> spills{0};
  // The same of tiers in memory.
  std::atomic<uint64_t> rebuilt{0};  // SSTs
  std::atomic<uint64_t> trims{0};
  std::atomic<uint64_t> references{0};
};

// Adds what `fs` has done since it had *last.
void Publish(ROCKSDB_NAMESPACE::FileSystem* fs, ROCKSDB_NAMESPACE::tiered_env::TieredStats* last,
             Shared* shared);

}  // namespace rocktier
