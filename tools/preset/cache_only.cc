// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// cache-only: a secondary cache behind the block cache, in a file on a fast disk, or in memory.

#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

// In the share that the benchmark has: 2% and 9% of the data.
Status ComputeInMemory(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  figures->Computed("caches", "memory / 3", "RocksDB's tuning guide: a third of the memory");
  figures->Computed("cache_most", "min(data, caches * 9 / 11)",
                    "the block cache keeps 2 of 11 parts, as in the benchmark");
  const Status s = TakeBudget(request, "cache_most", "capacity, in memory", plan);
  if (!s.ok()) {
    return s;
  }
  figures->Given("cache_least", 64 << 10, "the least that a cache in memory takes");
  figures->Computed("block_cache", "down(caches * 2 / 11)", "the hottest blocks");
  if (request.hot > 0 &&
      figures->Computed("hot_set", "data * hot / 100", "hot blocks, if hot records lie together") >
          (*figures)["budget"]) {
    plan->Note("The hot set is larger than the cache: a cache in a file, with --fast, is larger.");
  }
  return CheckRoom(*plan, "cache_least", "budget", "give more --memory");
}

Status ComputeInFile(const Request& request, Plan* plan) {
  Status s = GiveFast(request, plan);
  if (!s.ok()) {
    return s;
  }
  plan->figures.Computed("spare", "fast / 10", "of the fast device");
  s = ComputeBlockCacheFile(request, plan);
  plan->Note(
      "The file pays only on a disk that is clearly faster than the database's: 1.34 times the "
      "operations if a read of the database costs 300 us more, 0.72 times if it costs 80 us more.");
  return s;
}

}  // namespace

Status MakeCacheOnly(const Request& request, Plan* plan) {
  const bool in_file = !request.fast.empty();
  GiveLoad(request, plan);
  Status s = in_file ? GiveMemoryAndCache(request, plan) : GiveMemory(request, plan);
  s = !s.ok() ? s : in_file ? ComputeInFile(request, plan) : ComputeInMemory(request, plan);
  if (!s.ok()) {
    return s;
  }
  const std::string uri = "capacity=" + plan->figures.Option("budget") +
                          (in_file ? ";storage=file;path=" + request.fast + "/cache" : "");
  AddBasics(plan);
  AddSecondaryCache(uri, plan);
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
