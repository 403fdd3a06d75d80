// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/rocksdb_options.h"

#include "plugin/hot_promotion/compat.h"
#include "plugin/hot_promotion/store/levels.h"
#include "plugin/hot_promotion/store/partitioner.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

BlockBasedTableOptions TableOptions() {
  BlockBasedTableOptions options;
  // Values go from the page cache to the caller. Blocks of the databases that are served have their
  // own cache.
  options.no_block_cache = true;
  options.block_size = 4 << 10;
  options.filter_policy.reset(NewBloomFilterPolicy(10));
  return options;
}

// Each shard of the table cache has room for a file at least: few files must not be in many shards.
int TableCacheShardBits(int open_files) {
  constexpr int kMostBits = 6;  // RocksDB's default
  constexpr int kFilesOfShard = 16;
  int bits = 0;
  while (bits < kMostBits && (open_files < 0 || (open_files >> (bits + 1)) >= kFilesOfShard)) {
    bits++;
  }
  return bits;
}

}  // namespace

Options RocksDbOptions(const RocksDbSettings& settings) {
  Options options;
  options.env = settings.env;
  options.create_if_missing = true;
  options.compression = kNoCompression;
  options.table_factory.reset(NewBlockBasedTableFactory(TableOptions()));
  options.compaction_filter_factory = settings.filter;
  options.listeners.push_back(settings.space);
  options.sst_partitioner_factory = std::make_shared<RetainedPartitionerFactory>();
  options.use_direct_reads = settings.direct_io;
  options.use_direct_io_for_flush_and_compaction = settings.direct_io;
  options.num_levels = 7;
  options.write_buffer_size = 1 << 20;
  options.target_file_size_base = settings.batch;
  options.disable_auto_compactions = true;  // until its owner knows what the store has
  options.level0_file_num_compaction_trigger = kLevel0Trigger;
  options.level0_slowdown_writes_trigger = 1 << 20;
  options.level0_stop_writes_trigger = 1 << 20;
  options.max_bytes_for_level_base = kBaseLevel * settings.batch;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_compaction_bytes = kLargestCompaction * settings.batch;
  options.max_background_jobs = 2;
  options.max_subcompactions = 1;
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  options.max_open_files = settings.open_files;
  options.max_file_opening_threads = 1;  // where there is none for more, the process would end
  options.table_cache_numshardbits = TableCacheShardBits(settings.open_files);
  options.skip_stats_update_on_db_open = false;  // it tells how many records there are
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.max_manifest_file_size = settings.batch;
  LimitManifest(&options);
  options.info_log_level = InfoLogLevel::WARN_LEVEL;  // its LOG is not in the budget
  options.max_log_file_size = 1 << 20;
  options.keep_log_file_num = 2;
  return options;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
