// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rocksdb/cache.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/status.h"

namespace rocktier_bench {

class CountingSecondaryCache;

// A block cache with or without a secondary cache, and what was copied into the latter.
class CacheUnderTest {
 public:
  // `primary` is "lru" or "hyper"; `secondary_uri` is empty or what
  // SecondaryCache::CreateFromString() takes.
  ROCKSDB_NAMESPACE::Status Create(const std::string& primary, size_t primary_bytes,
                                   const std::string& secondary_uri);

  const std::shared_ptr<ROCKSDB_NAMESPACE::Cache>& block_cache() const { return block_cache_; }

  // Bytes copied into the secondary cache since Create; 0 without one. NotSupported if it counts
  // nothing that we know how to read.
  ROCKSDB_NAMESPACE::Status CopiedBytes(uint64_t* bytes) const;

  // The secondary cache's own statistics as a JSON object; "{}" if it has none.
  std::string StatsJson() const;

 private:
  ROCKSDB_NAMESPACE::Status CreateSecondary(const std::string& uri);

  std::shared_ptr<ROCKSDB_NAMESPACE::SecondaryCache> secondary_;
  CountingSecondaryCache* counting_ = nullptr;  // secondary_, if it is one
  std::shared_ptr<ROCKSDB_NAMESPACE::Cache> block_cache_;
};

}  // namespace rocktier_bench
