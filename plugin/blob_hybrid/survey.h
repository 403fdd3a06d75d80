// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugin/blob_hybrid/backoff.h"
#include "plugin/blob_hybrid/known_sst.h"
#include "plugin/blob_hybrid/turns.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class BlobFileMetaData;
class ColumnFamilyData;
class DBImpl;
class Version;
class VersionStorageInfo;
struct FileMetaData;
struct LevelFilesBrief;

namespace blob_hybrid {

// Surveys a family again and again, by what differs from the version that it has seen last, whoever
// changed it: no event can be missed. Looks at files that have come, gone or changed only; of the
// others it compares the numbers of SSTs and the pointers to the metadata of blob files, which are
// arrays in a version. The sample of keys is combined anew, but that is bounded. GcFamily has one,
// which reads in pieces: the first look may have thousands of SSTs to read. Statistics make one for
// a look. Thread-safe: callers come to their turn in order, each after a piece of another one at
// most; the family's data must be kept.
//
// An SST whose properties cannot be read counts as UnreadSst(), and is read again after a pause.
class Surveyor {
 public:
  enum class Reading {
    kWhole,   // all that there is to read
    kPieces,  // a piece in a look: 16 SSTs, or as many as can be read in 50 ms if that is more
  };

  explicit Surveyor(Reading reading) : reading_(reading) {}

  // Errors: Incomplete, there is more to read: look again. *totals is what was seen last then.
  Status Sum(DBImpl* db, ColumnFamilyData* family, Totals* totals);
  // The files themselves: goes through all of them. The same errors.
  Status Take(DBImpl* db, ColumnFamilyData* family, Survey* survey);

  // Ends a piece that is being read: the database is about to be closed. Pieces have four SSTs from
  // now on.
  void Hurry() { hurries_ = true; }
  // Forgets everything, for the family has been dropped: ColumnFamilyDropped from now on.
  void Close();

  // An SST whose properties, or range deletions, could not be read.
  struct Unread {
    uint64_t sst;
    Status why;
  };
  // Those since the last call.
  std::vector<Unread> TakeUnread();

  // Garbage of the blob files of which RocksDB knows less, as seen last.
  std::map<uint64_t, uint64_t> corrected();
  // Counts how often a file was looked at, because it had come, gone or changed.
  uint64_t TEST_looked_at();

 private:
  struct Place {
    uint64_t number;
    KnownSst* sst;
  };
  using Levels = std::vector<std::vector<Place>>;
  // Leads from the version that was seen last to another one.
  struct Changes {
    Levels levels;                                          // no `sst` yet where one has come
    std::vector<std::pair<int, const FileMetaData*>> come;  // with their levels
    std::vector<KnownSst*> gone;                            // moved ones are in both
  };
  struct Blob {
    BlobInfo info;
    uint64_t garbage_bytes = 0;  // as RocksDB says
    // Keeps the file from nothing, but its address from being that of a later one.
    std::weak_ptr<BlobFileMetaData> meta;
    bool gone = false;
  };

  Status Update(DBImpl* db, ColumnFamilyData* family);
  Status UpdateTo(ColumnFamilyData* family, Version* version);
  Changes Compare(const VersionStorageInfo& storage) const;
  void CompareLevel(int level, const LevelFilesBrief& files, Changes* changes) const;
  bool IsCounted(uint64_t number, int level) const;
  // BeginPiece() to ReadAgain(): in survey_read.cc.
  //
  // Begins a piece, and tells whether one more SST may be read in it.
  void BeginPiece();
  bool MayRead();
  // Reads what the SSTs that have come say. Incomplete: there are more of them.
  Status Learn(ColumnFamilyData* family, Version* version, const Changes& changes);
  void Read(const Version& version, const FileMetaData& file);
  // Counts what an SST covers that is known, as all older ones are.
  void Cover(ColumnFamilyData* family, Version* version, const FileMetaData& file, int level,
             KnownSst* sst);
  // Reads those again that could not be read, if it is time. False if nothing has changed.
  bool ReadAgain(ColumnFamilyData* family, Version* version);
  void UpdateSsts(Changes changes);
  void Count(bool counted, KnownSst* sst);
  void Forget(uint64_t number);
  void Sample();
  void UpdateBlobs(const VersionStorageInfo& storage);
  Blob Enter(const std::shared_ptr<BlobFileMetaData>& meta);
  void Leave(Blob* blob);
  // The garbage of a blob file has to be corrected, or not any more.
  void Touch(uint64_t blob);
  void CorrectGarbage();
  void CorrectGarbage(uint64_t unsaid, Blob* blob);

  const Reading reading_;
  std::atomic<bool> hurries_{false};
  Turns turns_;
  // What follows belongs to the one whose turn it is.
  bool closed_ = false;
  std::optional<uint64_t> version_;               // that was seen last: FilesVersionOf()
  std::unordered_map<uint64_t, KnownSst> known_;  // by number
  size_t read_ = 0;                               // SSTs in this piece
  uint64_t piece_end_ = 0;                        // by SteadyMicros()
  Backoff unread_;                                // those that could not be read
  std::vector<Unread> errors_;
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
