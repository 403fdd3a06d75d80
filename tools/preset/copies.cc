// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Copies of what is hot: hot_promotion's store, and secondary_cache_2q's file.

#include <algorithm>

#include "tools/preset/plan.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

Status ComputeHotStore(const Request& request, Plan* plan) {
  if (request.value == 0) {
    return Refuse("--value=BYTES is missing: --hot is of records");
  }
  Arithmetic* const figures = &plan->figures;
  figures->Computed("hot_set", "data * hot / 100", "keys and values of hot records");
  figures->Computed("hot_budget", "up(max(1M, hot_set * (1 + 40 / value) * 1.28))",
                    "hot_promotion: 6.2G for 5 GB in records of 1 KB");
  figures->Computed("hot_store", "hot_budget * 1.05", "the most that its files take");
  figures->Computed("access_table", "hot_budget * 0.15 * 1.56", "what it may take");
  figures->Computed("hot_memory", "64M + 0.017 * hot_budget",
                    "promotion_cache, and filters that grow with the budget");
  if ((*figures)["value"] > std::min(4.0 * (1 << 20), (*figures)["hot_budget"] / 64)) {
    plan->Note(
        "Records are larger than a 64th of hot_budget, or than 4M: hot_promotion promotes none of "
        "them.");
  }
  return Status::OK();
}

void AddHotStore(const std::string& directory, const std::string& slow, Plan* plan) {
  plan->file.TableFactory("HotPromotionTable", "Copies hot records to the fast device.");
  plan->file.Option(Section::kTable, "path", directory + "/hot",
                    "Copies only: losing them loses nothing but time.");
  plan->file.Option(Section::kTable, "budget", plan->figures.Option("hot_budget"), "hot_budget");
  plan->file.Option(Section::kTable, "slow", slow,
                    "Which SSTs are slow. In a trial whose data is in the page cache add "
                    "slow_read_micros=0, or nothing is promoted.");
}

Status ComputeBlockCacheFile(const Request& request, Plan* plan) {
  Arithmetic* const figures = &plan->figures;
  figures->Computed("cache_room", "min(data, (fast - spare) / 1.04)",
                    "more than the data is of no use; the index takes up to 4%");
  figures->Computed("cache_memory", "memory - memtables - block_cache - 16M",
                    "for the index; write_buffer_size is 16M");
  // An index of small blocks may be too large for the memory.
  const std::string per_byte = "(23 / block_size + 1 / 4096)";
  const bool small =
      (*figures)["cache_room"] * (23.0 / 4096 + 1.0 / 4096) <= (*figures)["cache_memory"];
  figures->Given("block_size", small ? 4096 : 16384,
                 small ? "RocksDB's default" : "the index of blocks of 4K exceeds cache_memory");
  figures->Computed("cache_most", "min(cache_room, cache_memory / " + per_byte + ")",
                    "what disk and memory allow");
  Status s = TakeBudget(request, "cache_most", "capacity of the cache's file", plan);
  if (!s.ok()) {
    return s;
  }
  figures->Given("cache_least", 4 << 20, "the least that a cache in a file takes");
  figures->Computed("index", "budget * " + per_byte, "memory for the cache's index");
  s = CheckRoom(*plan, "cache_least", "budget", "give more room at --fast, or more --memory");
  if (s.ok() && request.hot > 0) {
    figures->Computed("hot_set", "data * hot / 100", "hot blocks, if hot records lie together");
    s = CheckRoom(*plan, "hot_set", "budget", "give more room at --fast, or more --memory");
  }
  return s;
}

void AddSecondaryCache(const std::string& uri, Plan* plan) {
  if (plan->figures.Has("block_size") && plan->figures["block_size"] > 4096) {
    plan->file.Option(Section::kTable, "block_size", plan->figures.Option("block_size"),
                      "Larger blocks make the cache's index smaller: 0.17% of the file. SSTs that "
                      "are there keep their blocks until a compaction rewrites them.");
  }
  plan->file.Option(Section::kDatabase, "listeners", "TwoQSecondaryCacheListener",
                    "Drops the blocks of SSTs that compactions delete, and writes statistics to "
                    "the LOG.");
  plan->file.Option(Section::kTable, "block_cache",
                    "{id={lru+2q://capacity=" + plan->figures.Option("block_cache") +
                        ";secondary_cache={" + uri + "}}}",
                    "RocksDB does not keep this line in the database's folder: give it at every "
                    "open. db_bench needs --cache_size=0 with it.");
  plan->uri = "id=TwoQSecondaryCache;" + uri;
  plan->uri_flag = "--secondary_cache_uri";
}

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
