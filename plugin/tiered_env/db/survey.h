// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/files/namespace.h"
#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What a database's directory, those below it, and its folders in the tiers hold. Not thread-safe.
class Survey {
 public:
  struct File {
    std::string base;  // its path below the directory: "000012.sst", "archive/000003.log"
    Place place;
    uint64_t size = 0;     // bytes
    uint64_t written = 0;  // seconds since 1970; 0 if no rule of the placement is of an age
    bool lost = false;     // there is a stub, and no file
    // Whether it counts for budgets: an SST or blob file of this directory, deleted ones that are
    // still in the trash, too.
    bool counts = false;
  };

  Survey(Namespace* names, std::string directory)
      : names_(names), directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }

  // Looks; again if called again.
  IOStatus Run();

  // The SSTs and blob files of the directory, and everything that has a stub; of the directories
  // below it what has one, unless they have folders of their own, as checkpoints have.
  const std::vector<File>& files() const { return files_; }
  // Stubs that cannot be read.
  const std::vector<std::string>& damaged() const { return damaged_; }
  // What interrupted moves have left, or moves that are under way.
  const std::vector<std::string>& temporary() const { return temporary_; }
  // Paths in tiers that stubs name.
  const std::set<std::string>& referenced() const { return referenced_; }
  // Bytes of an SST or blob file of the directory that is there, 0 of others.
  uint64_t SizeOf(const std::string& base) const;
  // Returns whether the directory has something of this name, but for a log without a byte: that
  // may be the stub of one.
  bool Has(const std::string& base) const { return bases_.count(base) > 0; }
  // Returns whether there is a folder of the directory in a tier.
  bool HasFolder(const Tier& tier) const;
  // Returns whether a stub without its file is of a log that was being deleted: RocksDB would not
  // replay it.
  bool IsDeletedLog(const File& file, const Database& database) const;
  std::vector<std::string> LostIn(const Tier& tier) const;
  // Stubs that name the tier.
  size_t CountIn(const Tier& tier) const;

  // Files in the folders that no stub names, but for what was put aside. `needed`: the MANIFEST
  // names it, and what is under its name is not it, nor is it in a directory of the option
  // db_paths; or it is a log with records that RocksDB would replay.
  struct Orphan {
    Place place;
    std::string base;  // its name in the directory
    bool needed = false;
  };
  std::vector<Orphan> Orphans(const Database& database) const;
  // Those that are needed, and what is as long as a file that is, of what was put aside.
  std::vector<Orphan> Needed(const Database& database) const;

 private:
  // Whether the MANIFEST names an SST or blob file that is not there.
  bool Lacks(const Database& database, const std::string& base) const;
  bool IsReplayed(const Database& database, const Orphan& orphan) const;
  // `names`: what is in its folder.
  static bool IsGivenUp(const Orphan& orphan, const std::vector<std::string>& names);
  // `below`: "" or "archive/".
  IOStatus Look(const std::string& below);
  IOStatus LookAt(const std::string& base, bool belongs);
  // Whether it is a log at home that has nothing.
  bool IsEmptyLog(const File& file) const;
  // Finds out how long and how old it is; false if it is gone.
  bool Measure(const std::string& path, File* file);

  Namespace* const names_;
  const std::string directory_;
  std::vector<File> files_;
  std::vector<std::string> damaged_;
  std::vector<std::string> temporary_;
  std::set<std::string> bases_;            // in the directory
  std::map<std::string, uint64_t> sizes_;  // of the directory's files that are there
  std::set<std::string> referenced_;       // paths that stubs name
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
