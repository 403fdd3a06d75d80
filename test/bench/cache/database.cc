// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/database.h"

#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "test/bench/common/records.h"
#include "test/support/open_db.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::BottommostLevelCompaction;
using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::CompactRangeOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::FlushOptions;
using ROCKSDB_NAMESPACE::kNoCompression;
using ROCKSDB_NAMESPACE::NewBlockBasedTableFactory;
using ROCKSDB_NAMESPACE::NewBloomFilterPolicy;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

Options DatabaseOptions(Env* env, const std::shared_ptr<Cache>& block_cache) {
  BlockBasedTableOptions table;
  table.block_size = 4096;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_cache = block_cache;
  table.cache_index_and_filter_blocks = false;

  Options options;
  options.env = env;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  options.compression = kNoCompression;
  // Small, so that the overwrites of a run reach the tables and are compacted.
  options.write_buffer_size = 4 << 20;
  options.max_bytes_for_level_base = 16 << 20;
  options.max_background_jobs = 2;
  return options;
}

namespace {

Status WriteAll(DB* db, uint64_t num_keys, size_t value_size) {
  WriteOptions write;
  write.disableWAL = true;
  std::string key, value;
  for (uint64_t i = 0; i < num_keys; ++i) {
    MakeKey(i, &key);
    MakeValue(i, /*version=*/0, value_size, &value);
    Status s = db->Put(write, key, value);
    if (!s.ok()) return s;
  }
  return db->Flush(FlushOptions());
}

}  // namespace

Status FillDatabase(const std::string& path, uint64_t num_keys, size_t value_size) {
  Options options = DatabaseOptions(Env::Default(), nullptr);
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 64 << 20;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1 << 20;
  std::unique_ptr<DB> db;
  Status s = ROCKSDB_NAMESPACE::OpenDb(options, path, &db);
  if (s.ok()) s = WriteAll(db.get(), num_keys, value_size);
  if (s.ok()) {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    s = db->CompactRange(compact, nullptr, nullptr);
  }
  if (s.ok()) s = db->Close();
  return s;
}

}  // namespace rocktier_bench
