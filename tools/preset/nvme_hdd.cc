// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// nvme+hdd: docs/deploy-nvme-hdd.md. The database is on the fast disk, and what has no room there
// in a tier on the slow one.

#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

Status ComputeFast(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  Status s = GiveFast(request, plan);
  if (!s.ok()) {
    return s;
  }
  figures->Computed("spare", "fast / 10", "LOG, MANIFEST, stubs, the file system");
  figures->Computed("logs", "down(max(min(4G, fast / 10), 3 * memtable))",
                    "4G, but no more than a tenth of the device");
  figures->Computed("fast_left", "max(0, fast - spare - logs)", "for SSTs and copies");
  if (request.hot > 0) {
    s = ComputeHotStore(request, plan);
    if (!s.ok()) {
      return s;
    }
    figures->Computed("copies", "hot_store + access_table", "of hot records");
    s = CheckRoom(*plan, "copies", "fast_left", "give less --hot, or a larger --fast");
    if (!s.ok()) {
      return s;
    }
  }
  figures->Computed("home_most", request.hot > 0 ? "fast_left - copies" : "fast_left",
                    "for SSTs on the fast device");
  s = TakeBudget(request, "home_most", "of home: the upper levels, as far as there is room", plan);
  if (!s.ok()) {
    return s;
  }
  figures->Computed("home_least", "4 * memtable", "level 0 before it is compacted");
  return CheckRoom(*plan, "home_least", "budget",
                   "give a larger --fast, or less --hot or --memtable");
}

Status ComputeSlow(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  const Status s = GiveSlow(request, plan);
  if (!s.ok()) {
    return s;
  }
  if (request.families.empty()) {
    figures->Computed("slow_data", "max(0, data - budget)", "what has no room at home");
  } else {
    figures->Computed("slow_data", "data", "at most: the sizes of the families are not known");
  }
  figures->Computed("lost", "down(min(10G, slow / 10))",
                    "orphan_budget: what is put aside, 10G by default");
  figures->Computed("slow_need", "(slow_data + lost) * 10 / 9", "with a tenth to spare");
  if ((*figures)["slow_data"] == 0) {
    plan->Note("All of the data fits on the fast device: a slow tier gains nothing now.");
  }
  return CheckRoom(*plan, "slow_need", "slow", "give a larger --slow");
}

Status ComputeMemory(const Request& request, Plan* plan) {
  const Status s = GiveMemoryAndCache(request, plan);
  if (!s.ok() || request.hot == 0) {
    return s;
  }
  plan->figures.Computed("memory_need", "memtables + block_cache + hot_memory",
                         "filters and indexes of hot_promotion's files come on top");
  return CheckRoom(*plan, "memory_need", "memory", "give more --memory, or less --hot");
}

}  // namespace

Status MakeNvmeHdd(const Request& request, Plan* plan) {
  GiveLoad(request, plan);
  std::string rules;
  Status s = ReadFamilies(request, &rules, plan);
  s = s.ok() ? CheckApart(request) : s;
  s = s.ok() ? ComputeFast(request, plan) : s;
  s = s.ok() ? ComputeSlow(request, plan) : s;
  s = s.ok() ? ComputeMemory(request, plan) : s;
  if (!s.ok()) {
    return s;
  }
  const Arithmetic& figures = plan->figures;
  AddBasics(plan);
  plan->FileSystem("id=TieredFileSystem;tiers={home={budget=" + figures.Option("budget") +
                   "};slow={path=" + request.slow + ";temperature=cold}};" +
                   (rules.empty() ? "" : "placement={" + rules + "};") +
                   "orphan_budget=" + figures.Option("lost"));
  plan->file.Option(Section::kDatabase, "listeners", "{id=TieredEnvListener}",
                    "Tells the tiers the level of each SST before it is written: fewer moves.");
  AddLogs(plan);
  if (request.hot > 0) {
    AddHotStore(request.fast, "temperature:cold", plan);
    plan->Note(
        "An SST counts as slow where it was when RocksDB opened it: once the mover has finished, "
        "close the database and open it once.");
  }
  AddBlockCache(plan);
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
