// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// ram+ssd: docs/deploy-ram-ssd.md. The upper levels are in memory, the database is on an SSD; the
// logs may be on a log device, below the tiers.

#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

constexpr char kDefaultFast[] = "/dev/shm/rocktier";
// Where the logs need not be many: what was measured had values of 1 KB and of 100 bytes.
constexpr uint64_t kSmallValue = 512;

// The tier makes its directory: what is free is free above it.
Status GiveTmpfs(Request* request, Plan* plan) {
  if (request->fast.empty()) {
    request->fast = kDefaultFast;
  }
  Status s = GiveFast(*request, plan);
  if (!s.ok() && IsPlainPath(request->fast) && request->fast_size == 0) {
    Request above = *request;
    above.fast.resize(above.fast.find_last_of('/'));
    s = above.fast.empty() ? s : GiveFast(above, plan);
  }
  return s;
}

Status ComputeTier(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  figures->Computed("running", "(memory - memtables - block_cache) / (1 + 15 / value)",
                    "the tier, and 10 bytes for each entry of 1.5 times as many bytes of logs");
  figures->Computed("recovering", "memory / (2 + 15 / value)",
                    "the tier, and once all entries that it is rebuilt of");
  figures->Computed("tmpfs", "fast * 9 / 10", "the tmpfs is larger than the tier");
  figures->Computed("memory_most", "max(0, min(running, recovering, tmpfs))", "for the tier");
  figures->Computed("tier_least", "8 * memtable", "an eighth of a tier is left to flushes");
  figures->Computed("upper", "data / 9", "levels 0 to last-1: a tenth, a hundredth, ...");
  Status s =
      CheckRoom(*plan, "tier_least", "memory_most", "give more --memory, or less --memtable");
  if (!s.ok()) {
    return s;
  }
  if (request.budget != 0) {
    s = TakeBudget(request, "memory_most", "", plan);
  } else {
    figures->Computed("budget", "down(min(memory_most, max(2 * upper, tier_least)))",
                      "of the tier: a compaction's output beside its input, twice the levels");
  }
  s = s.ok() ? CheckRoom(*plan, "tier_least", "budget", "give more --budget, or less --memtable")
             : s;
  if (s.ok() && (*figures)["budget"] * 7 / 8 < (*figures)["upper"]) {
    plan->Note(
        "The upper levels are larger than the tier: what finds no room goes to the SSD, and gains "
        "nothing.");
  }
  return s;
}

Status ComputeSsd(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  const Status s = GiveSlow(request, plan);
  if (!s.ok()) {
    return s;
  }
  figures->Computed("logs", "down(max(min(1G, slow / 10), 3 * memtable))",
                    "1G, but no more than a tenth of the SSD");
  figures->Computed("retained", "budget * 1.5", "logs that memory needs: wal_amplification_high");
  figures->Computed("wal_budget", "2 * budget", "the most of them");
  figures->Computed("recipes", "budget / 100", "under 1% with values of 1 KB");
  figures->Computed("slow_need", "(data + logs + wal_budget + recipes) * 10 / 9",
                    "with a tenth to spare");
  figures->Computed("recovery", "retained / 220000000",
                    "as the slowest round that was measured, logs in the page cache",
                    Unit::kSeconds);
  if (request.writes > 0) {
    figures->Computed("stays", "budget / (writes * value)", "how long data stays in memory, about",
                      Unit::kSeconds);
    figures->Computed("preserve", "max(3600, 2 * stays)",
                      "preserve_internal_time_seconds: longer than that", Unit::kSeconds);
  } else {
    figures->Given("preserve", 3600,
                   "preserve_internal_time_seconds: longer than data stays in memory; --writes "
                   "tells",
                   Unit::kSeconds);
  }
  return CheckRoom(*plan, "slow_need", "slow", "give a larger --slow, or less --budget");
}

Status ComputeDevice(const Request& request, Plan* plan) {
  const Status s = GiveDevice(request, plan);
  if (!s.ok()) {
    return s;
  }
  plan->figures.Computed("device_need", "device_head + logs + retained",
                         "logs, and those that memory needs");
  if (plan->figures["device_need"] > plan->figures["device"]) {
    plan->Note(
        "The log device is smaller than device_need: logs that find no room are plain files, and "
        "a sync of them costs what it costs without a device.");
  }
  return s;
}

std::string UriOf(const Request& request, const Plan& plan) {
  std::string uri =
      "id=TieredFileSystem;tiers={memory={kind=memory;path=" + request.fast +
      ";budget=" + plan.figures.Option("budget") +
      "}};placement={0..last-1=memory};wal_budget=" + plan.figures.Option("wal_budget");
  if (!request.device.empty()) {
    uri += ";target={" + WalUri(request) + "}";
  }
  return uri;
}

}  // namespace

Status MakeRamSsd(const Request& given, Plan* plan) {
  Request request = given;
  GiveLoad(request, plan);
  Status s = GiveMemoryAndCache(request, plan);
  s = s.ok() ? GiveTmpfs(&request, plan) : s;
  s = s.ok() ? ComputeTier(request, plan) : s;
  s = s.ok() ? ComputeSsd(request, plan) : s;
  s = s.ok() && !request.device.empty() ? ComputeDevice(request, plan) : s;
  if (!s.ok()) {
    return s;
  }
  const Arithmetic& figures = plan->figures;
  AddBasics(plan);
  plan->FileSystem(UriOf(request, *plan));
  plan->file.Option(Section::kDatabase, "listeners", "{id=TieredEnvListener}",
                    "Keeps the last level out of memory, and drops logs that compactions have "
                    "made needless.");
  AddLogs(plan);
  plan->file.Option(Section::kFamily, "compression", "kNoCompression",
                    "Only uncompressed blocks are found in logs. To compress the last level set "
                    "compression_per_level instead.");
  plan->file.Option(Section::kFamily, "preserve_internal_time_seconds",
                    std::to_string(static_cast<uint64_t>(figures["preserve"])),
                    "Entries keep their sequence numbers, by which they are found in logs.");
  AddBlockCache(plan);
  plan->Note("Tiers in memory are new: not for data that matters yet.");
  if (request.value < kSmallValue) {
    plan->Note(
        "With values of 100 bytes the puts were 0.93 of stock RocksDB's, and the bytes written "
        "0.31; recipes are larger than 1%.");
  }
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
