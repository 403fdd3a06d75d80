// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/shared.h"

#include <utility>

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

uint64_t Sum(const TieredStats& stats, uint64_t TieredTierStats::*counter) {
  uint64_t sum = 0;
  for (const TieredTierStats& tier : stats.tiers) {
    sum += tier.*counter;
  }
  return sum;
}

}  // namespace

void Publish(FileSystem* fs, TieredStats* last, Shared* shared) {
  TieredStats now;
  if (!GetTieredStats(fs, &now).ok()) {
    return;
  }
  shared->moves += Sum(now, &TieredTierStats::moves) - Sum(*last, &TieredTierStats::moves);
  shared->spills += Sum(now, &TieredTierStats::spills) - Sum(*last, &TieredTierStats::spills);
  shared->rebuilt += now.in_memory.rebuilt_files - last->in_memory.rebuilt_files;
  shared->trims += now.in_memory.trims - last->in_memory.trims;
  shared->references += now.in_memory.references - last->in_memory.references;
  *last = std::move(now);
}

}  // namespace rocktier
