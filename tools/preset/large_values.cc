// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// large-values: docs/deploy-large-values.md. Values are in blob files, within a bound of space; on
// a slow disk a fast one serves what is hot.

#include <algorithm>

#include "tools/preset/plan.h"
#include "tools/preset/presets.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

namespace {

constexpr uint64_t kMinBlobSize = 512;
constexpr uint64_t kLargestCached = 16ull << 20;  // write_buffer_size of the cache

Status ComputeDisk(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  const Status s = GiveSlow(request, plan);
  if (!s.ok()) {
    return s;
  }
  figures->Computed("spare", "slow / 10", "of the disk");
  figures->Computed("slow_left", "slow - spare", "for the database");
  figures->Computed("logs", "3 * memtable",
                    "the logs of one family: of a memtable and of two that are flushed");
  figures->Computed("slow_need", "max(data, 64M) * 1.5 + 2 * memtables + logs",
                    "max_space_amplification is 1.5, space_floor 64M");
  return CheckRoom(*plan, "slow_need", "slow_left", "give a larger --slow");
}

// Sizes of what serves hot values: RocksDB's blob cache with a file behind it, and copies.
Status ComputeHot(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  Status s = request.hot > 0
                 ? GiveFast(request, plan)
                 : Refuse("--hot=PERCENT is missing: what of the data --fast is to serve");
  if (!s.ok()) {
    return s;
  }
  figures->Computed("fast_spare", "fast / 10", "of the fast device");
  figures->Computed("fast_left", "fast - fast_spare", "for what is hot");
  figures->Computed("hot_set", "data * hot / 100", "keys and values of hot records");
  figures->Computed("blob_cache", "up(max(4M, hot_set * max(1, 4K / value)))",
                    "capacity of the cache's file, in units of 4K at most");
  figures->Computed("hot_budget", "max(1M, blob_cache / 2)",
                    "copies of hot records whose values are small, as in deploy-large-values.md");
  figures->Computed("copies", "blob_cache * 1.04 + hot_budget * (1.05 + 0.15 * 1.56)",
                    "with the cache's index and the access table");
  figures->Computed("hot_memory",
                    "64M + 0.017 * hot_budget + 64M + 16M + blob_cache * "
                    "(23 / max(value, 4K) + 1 / 4096)",
                    "promotion_cache and its filters, the blob cache, its buffer and index");
  if (request.value > std::min<uint64_t>(kLargestCached, (*figures)["blob_cache"] / 8)) {
    plan->Note("Values are larger than 16M, or than an eighth of blob_cache: it holds none.");
  }
  return CheckRoom(*plan, "copies", "fast_left", "give less --hot, or a larger --fast");
}

Status CheckMemory(Plan* plan) {
  const std::string hot = plan->figures.Has("hot_memory") ? " + hot_memory" : "";
  plan->figures.Computed("memory_need", "memtables + block_cache + 8M" + hot,
                         "blob_hybrid has 8M for each family, and up to 60K for each open SST");
  return CheckRoom(*plan, "memory_need", "memory", "give more --memory, or less --hot");
}

void AddBlobs(Plan* plan) {
  OptionsFile* const file = &plan->file;
  file->Option(Section::kDatabase, "listeners", "{id=BlobHybridListener}",
               "Needed, as are the two below: without one of them the database is not opened.");
  file->Option(Section::kFamily, "enable_blob_files", "true", "Needed.");
  file->Option(Section::kFamily, "min_blob_size", std::to_string(kMinBlobSize),
               "Smaller values stay in SSTs. rocktier blob advise tells what suits your data.");
  file->Option(Section::kFamily, "compaction_filter_factory",
               "{id=BlobHybrid;max_space_amplification=1.5}",
               "Needed. Bytes of files for each live byte; the nearer to 1, the more is written.");
  file->Option(Section::kFamily, "compression", "kNoCompression",
               "These help stock BlobDB as much. Blocks that are not compressed can be aligned.");
  file->Option(Section::kFamily, "level0_file_num_compaction_trigger", "16",
               "The SST of a flush has few of its memtable's bytes.");
  file->Option(Section::kFamily, "level0_slowdown_writes_trigger", "32", "Twice that.");
  file->Option(Section::kFamily, "level0_stop_writes_trigger", "48", "Three times that.");
  file->Option(Section::kFamily, "max_bytes_for_level_base", plan->figures.Option("level_base"),
               "Four memtables.");
  file->Option(Section::kFamily, "compaction_pri", "kRoundRobin", "As it was measured.");
  file->Option(Section::kTable, "block_align", "true", "A block is read with one page.");
}

}  // namespace

Status MakeLargeValues(const Request& request, Plan* plan) {
  const bool has_fast = !request.fast.empty() || request.hot > 0;
  if (request.value < kMinBlobSize) {
    return Refuse("--value: values below 512 bytes stay in SSTs, and gain nothing");
  }
  if (has_fast && request.fast.empty()) {
    return Refuse("--fast=DIR is missing: the device that serves what is hot");
  }
  GiveLoad(request, plan);
  plan->figures.Computed("level_base", "4 * memtable", "level 1 of four memtables");
  Status s = has_fast ? CheckApart(request) : Status::OK();
  s = s.ok() ? GiveMemoryAndCache(request, plan) : s;
  s = s.ok() ? ComputeDisk(request, plan) : s;
  s = s.ok() && has_fast ? ComputeHot(request, plan) : s;
  s = s.ok() ? CheckMemory(plan) : s;
  if (!s.ok()) {
    return s;
  }
  AddBasics(plan);
  AddBlobs(plan);
  if (has_fast) {
    AddHotStore(request.fast, request.slow, plan);
    plan->file.Option(Section::kTable, "table", "{id=BlobHybridTable}",
                      "What reads and writes the SSTs: sketches and counts, so that less is "
                      "collected in vain.");
    plan->file.Option(Section::kFamily, "blob_cache",
                      "{id={lru+2q://capacity=64M;secondary_cache={capacity=" +
                          plan->figures.Option("blob_cache") +
                          ";storage=file;path=" + request.fast + "/blobs}}}",
                      "Hot values of blob files. RocksDB does not keep this line in the "
                      "database's folder: give it at every open.");
    plan->Note("Make the database in a folder below " + request.slow + ".");
  } else {
    plan->file.TableFactory("BlobHybridTable",
                            "Sketches and counts in SSTs, so that less is collected in vain.");
  }
  AddBlockCache(plan);
  return s;
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
