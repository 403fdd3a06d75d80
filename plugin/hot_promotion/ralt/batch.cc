// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/batch.h"

#include <algorithm>

#include "plugin/hot_promotion/ralt/key.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

struct Access {
  Slice key;
  uint64_t size;
  uint64_t tick;
  uint64_t order;
  Space space;
};

void Parse(const Chunk& chunk, uint64_t tick_bytes, Clock* clock, std::vector<Access>* accesses) {
  Slice rest(chunk.bytes.get(), chunk.used);
  uint32_t key_size;
  uint64_t size;
  while (GetVarint32(&rest, &key_size) && GetVarint64(&rest, &size)) {
    const Slice key(rest.data(), key_size);
    rest.remove_prefix(key_size);
    accesses->push_back({key, size, clock->tick, accesses->size(), SpaceOf(key)});
    clock->Advance(size, tick_bytes);
  }
}

// Accesses to one key stay in their order.
void Sort(std::vector<Access>* accesses) {
  std::sort(accesses->begin(), accesses->end(), [](const Access& a, const Access& b) {
    if (a.space != b.space) {
      return a.space < b.space;
    }
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.order < b.order;
  });
}

}  // namespace

Batch MakeBatch(ChunkIterator begin, ChunkIterator end, const Scoring& scoring, uint64_t tick_bytes,
                Clock* clock) {
  size_t count = 0;
  for (auto chunk = begin; chunk != end; ++chunk) {
    count += chunk->accesses;
  }
  std::vector<Access> accesses;
  accesses.reserve(count);
  for (auto chunk = begin; chunk != end; ++chunk) {
    Parse(*chunk, tick_bytes, clock, &accesses);
  }
  Sort(&accesses);
  Batch batch;
  batch.accesses = accesses.size();
  batch.entries.reserve(accesses.size());
  for (const Access& access : accesses) {
    const Record record = scoring.Access(access.tick, access.size);
    if (!batch.entries.empty() && batch.entries.back().key == access.key) {
      batch.entries.back().record = scoring.Merge(batch.entries.back().record, record);
    } else {
      batch.entries.push_back({access.key, record});
    }
  }
  return batch;
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
