// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <vector>

#include "plugin/hot_promotion/ralt/buffer.h"
#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/record.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// The accesses of some chunks, merged and in the order of their keys. Takes up to 100 bytes of
// memory for each access, while it is made.
struct Batch {
  struct Entry {
    Slice key;  // in the chunk
    Record record;
  };

  std::vector<Entry> entries;
  uint64_t accesses = 0;
};

using ChunkIterator = std::vector<Chunk>::const_iterator;

// Advances the clock by the accesses. The order of accesses in different chunks is not known; the
// clock goes as if it was that of the chunks.
Batch MakeBatch(ChunkIterator begin, ChunkIterator end, const Scoring& scoring, uint64_t tick_bytes,
                Clock* clock);

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
