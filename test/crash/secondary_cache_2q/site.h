// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/secondary_cache_2q.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "test/crash/secondary_cache_2q/oracle.h"

namespace rocktier {

using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::SecondaryCache;
using CacheStats = ROCKSDB_NAMESPACE::secondary_cache_2q::TwoQSecondaryCacheStats;

// A folder with a DB, its cache file and its oracle. Parent and child open them alike.
struct Site {
  std::string folder;
  std::string cache_options = "";  // of TwoQSecondaryCache, added to the ones of CacheUri()
  bool hyper_clock = false;        // the primary cache is a HyperClockCache, else an LRUCache

  std::string Db() const { return folder + "/db"; }
  std::string CacheFile() const { return folder + "/cache"; }
  std::string OracleFile() const { return folder + "/oracle"; }
  std::string CacheUri() const;
};

// The cache, or an error.
Status NewCache(const Site& site, std::shared_ptr<SecondaryCache>* cache);
CacheStats StatsOf(const SecondaryCache* cache);

// Options of a DB whose blocks become obsolete all the time: small files, a small primary cache
// above `secondary`, which may be null.
Options DbOptions(const Site& site, const std::shared_ptr<SecondaryCache>& secondary);

// Opens the DB. Read-only: also where another process has it open.
Status OpenDb(const Site& site, const Options& options, bool read_only, std::unique_ptr<DB>* db);

// Makes the DB, with version 1 of every key, in files below level 0.
void Populate(const Site& site, Oracle* oracle);

}  // namespace rocktier
