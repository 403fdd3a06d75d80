// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include <memory>

#include "db/column_family.h"
#include "rocksdb/db.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

inline const ImmutableOptions& ImmutableOf(const ColumnFamilyData& family) {
#if ROCKSDB_MAJOR >= 11
  return family.ioptions();
#else
  return *family.ioptions();
#endif
}

// Calls open(&db) with the kind of pointer that this RocksDB takes: a unique_ptr since 11, a raw one before.
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

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
