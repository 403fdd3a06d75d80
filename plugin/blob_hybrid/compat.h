// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "db/column_family.h"
#include "file/file_prefetch_buffer.h"
#include "rocksdb/db.h"
#include "rocksdb/version.h"
#include "table/table_builder.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

inline const ImmutableOptions& ImmutableOf(const ColumnFamilyData& family) {
#if ROCKSDB_MAJOR >= 11
  return family.ioptions();
#else
  return *family.ioptions();
#endif
}

// The family's options as SetOptions() has left them. Requires the database's mutex.
inline const MutableCFOptions& LatestOptionsOf(const ColumnFamilyData& family) {
#if ROCKSDB_MAJOR >= 11
  return family.GetLatestMutableCFOptions();
#else
  return *family.GetLatestMutableCFOptions();
#endif
}

// Tells whether the last level of the family is kept free for ingested files. RocksDB 11 has an
// option of the family besides.
inline bool AllowsIngestBehind(const DBOptions& db, const ColumnFamilyOptions& family) {
#if ROCKSDB_MAJOR >= 11
  return db.allow_ingest_behind || family.cf_allow_ingest_behind;
#else
  (void)family;
  return db.allow_ingest_behind;
#endif
}

// Tells whether writes of the family go to blob files before they are flushed, as RocksDB 11.2 can.
inline bool WritesBlobsDirectly(const ColumnFamilyOptions& family) {
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 2)
  return family.enable_blob_direct_write;
#else
  (void)family;
  return false;
#endif
}

// The min_blob_size that a flush is about to make its BlobFileBuilder with. RocksDB makes that one
// after the table's builder (BuildTable), from a copy of the family's options which belongs to the
// flush: nothing else in RocksDB lets a flush have options of its own. 11.8.1 declares that copy as
// const. If a version makes it earlier, medium values are in SSTs from the beginning, and
// `not_separated` counts them.
inline uint64_t* MinBlobSizeOfFlush(const TableBuilderOptions& options) {
  return &const_cast<MutableCFOptions&>(options.moptions).min_blob_size;
}

// Makes a buffer for reading a value of `first` bytes, and then twice as much with each read, up to
// `most` (not 0). RocksDB 11 reads the size of readahead, which cannot be 0, besides what it is
// asked for; before, it read the larger of the two.
inline std::unique_ptr<FilePrefetchBuffer> NewPrefetchBuffer(uint64_t first, uint64_t most) {
#if ROCKSDB_MAJOR >= 11
  first = std::max<uint64_t>(first / 2, 1);
#endif
  ReadaheadParams params;
  params.initial_readahead_size = static_cast<size_t>(std::min(first, most));
  params.max_readahead_size = static_cast<size_t>(most);
  return std::make_unique<FilePrefetchBuffer>(params);
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

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
