// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "plugin/hot_promotion/ralt/space.h"
#include "plugin/hot_promotion/store/format.h"
#include "rocksdb/table_properties.h"
#include "util/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The id that an SST's properties give it; null if they give none, as in files of old versions.
// Unlike the file's number the id is the same in a checkpoint, a backup and another process, and
// never that of another file.
inline FileId FileIdOf(const TableProperties& properties) {
  FileId id{};
  const Status s = GetSstInternalUniqueId(properties.db_id, properties.db_session_id,
                                          properties.orig_file_number, &id);
  return s.ok() ? id : kNullUniqueId64x2;
}

// Returns where the accesses of a column family of a database are counted. Files that were made
// elsewhere and ingested or imported have a space of their own until a compaction rewrites them.
inline Space SpaceOf(const std::string& db_id, uint64_t column_family) {
  return NPHash64(db_id.data(), db_id.size(), column_family);
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
