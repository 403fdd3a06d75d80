// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// pmem: docs/deploy-pmem.md. Logs and upper levels are in a tier of kind pmem, the database and its
// lower levels on a disk.

#include "tools/preset/machine.h"
#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

Status ComputePmem(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  Status s = GiveFast(request, plan);
  if (!s.ok()) {
    return s;
  }
  figures->Computed("spare", "fast / 10", "of the persistent memory");
  figures->Computed("logs", "down(max(min(4G, fast / 10), 3 * memtable))",
                    "4G, but no more than a tenth; a log grows in steps of 16M at most");
  figures->Computed("lost", "down(min(10G, fast / 10))",
                    "orphan_budget: what is put aside, 10G by default");
  figures->Computed("pmem_most", "max(0, fast - spare - logs - lost)", "for SSTs");
  s = TakeBudget(request, "pmem_most", "of the tier", plan);
  if (!s.ok()) {
    return s;
  }
  figures->Computed("pmem_least", "4 * memtable", "level 0 before it is compacted");
  return CheckRoom(*plan, "pmem_least", "budget", "give a larger --fast, or less --memtable");
}

Status ComputeDisk(const Request& request, Plan* plan) {
  const Status s = GiveSlow(request, plan);
  if (!s.ok()) {
    return s;
  }
  plan->figures.Computed("slow_need", "data * 10 / 9",
                         "with a tenth to spare; the upper levels are a small part");
  return CheckRoom(*plan, "slow_need", "slow", "give a larger --slow");
}

}  // namespace

Status MakePmem(const Request& request, Plan* plan) {
  GiveLoad(request, plan);
  Status s = CheckApart(request);
  s = s.ok() ? ComputePmem(request, plan) : s;
  s = s.ok() ? ComputeDisk(request, plan) : s;
  s = s.ok() ? GiveMemoryAndCache(request, plan) : s;
  if (!s.ok()) {
    return s;
  }
  const Arithmetic& figures = plan->figures;
  AddBasics(plan);
  plan->FileSystem("id=TieredFileSystem;tiers={pmem={kind=pmem;path=" + request.fast +
                   ";budget=" + figures.Option("budget") +
                   "}};placement={wal=pmem;0..base=pmem};orphan_budget=" + figures.Option("lost"));
  plan->file.Option(Section::kDatabase, "listeners", "{id=TieredEnvListener}",
                    "Tells the tiers the level of each SST before it is written: fewer moves.");
  AddLogs(plan);
  AddBlockCache(plan);
  plan->Note("Tiers of kind pmem were run over memory only, never on real persistent memory.");
  if (!HasDax(request.fast)) {
    plan->Note(request.fast +
               " is not mounted with DAX here: a sync then costs what it costs on a disk.");
  }
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
