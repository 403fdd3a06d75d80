// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What RocksDB says of a column family at a time. All functions are thread-safe; the family's data
// must be kept by a HeldFamily, a handle or a compaction.

#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "db/column_family.h"
#include "plugin/blob_hybrid/files.h"

namespace ROCKSDB_NAMESPACE {

class BlobFileMetaData;
class DBImpl;
class Version;

namespace blob_hybrid {

// Keeps a family's data, also if it is dropped. Takes no handle of RocksDB for it: listeners would
// be told of the end of that. What nobody else keeps is freed by the thread that lets go: a thread
// of RocksDB might come to it when the database is closed already. Not to be let go with the
// database's mutex held. Thread-safe.
class HeldFamily {
 public:
  // Holds nothing if there is no such family any more. The database must outlive it.
  HeldFamily(DBImpl* db, uint32_t number);
  ~HeldFamily();
  HeldFamily(const HeldFamily&) = delete;
  HeldFamily& operator=(const HeldFamily&) = delete;

  explicit operator bool() const { return data() != nullptr; }
  ColumnFamilyData* data() const { return handle_.cfd(); }
  // For functions of RocksDB that take one. Lives as long as this.
  ColumnFamilyHandle* handle() { return &handle_; }
  const char* name() const { return data()->GetName().c_str(); }

 private:
  DBImpl* const db_;
  ColumnFamilyHandleInternal handle_;  // keeps nothing, and nobody is told of its end
};

// Keeps the files of a family as they are now. A SuperVersion would keep memtables besides, and
// RocksDB may leave it to a thread of its own to free one, with avoid_unnecessary_blocking_io: that
// thread may come when the database is closed already. Not to be let go with the database's mutex
// held.
class HeldVersion {
 public:
  HeldVersion(DBImpl* db, ColumnFamilyData* family);
  ~HeldVersion();
  HeldVersion(const HeldVersion&) = delete;
  HeldVersion& operator=(const HeldVersion&) = delete;

  Version* get() const { return version_; }
  Version* operator->() const { return version_; }

 private:
  DBImpl* const db_;
  Version* version_ = nullptr;
};

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
// nothing else. 0: there is no such family any more.
uint64_t FilesVersionOf(DBImpl* db, uint32_t family);

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
