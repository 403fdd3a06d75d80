// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What RocksDB says of a column family at a time. All functions are thread-safe; the family's data
// must be kept by a handle or by a compaction.

#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "plugin/blob_hybrid/files.h"

namespace ROCKSDB_NAMESPACE {

class BlobFileMetaData;
class ColumnFamilyData;
class ColumnFamilyHandle;
class DBImpl;

namespace blob_hybrid {

ColumnFamilyData* DataOf(ColumnFamilyHandle* handle);

// The blob file with the garbage that RocksDB knows.
BlobInfo BlobInfoOf(const BlobFileMetaData& meta);

// The shape of a family's current version, and the options that the plugin heeds.
struct FamilyInfo {
  bool has_blobs = false;
  int last_level = 0;
  uint64_t min_blob_size = 0;
  uint64_t memtable_bytes = 0;  // of all that may wait for a flush
  bool compacts = false;        // by itself: not disable_auto_compactions
  bool goes_by_levels = false;  // what is compacted to a level is there then
};

FamilyInfo FamilyInfoOf(DBImpl* db, ColumnFamilyData* family);

// The number of the current version of the files: changes with each flush and compaction, and with
// nothing else.
uint64_t FilesVersionOf(DBImpl* db, ColumnFamilyData* family);

// The blob files of the current version, with garbage as RocksDB says, by number.
std::vector<BlobInfo> BlobsOf(DBImpl* db, ColumnFamilyData* family);

// The SSTs of the current version that compactions are at work on.
std::set<uint64_t> InCompaction(DBImpl* db, ColumnFamilyData* family);

// Tells whether SSTs are where they were, and no compaction is at work on them or on what overlaps
// with them in the output level.
bool AreFree(DBImpl* db, ColumnFamilyData* family, const std::vector<SstInfo>& ssts,
             int output_level);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
