// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plugin/tiered_env/database.h"
#include "plugin/tiered_env/folder.h"
#include "rocksdb/env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

class TieredFileSystem;

// What a database's directory, those below it, and its folders in the tiers hold. Not thread-safe.
class Survey {
 public:
  struct File {
    std::string base;
    Place place;
    uint64_t size = 0;  // bytes
    bool lost = false;  // there is a stub, and no file
    // Whether it counts for budgets: an SST or blob file of this directory, deleted ones that are still
    // in the trash, too.
    bool counts = false;
  };

  Survey(TieredFileSystem* fs, std::string directory) : fs_(fs), directory_(std::move(directory)) {}

  IOStatus Run();

  // The SSTs and blob files of the directory, and everything that has a stub.
  const std::vector<File>& files() const { return files_; }
  // Stubs that cannot be read.
  const std::vector<std::string>& damaged() const { return damaged_; }
  std::vector<std::string> LostIn(const Tier& tier) const;
  // Stubs that name the tier.
  size_t CountIn(const Tier& tier) const;

  // Files in the folders that no stub names. `needed`: those whose stub was lost, for the MANIFEST names them.
  struct Orphan {
    Place place;
    std::string base;  // its name in the directory
    bool needed = false;
  };
  std::vector<Orphan> Orphans(const Database& database) const;
  // Deletes what interrupted work has left: temporary files, and orphans that are not needed. The database
  // must be locked, and its MANIFEST read.
  void DeleteOrphans(const Database& database, Logger* info_log);

 private:
  IOStatus Look(const std::string& directory, bool below);
  IOStatus LookAt(const std::string& path, const std::string& base, bool below);

  TieredFileSystem* const fs_;
  const std::string directory_;
  std::vector<File> files_;
  std::vector<std::string> damaged_;
  std::vector<std::string> temporary_;
  std::set<std::string> names_;       // in the directory
  std::set<std::string> referenced_;  // paths that stubs name
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
