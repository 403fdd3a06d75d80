// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/cache_under_test.h"

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/convenience.h"
#include "test/bench/cache/counting_secondary_cache.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::HyperClockCacheOptions;
using ROCKSDB_NAMESPACE::LRUCacheOptions;
using ROCKSDB_NAMESPACE::SecondaryCache;
using ROCKSDB_NAMESPACE::Status;
namespace twoq = ROCKSDB_NAMESPACE::secondary_cache_2q;

Status CacheUnderTest::CreateSecondary(const std::string& uri) {
  if (uri.empty()) return Status::OK();
  Status s = SecondaryCache::CreateFromString(ConfigOptions(), uri, &secondary_);
  if (s.ok() && uri.rfind("compressed_secondary_cache://", 0) == 0) {
    auto counting = std::make_shared<CountingSecondaryCache>(secondary_);
    counting_ = counting.get();
    secondary_ = counting;
  }
  return s;
}

Status CacheUnderTest::Create(const std::string& primary, size_t primary_bytes,
                              const std::string& secondary_uri) {
  Status s = CreateSecondary(secondary_uri);
  if (!s.ok()) return s;
  if (primary == "lru") {
    LRUCacheOptions options;
    options.capacity = primary_bytes;
    options.secondary_cache = secondary_;
    block_cache_ = options.MakeSharedCache();
  } else if (primary == "hyper") {
    HyperClockCacheOptions options(primary_bytes, /*estimated_entry_charge=*/0);
    options.secondary_cache = secondary_;
    block_cache_ = options.MakeSharedCache();
  } else {
    return Status::InvalidArgument("primary is neither lru nor hyper", primary);
  }
  return block_cache_ ? Status::OK() : Status::InvalidArgument("block cache refused", primary);
}

Status CacheUnderTest::CopiedBytes(uint64_t* bytes) const {
  *bytes = 0;
  if (!secondary_) return Status::OK();
  if (counting_ != nullptr) {
    *bytes = counting_->copied_bytes();
    return Status::OK();
  }
  twoq::TwoQSecondaryCacheStats stats;
  Status s = twoq::GetTwoQSecondaryCacheStats(secondary_.get(), &stats);
  *bytes = stats.copied_bytes;
  return s;
}

std::string CacheUnderTest::StatsJson() const {
  twoq::TwoQSecondaryCacheStats stats;
  if (!secondary_ || counting_ != nullptr) return "{}";
  Status s = twoq::GetTwoQSecondaryCacheStats(secondary_.get(), &stats);
  return s.ok() ? stats.ToJson() : "{}";
}

}  // namespace rocktier_bench
