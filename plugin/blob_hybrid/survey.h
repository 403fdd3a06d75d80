// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugin/blob_hybrid/files.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class BlobFileMetaData;
class ColumnFamilyData;
class DBImpl;
class VersionStorageInfo;
struct FileMetaData;
struct LevelFilesBrief;
struct SuperVersion;

namespace blob_hybrid {

// Surveys a family again and again, by what differs from the version that it has seen last, whoever
// changed it: no event can be missed. Looks at files that have come, gone or changed only; of the
// others it compares the numbers of SSTs and the pointers to the metadata of blob files, which are
// arrays in a version. The sample of keys is combined anew, but that is bounded. GcFamily has one;
// statistics make one for a look. Thread-safe; the family's data must be kept by a handle.
class Surveyor {
 public:
  // Errors: of reading an SST's properties. What was seen last is kept then.
  Status Sum(DBImpl* db, ColumnFamilyData* family, Totals* totals);
  // The files themselves: goes through all of them.
  Status Take(DBImpl* db, ColumnFamilyData* family, Survey* survey);

  // Forgets everything, for the family has been dropped: ColumnFamilyDropped from now on.
  void Close();

  // Garbage of the blob files of which RocksDB knows less, as seen last.
  std::map<uint64_t, uint64_t> corrected();
  // Counts how often a file was looked at, because it had come, gone or changed.
  uint64_t TEST_looked_at();

 private:
  struct Sst {
    SstInfo info;
    bool says_all = false;
    bool covers = false;   // and info.covered is not known yet
    bool counted = false;  // in totals_, and in what follows there
  };
  struct Place {
    uint64_t number;
    Sst* sst;
  };
  using Levels = std::vector<std::vector<Place>>;
  // Leads from the version that was seen last to another one.
  struct Changes {
    Levels levels;                                          // no `sst` yet where one has come
    std::vector<std::pair<int, const FileMetaData*>> come;  // with their levels
    std::vector<Sst*> gone;                                 // moved ones are in both
  };
  struct Blob {
    BlobInfo info;
    uint64_t garbage_bytes = 0;  // as RocksDB says
    // Keeps the file from nothing, but its address from being that of a later one.
    std::weak_ptr<BlobFileMetaData> meta;
    bool gone = false;
  };

  Status Update(DBImpl* db, ColumnFamilyData* family);
  Status UpdateTo(ColumnFamilyData* family, const SuperVersion& version);
  Changes Compare(const VersionStorageInfo& storage) const;
  void CompareLevel(int level, const LevelFilesBrief& files, Changes* changes) const;
  bool IsCounted(uint64_t number, int level) const;
  // Reads what the SSTs that have come say.
  Status Learn(ColumnFamilyData* family, const SuperVersion& version, const Changes& changes);
  Status Read(const SuperVersion& version, const FileMetaData& file);
  // Counts what an SST covers that is known, as all older ones are.
  Status Cover(ColumnFamilyData* family, const SuperVersion& version, const FileMetaData& file,
               int level, Sst* sst);
  void UpdateSsts(Changes changes);
  void Count(bool counted, Sst* sst);
  void Forget(const std::vector<Sst*>& gone);
  void Sample();
  void UpdateBlobs(const VersionStorageInfo& storage);
  Blob Enter(const std::shared_ptr<BlobFileMetaData>& meta);
  void Leave(Blob* blob);
  // The garbage of a blob file has to be corrected, or not any more.
  void Touch(uint64_t blob);
  void CorrectGarbage();
  void CorrectGarbage(uint64_t unsaid, Blob* blob);

  std::mutex mutex_;
  // What follows is guarded by mutex_.
  bool closed_ = false;
  std::optional<uint64_t> version_;          // that was seen last: FilesVersionOf()
  std::unordered_map<uint64_t, Sst> known_;  // by number
  Levels levels_;
  std::vector<Blob> blobs_;  // by number
  Totals totals_;
  size_t sketched_ = 0;  // entries of sketches
  int base_level_ = 1;
  const Comparator* comparator_ = BytewiseComparator();
  std::unordered_map<uint64_t, uint64_t> said_;  // bytes that SSTs refer to, by blob file
  std::multiset<uint64_t> unsaid_;  // from these on SSTs may refer to blob files and not say so
  uint64_t unsaid_before_ = UINT64_MAX;  // the first one, when garbage was corrected
  std::vector<uint64_t> touched_;
  std::map<uint64_t, uint64_t> corrected_;
  uint64_t looked_at_ = 0;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
