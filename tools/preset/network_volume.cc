// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// nvme+network-volume: the database is on the volume, and the NVMe disk, which may vanish with the
// machine, has copies only: of hot records, or of blocks.

#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

Status ComputeVolume(const Request& request, Plan* plan) {
  const Status s = GiveSlow(request, plan);
  if (!s.ok()) {
    return s;
  }
  plan->figures.Computed("logs", "down(max(min(4G, slow / 10), 3 * memtable))",
                         "4G, but no more than a tenth of the volume");
  plan->figures.Computed("slow_need", "(data + logs) * 10 / 9", "with a tenth to spare");
  return CheckRoom(*plan, "slow_need", "slow", "give a larger --slow");
}

// Copies of hot records.
Status ComputeRecords(const Request& request, Plan* plan) {
  Status s = ComputeHotStore(request, plan);
  if (!s.ok()) {
    return s;
  }
  plan->figures.Computed("copies", "hot_store + access_table", "of hot records");
  plan->figures.Computed("fast_left", "fast - spare", "for copies");
  plan->figures.Computed("memory_need", "memtables + block_cache + hot_memory",
                         "filters and indexes of hot_promotion's files come on top");
  s = CheckRoom(*plan, "copies", "fast_left", "give less --hot, or a larger --fast");
  return s.ok() ? CheckRoom(*plan, "memory_need", "memory", "give more --memory, or less --hot")
                : s;
}

}  // namespace

Status MakeNetworkVolume(const Request& request, Plan* plan) {
  GiveLoad(request, plan);
  Status s = CheckApart(request);
  s = s.ok() ? ComputeVolume(request, plan) : s;
  s = s.ok() ? GiveFast(request, plan) : s;
  s = s.ok() ? GiveMemoryAndCache(request, plan) : s;
  if (!s.ok()) {
    return s;
  }
  plan->figures.Computed("spare", "fast / 10", "of the fast device");
  s = request.hot > 0 ? ComputeRecords(request, plan) : ComputeBlockCacheFile(request, plan);
  if (!s.ok()) {
    return s;
  }
  AddBasics(plan);
  AddLogs(plan);
  plan->Note("Network volumes were not tested. Make the database in a folder below " +
             request.slow + ".");
  if (request.hot > 0) {
    AddHotStore(request.fast, request.slow, plan);
    AddBlockCache(plan);
  } else {
    AddSecondaryCache("capacity=" + plan->figures.Option("budget") +
                          ";storage=file;path=" + request.fast + "/cache",
                      plan);
  }
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
