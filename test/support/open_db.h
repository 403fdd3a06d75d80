// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Opening a database with every supported version: RocksDB 11 takes a unique_ptr, earlier ones a
// raw pointer.

#pragma once

#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {

// Calls open(&db) with the kind of pointer that this RocksDB takes.
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

inline Status OpenDb(const Options& options, const std::string& name, std::unique_ptr<DB>* db) {
  return OpenInto(db, [&](auto* result) { return DB::Open(options, name, result); });
}

inline Status OpenDbForReadOnly(const Options& options, const std::string& name,
                                std::unique_ptr<DB>* db) {
  return OpenInto(db, [&](auto* result) { return DB::OpenForReadOnly(options, name, result); });
}

inline Status OpenDbAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, std::unique_ptr<DB>* db) {
  return OpenInto(
      db, [&](auto* result) { return DB::OpenAsSecondary(options, name, secondary_path, result); });
}

}  // namespace ROCKSDB_NAMESPACE
