// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/db/manifest.h"
#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/fs/uses.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What to say of a file that is missing.
constexpr char kBeside[] =
    "; if it is in one of DBOptions::db_paths, name that in db_paths= of the URI";

// A tool's work on a database. The FileSystem does not hear of it: nothing is placed, moved or
// deleted but by what is called here. With `dry_run` nothing is at all: TakeOver(), Move() and
// Purge() refuse what they would refuse, and only count on what would be. Not thread-safe.
class AdminSession {
 public:
  AdminSession(TieredFileSystem* fs, const std::string& directory, bool dry_run = false);
  ~AdminSession();

  bool dry_run() const { return dry_run_; }
  TieredFileSystem* fs() const { return fs_; }
  FileSystem* target() const { return fs_->target(); }
  Namespace* names() const { return fs_->names(); }
  Folders* folders() const { return names()->folders(); }
  const Policy& policy() const { return names()->policy(); }
  const std::string& directory() const { return directory_; }
  std::string PathOf(const std::string& base) const { return directory_ + "/" + base; }

  // Nobody else has the database open as long as this lives. NotFound: there is no database.
  IOStatus Lock();
  // Lock(), also if there is no CURRENT, and RecoveryManager::Salvage().
  IOStatus Salvage(const std::vector<std::string>& gone, std::vector<std::string>* given_up);
  // What would keep SSTs in volatile tiers from being rebuilt. Requires Look().
  IOStatus Rehearse(const std::vector<std::string>& gone, RecoveryManager::Rehearsal* result);
  // Reads the MANIFEST and finds the files, again if called again. NotFound as above.
  IOStatus Look();
  // Reads the MANIFEST as RocksDB does when it opens the database. Corruption: it is damaged, and
  // Look() may have left out what it needs. Requires Look().
  IOStatus CheckManifest() const { return manifest_.Check(); }
  // Lock(), Look(), deletes what interrupted work has left, and refuses what "rocktier tier check"
  // would not call sound. In a dry run SSTs that memory has lost count as rebuilt.
  IOStatus TakeOver();

  // All below: by the last Look().
  const Survey& survey() const { return *survey_; }
  const Database& database() const { return *database_; }
  // The SSTs and blob files that the MANIFEST named before and after the files were looked for, by
  // name.
  const std::map<std::string, LiveTable>& needed() const { return needed_; }
  // Null if it does not need this file.
  const LiveTable* NeedOf(const std::string& base) const;

  // Deletes what was put aside, and retained logs of a newer home. Requires TakeOver().
  IOStatus Purge(uint64_t* files, uint64_t* bytes);

  // Puts a file into another tier. NoSpace if its budget has no room, unless `anyway`.
  IOStatus Move(const Database::Misplaced& file, bool anyway = false);
  // Whether a dry run has moved it.
  bool WouldHaveMoved(const std::string& base) const { return would_have_moved_.count(base) > 0; }

 private:
  // Whether the directory has a file that the MANIFEST names, or would have to have it: others are
  // in db_paths.
  bool BelongsHere(const std::string& base, const LiveTable& file) const;
  IOStatus ReadManifest(std::map<std::string, LiveTable>* files);
  IOStatus LookOnly();
  IOStatus CheckSound();
  // Whether a stub is of an SST or blob file of the directory that the MANIFEST does not need.
  bool IsUnneeded(const std::string& base) const;
  // Deletes stubs of such files that are damaged or whose files are lost, as a crash in a
  // compaction leaves them. Whether there were any.
  bool DeleteUnneeded();

  TieredFileSystem* const fs_;
  const Use use_;  // of fs_, as databases that are open for RocksDB are
  const std::string directory_;
  const bool dry_run_;
  std::set<std::string> would_have_moved_;
  FileLock* lock_ = nullptr;
  Manifest manifest_;
  std::unique_ptr<Survey> survey_;
  std::unique_ptr<Database> database_;
  std::map<std::string, LiveTable> needed_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
