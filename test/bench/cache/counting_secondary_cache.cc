// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/counting_secondary_cache.h"

#include "rocksdb/perf_context.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::get_perf_context;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

Status CountingSecondaryCache::Insert(const Slice& key, Cache::ObjectPtr obj,
                                      const Cache::CacheItemHelper* helper, bool force_insert) {
  const uint64_t before = get_perf_context()->compressed_sec_cache_insert_real_count;
  Status s = target()->Insert(key, obj, helper, force_insert);
  if (get_perf_context()->compressed_sec_cache_insert_real_count != before) {
    copied_bytes_.fetch_add(helper->size_cb(obj), std::memory_order_relaxed);
  }
  return s;
}

}  // namespace rocktier_bench
