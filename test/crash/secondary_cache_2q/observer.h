// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "plugin/secondary_cache_2q/format.h"
#include "rocksdb/db.h"
#include "rocksdb/secondary_cache.h"
#include "test/crash/secondary_cache_2q/oracle.h"

namespace rocktier {

// Passes everything on to a secondary cache and notes which keys it answered. For one thread; only
// look-ups with wait=true count.
class Observer : public ROCKSDB_NAMESPACE::SecondaryCacheWrapper {
 public:
  using SecondaryCacheWrapper::SecondaryCacheWrapper;
  const char* Name() const override { return "Observer"; }
  std::unique_ptr<ROCKSDB_NAMESPACE::SecondaryCacheResultHandle> Lookup(
      const Slice& key, const ROCKSDB_NAMESPACE::Cache::CacheItemHelper* helper,
      ROCKSDB_NAMESPACE::Cache::CreateContext* context, bool wait, bool advise_erase,
      ROCKSDB_NAMESPACE::Statistics* statistics, bool& kept) override;

  const std::set<std::string>& served() const { return served_; }
  uint64_t misses() const { return misses_; }

 private:
  std::set<std::string> served_;
  uint64_t misses_ = 0;
};

// The blocks that the index of a cache file names, by cache key. Read with the codec alone, so that
// it does not lean on the recovery it is compared with.
using FileIndex = std::map<std::string, ROCKSDB_NAMESPACE::secondary_cache_2q::Slot>;
FileIndex ReadIndex(const std::string& path);

// Where the parts of a cache file are.
ROCKSDB_NAMESPACE::secondary_cache_2q::Superblock ReadLayout(const std::string& path);

// The keys of the blocks whose bytes in the file are not what the index says.
std::set<std::string> DamagedBlocks(const std::string& path);

// The first eight bytes of the cache keys of the DB's SSTs.
std::set<std::string> LiveFiles(ROCKSDB_NAMESPACE::DB* db);

// Gets every key, in this thread. Empty if all answers are right, else the first wrong one.
// *device_reads: the blocks that were read from the SSTs.
std::string GetAll(ROCKSDB_NAMESPACE::DB* db, const Oracle& oracle, uint64_t* device_reads);

// The same by a scan, which also comes to the blocks whose records newer ones hide.
std::string ScanAll(ROCKSDB_NAMESPACE::DB* db, const Oracle& oracle);

// Both.
std::string ReadAll(ROCKSDB_NAMESPACE::DB* db, const Oracle& oracle);

// The share of `keys` that is in `served`; 1 of none.
double ShareServed(const std::set<std::string>& served, const std::set<std::string>& keys);

}  // namespace rocktier
