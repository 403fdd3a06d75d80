// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/db/manifest.h"
#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/tier/policy.h"
#include "plugin/tiered_env/tier/usage.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A database that is open for writing: where its SSTs and blob files are and where they belong. The
// bytes that it holds of each tier's budget are given back when it is destroyed. Thread-safe.
class Database : public std::enable_shared_from_this<Database> {
 public:
  // `fs` sees the files of `directory`. `counted`: see Usage.
  Database(FileSystem* fs, std::string directory, bool counted = false);
  virtual ~Database();

  const std::string& directory() const { return directory_; }

  // Called when an SST was brought from a volatile tier to one that is not.
  virtual void OnPersisted(const std::string& /*base*/, uint64_t /*bytes*/) {}

  // What its files take of budgets.
  Usage* usage() { return &usage_; }
  const Usage& usage() const { return usage_; }

  // Notes a complete file whose bytes the caller has taken from the tier's budget, instead of what
  // was noted under its name. `written`: when that was, in seconds since 1970; 0: not known, so it
  // is never old. `family`: the name of the column family from whose budget they were taken, too;
  // empty: that is not known yet.
  void Add(const std::string& base, Tier* tier, uint64_t size, uint64_t written,
           const std::string& family = "");
  // The same for a copy of what was noted: it is as old.
  void AddCopy(const std::string& base, Tier* tier, uint64_t size, const std::string& family);
  void Remove(const std::string& base);
  void Rename(const std::string& from, const std::string& to);

  // A stub of nothing that was deleted when the database was locked: DestroyDB() lists files before
  // that, and deletes them after it.
  void NoteSwept(const std::string& base);
  bool WasSwept(const std::string& base) const;

  // The name of the column family of a file that was noted; empty: it is not known.
  std::string FamilyOf(const std::string& base) const;

  // Where the levels of a column family begin and end.
  LevelRange LevelsOf(uint32_t column_family) const;

  // Reads what is new in the MANIFEST.
  IOStatus Refresh();
  // Corruption: the MANIFEST is damaged, so what that has read may not be all.
  IOStatus CheckManifest();
  // Makes durable what that has read.
  IOStatus SyncManifest();

  // A file that is not where it belongs, or not where it shall be for want of room.
  struct Misplaced {
    std::string base;
    uint64_t size = 0;  // bytes
    int level = 0;
    Tier* from = nullptr;
    Tier* to = nullptr;      // where it shall be
    Tier* wanted = nullptr;  // where it belongs
    uint64_t note = 0;       // of the file that is meant; 0: of whatever has the name
    std::string family;      // name of its column family; empty: not known
  };
  // Returns whether it is still that file, and not another one that was written under its name.
  bool IsStill(const Misplaced& file) const;
  // Finds the files that are not where they belong, by the last Refresh(). Those that RocksDB has
  // not installed, or no longer, are left out. `leaving`: a tier where no file shall be.
  std::vector<Misplaced> FindMisplaced(const Policy& policy, const Tier* leaving = nullptr) const;

  // Bytes of an SST or blob file that the MANIFEST names, 0 of others.
  uint64_t SizeOf(const std::string& base) const;

  // Whether it is a log that RocksDB has not deleted, by its number and the last Refresh(): one
  // that it would replay.
  bool NeedsLog(const std::string& base) const;
  // Whether it is a log that RocksDB would not replay: by its number, which none is as long as no
  // MANIFEST was read, or because it is in the trash.
  bool IsObsoleteLog(const std::string& base) const;

  // The SSTs and blob files that the MANIFEST names, by name, with their bytes; those of
  // db_paths[0].
  std::map<std::string, uint64_t> Needed() const;

  void AddStats(const Policy& policy, TieredStats* stats) const;
  // The column families, of the last Refresh() or of files that were written since, that have a
  // budget in a tier: by tiers, then by names.
  std::vector<TieredFamilyStats> Families(const Policy& policy) const;

  // Sums the bytes of files in volatile tiers.
  uint64_t VolatileBytes() const;
  // Has FindMisplaced() bring some of the oldest of them to other tiers.
  void PersistOldest();
  // Finds, as FindMisplaced() does, a tier that is not volatile for each file in one that is.
  std::vector<Misplaced> FindVolatile(const Policy& policy) const;
  // The SSTs of the MANIFEST by number, by the last Refresh().
  std::map<uint64_t, LiveTable> tables() const;
  // Its blob files by number, by the last Refresh().
  std::map<uint64_t, LiveBlob> blobs() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return blobs_;
  }
  // Its column families by id, by the last Refresh(): their names.
  std::map<uint32_t, std::string> families() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return families_;
  }

  // DBOptions::rate_limiter, which lives as long as the database is open. Null: it has none, or has
  // written no log yet.
  std::atomic<RateLimiter*> limiter{nullptr};

  // Set before it is unlocked: no more moves.
  std::atomic<bool> closing{false};

 private:
  struct File {
    Tier* tier = nullptr;
    uint64_t size = 0;
    uint64_t note = 0;
    uint64_t written = 0;  // seconds since 1970; 0: not known
    std::string family;    // name of its column family; empty: not known
  };

  // All of these require mutex_.
  void Note(const std::string& base, const File& file);
  // Finds out of which column family a file is, if the MANIFEST names it.
  void LearnFamily(const std::string& base, File* file);
  uint64_t KnownSize(const std::string& base) const;
  std::string NameOf(uint32_t column_family) const;  // empty: not known
  // What is known of a file that is installed, and its claim to room: the lower the better.
  // `by_family`: the family of an SST is needed, too.
  bool FactsOf(const std::string& base, bool by_family, Facts* facts, int* claim) const;

  const std::string directory_;
  Usage usage_;

  std::mutex manifest_mutex_;
  Manifest manifest_;  // guarded by manifest_mutex_

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::map<std::string, File> files_;  // by name
  uint64_t notes_ = 0;                 // how often a file was noted
  std::map<uint64_t, LiveTable> tables_;
  std::map<uint64_t, LiveBlob> blobs_;
  std::map<uint32_t, std::string> families_;  // names
  std::map<uint32_t, LevelRange> shapes_;
  uint64_t first_log_ = 0;
  std::set<std::string> swept_;
  std::set<std::string> persist_;  // files that shall leave volatile tiers
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
