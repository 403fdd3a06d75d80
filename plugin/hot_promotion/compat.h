// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "rocksdb/advanced_options.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"

// FileSystem::SyncFile() came with 11.5.
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 5)
#define HOT_HAS_SYNC_FILE 1
#endif

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

inline const std::map<std::string, Temperature>& Temperatures() {
  static const std::map<std::string, Temperature> names = {
    {"unknown", Temperature::kUnknown},
    {"hot", Temperature::kHot},
    {"warm", Temperature::kWarm},
#if ROCKSDB_MAJOR >= 11
    {"cool", Temperature::kCool},
    {"ice", Temperature::kIce},
#endif
    {"cold", Temperature::kCold}
  };
  return names;
}

// Makes max_manifest_file_size the limit that it is called. Since 10.8 a MANIFEST may become six
// times as large as what it says, as new.
inline void LimitManifest(DBOptions* options) {
#if ROCKSDB_MAJOR > 10 || (ROCKSDB_MAJOR == 10 && ROCKSDB_MINOR >= 8)
  options->max_manifest_space_amp_pct = 0;
#else
  static_cast<void>(options);
#endif
}

// Calls open(&db) with the kind of pointer that this RocksDB takes: a unique_ptr since 11, a raw
// one before.
template <typename Open>
Status OpenInto(std::unique_ptr<DB>* db, const Open& open) {
#if ROCKSDB_MAJOR >= 11
  return open(db);
#else
  DB* raw = nullptr;
  Status s = open(&raw);
  db->reset(raw);
  return s;
#endif
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
