// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/site.h"

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/table.h"
#include "test/support/open_db.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr size_t kPrimaryBytes = 512 << 10;

}  // namespace

std::string Site::CacheUri() const {
  // A small write buffer: what is in it at the moment of a kill is lost.
  return "id=TwoQSecondaryCache;storage=file;capacity=8M;num_shard_bits=1;write_buffer_size=512K;"
         "carry=true;path=" +
         CacheFile() + ";" + cache_options;
}

Status NewCache(const Site& site, std::shared_ptr<SecondaryCache>* cache) {
  return SecondaryCache::CreateFromString(ConfigOptions(), site.CacheUri(), cache);
}

CacheStats StatsOf(const SecondaryCache* cache) {
  CacheStats stats;
  Require(secondary_cache_2q::GetTwoQSecondaryCacheStats(cache, &stats), "statistics");
  return stats;
}

Options DbOptions(const Site& site, const std::shared_ptr<SecondaryCache>& secondary) {
  BlockBasedTableOptions table;
  table.block_size = 4096;
  table.cache_index_and_filter_blocks = true;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  if (site.hyper_clock) {
    HyperClockCacheOptions primary(kPrimaryBytes, /*_estimated_entry_charge=*/0,
                                   /*num_shard_bits=*/0);
    primary.secondary_cache = secondary;
    table.block_cache = primary.MakeSharedCache();
  } else {
    LRUCacheOptions primary(kPrimaryBytes, /*num_shard_bits=*/0, /*strict_capacity_limit=*/false,
                            /*high_pri_pool_ratio=*/0);
    primary.secondary_cache = secondary;
    table.block_cache = primary.MakeSharedCache();
  }
  Options options;
  options.create_if_missing = true;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  options.compression = kNoCompression;
  options.write_buffer_size = 512 << 10;
  options.target_file_size_base = 256 << 10;
  options.max_bytes_for_level_base = 64 << 20;
  options.level0_file_num_compaction_trigger = 2;
  options.max_background_jobs = 2;
  options.listeners.push_back(secondary_cache_2q::NewTwoQSecondaryCacheListener());
  return options;
}

Status OpenDb(const Site& site, const Options& options, bool read_only, std::unique_ptr<DB>* db) {
  return read_only ? ROCKSDB_NAMESPACE::OpenDbForReadOnly(options, site.Db(), db)
                   : ROCKSDB_NAMESPACE::OpenDb(options, site.Db(), db);
}

void Populate(const Site& site, Oracle* oracle) {
  std::unique_ptr<DB> db;
  Require(OpenDb(site, DbOptions(site, nullptr), /*read_only=*/false, &db), "open " + site.Db());
  for (uint32_t key = 0; key < kKeys; key++) {
    Require(db->Put(WriteOptions(), Oracle::Key(key), Oracle::Value(key, 1)), "put");
    oracle->shared().keys[key].issued = 1;
    oracle->shared().keys[key].acknowledged = 1;
  }
  Require(db->CompactRange(CompactRangeOptions(), nullptr, nullptr), "compact");
  Require(db->Close(), "close");
}

}  // namespace rocktier
