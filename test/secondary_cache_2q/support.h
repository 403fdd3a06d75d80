// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Objects and helpers to put into a secondary cache in tests.

#pragma once

#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/cache.h"
#include "rocksdb/advanced_cache.h"
#include "rocksdb/secondary_cache.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The cached object: a string. create_cb takes uncompressed data only, as RocksDB's blocks do, and
// fails when the context says so.
struct TextContext : public Cache::CreateContext {
  bool fail = false;
  CompressionType type = kNoCompression;  // of the last creation
  CacheTier source = CacheTier::kVolatileTier;
};
const Cache::CacheItemHelper* TextHelper();

// A 16-byte cache key as RocksDB makes it: the SST, then the block. No file 0 unless asked for.
std::string Key(uint64_t block, uint64_t file = 1);

// Bytes that only this seed gives; incompressible.
std::string Noise(uint64_t seed, size_t size);

std::shared_ptr<SecondaryCache> NewCache(const std::string& options);
TwoQSecondaryCache* AsOurs(const std::shared_ptr<SecondaryCache>& cache);

// Offers a block, as the primary cache does when it evicts it.
void Offer(SecondaryCache* cache, const std::string& key, const std::string& value,
           bool force = false);

// What a look-up returns; "<none>" if nothing.
std::string Get(SecondaryCache* cache, const std::string& key, bool advise_erase = false,
                bool* kept = nullptr);

// A miss and then an offer, as for a block that is read and evicted by the primary cache.
void Touch(SecondaryCache* cache, const std::string& key, const std::string& value);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
