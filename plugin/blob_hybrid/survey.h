// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/blob_hybrid/properties.h"
#include "rocksdb/comparator.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class ColumnFamilyData;
class DBImpl;
struct FileMetaData;
struct SuperVersion;

namespace blob_hybrid {

struct KeyRange {
  std::string smallest;  // user keys
  std::string largest;
};

struct SstInfo {
  uint64_t number = 0;
  int level = 0;
  uint64_t bytes = 0;
  uint64_t user_bytes = 0;   // of these, keys and values, and what small ones need besides
  uint64_t oldest_blob = 0;  // number of the oldest blob file that it refers to; 0: none
  uint64_t entries = 0;      // deletions included
  uint64_t deletions = 0;    // range deletions included
  uint64_t range_deletions = 0;
  uint64_t covered = 0;       // entries of older SSTs that these may hide, about
  uint64_t medium_bytes = 0;  // of the medium values in blob files that it refers to
  std::shared_ptr<const KeyRange> keys;
  std::shared_ptr<const References> references;  // null: it does not say
  SketchPtr sketch;                              // the same
};

struct BlobInfo {
  uint64_t number = 0;
  uint64_t file_bytes = 0;
  uint64_t bytes = 0;  // of its values, with their headers
  // Of these, what no SST refers to: as RocksDB says, or more where all SSTs that may refer to it say how much. RocksDB does not
  // know what SSTs referred to that DeleteFilesInRange() has deleted.
  uint64_t garbage_bytes = 0;
  bool corrected = false;  // RocksDB says less

  uint64_t live_bytes() const { return bytes - std::min(bytes, garbage_bytes); }
  double garbage_ratio() const {
    return bytes == 0 ? 0 : static_cast<double>(garbage_bytes) / static_cast<double>(bytes);
  }
};

// The files of a family at a time.
struct Survey {
  std::vector<SstInfo> ssts;  // by level; but for level 0 by key then
  std::vector<BlobInfo> blobs;
  int last_level = 0;                                   // the deepest one that has files
  int base_level = 1;                                   // what RocksDB compacts level 0 to
  const Comparator* comparator = BytewiseComparator();  // of user keys

  uint64_t max_sst_number() const;
};

// What a compaction has to know of its family.
struct Layout {
  std::vector<BlobInfo> blobs;
  int last_level = 0;
  uint64_t min_blob_size = 0;
  uint64_t memtable_bytes = 0;  // of all that may wait for a flush
  bool compacts = false;        // by itself: not disable_auto_compactions
  bool goes_by_levels = false;  // what is compacted to a level is there then
};

// Which files there are: it changes with each flush and compaction, and with nothing else. Thread-safe.
uint64_t FilesVersionOf(DBImpl* db, ColumnFamilyData* family);

// Of the current version. Thread-safe.
Layout LayoutOf(DBImpl* db, ColumnFamilyData* family);

// SSTs of the current version that compactions are at work on. Thread-safe.
std::set<uint64_t> InCompaction(DBImpl* db, ColumnFamilyData* family);

// Surveys a family again and again, and remembers the properties of its SSTs. Thread-safe.
class Surveyor {
 public:
  // Errors: of reading an SST's properties.
  Status Take(DBImpl* db, ColumnFamilyData* family, Survey* survey);

 private:
  struct Counts {
    uint64_t user_bytes;
    uint64_t entries;
    uint64_t deletions;
    uint64_t range_deletions;
    uint64_t medium_bytes;
    std::shared_ptr<const KeyRange> keys;
    std::shared_ptr<const References> references;
    SketchPtr sketch;
    bool says_all;
    uint64_t oldest_blob;
    uint64_t seen = 0;                               // the survey that found it last
    std::optional<uint64_t> covered = std::nullopt;  // see SstInfo; once it is asked for
  };

  void Know(uint64_t number, Counts counts);
  // Of an SST that is known, as all older ones are.
  Status Cover(ColumnFamilyData* family, const SuperVersion& version, const FileMetaData& file,
               SstInfo* sst);
  // Those that the last survey has not found.
  void Forget();
  void Thin();
  void CorrectGarbage(std::vector<BlobInfo>* blobs) const;

  std::mutex mutex_;
  // What follows is guarded by mutex_.
  std::unordered_map<uint64_t, Counts> known_;   // by number of the SST
  std::unordered_map<uint64_t, uint64_t> said_;  // bytes that these refer to, by blob file
  uint64_t surveys_ = 0;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
