// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include <map>
#include <memory>
#include <string>

#include "rocksdb/advanced_options.h"
#include "rocksdb/db.h"
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
