// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"
#include "test/crash/tiered_env/placement_rules.h"

namespace rocktier {

// What a child that will be killed tells its parent; in a file that both map.
struct PlacementShared {
  std::atomic<uint64_t> issued{0};        // writes [0, issued) may have happened
  std::atomic<uint64_t> acknowledged{0};  // writes [0, acknowledged) were acknowledged
  std::atomic<uint64_t> failed{0};        // children that ended by themselves
  std::atomic<uint64_t> refused{0};       // placements that an open database was refused
  std::atomic<uint64_t> configured{0};    // those that its FileSystem got between two openings
};

extern const std::vector<std::string> kPlacementFamilies;  // names of the column families

// What a database has after the first writes. Not thread-safe.
class PlacementModel {
 public:
  // Less than before is not possible.
  void AdvanceTo(uint64_t count);
  const std::map<std::string, std::string>& family(size_t i) const { return families_[i]; }

 private:
  uint64_t count_ = 0;
  std::vector<std::map<std::string, std::string>> families_ =
      std::vector<std::map<std::string, std::string>>(kPlacementFamilies.size());
};

// A database in tiers below a folder, and its FileSystem. Not thread-safe.
class PlacementSite {
 public:
  PlacementSite(std::string folder, PlacementShared* shared)
      : folder_(std::move(folder)), shared_(shared) {}
  ~PlacementSite() { Close(); }
  PlacementSite(const PlacementSite&) = delete;
  PlacementSite& operator=(const PlacementSite&) = delete;

  std::string directory() const { return folder_ + "/db"; }

  // Makes the FileSystem anew, as another process would. The database must be closed.
  // `orphan_retention`: the option.
  ROCKSDB_NAMESPACE::Status NewFs(const std::string& placement,
                                  uint64_t orphan_retention = 7 * 24 * 60 * 60);
  // Gives the FileSystem another placement.
  ROCKSDB_NAMESPACE::Status Configure(const std::string& placement);
  // The same while the database is open: must be refused, and change nothing.
  ROCKSDB_NAMESPACE::Status BeRefused(const std::string& placement);

  // Opens the database, by the FileSystem or, if there is none, by stock RocksDB. `compacts`: it
  // flushes and compacts by itself; else nothing but CompactFiles() makes or deletes SSTs, and what
  // is in logs stays there.
  ROCKSDB_NAMESPACE::Status Open(bool compacts, bool has_listener = true);
  void Close();

  // Does the next writes.
  ROCKSDB_NAMESPACE::Status Write(uint64_t count);
  // Has each family's memtable flushed, by files of this temperature ("kHot").
  ROCKSDB_NAMESPACE::Status Flush(const std::string& temperature);
  // Brings all of L0 of a family to a level.
  ROCKSDB_NAMESPACE::Status PushDown(size_t family, int level);
  // Number of the writes that it has, of those issued.
  ROCKSDB_NAMESPACE::Status Count(uint64_t* count) const;

  // The SSTs and blob files of the database, by name; all but their age.
  std::map<std::string, KnownFile> Files() const;
  // Files and bytes that the mover has put into each whole tier, since the FileSystem has this
  // placement; of all tiers, and nothing else, under "".
  struct Moved {
    uint64_t files = 0;
    uint64_t bytes = 0;
  };
  std::map<std::string, Moved> Moves() const;

  ROCKSDB_NAMESPACE::DB* db() const { return db_.get(); }
  ROCKSDB_NAMESPACE::FileSystem* fs() const { return fs_.get(); }
  const std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*>& families() const { return families_; }

 private:
  ROCKSDB_NAMESPACE::Options OptionsOf(bool compacts, bool has_listener) const;

  const std::string folder_;
  PlacementShared* const shared_;
  std::string placement_;
  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> fs_;
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> families_;
};

// How a child changes the placement.
extern const char* const kByReopening;    // in another process, with another FileSystem
extern const char* const kByOptions;      // of a FileSystem, between two openings
extern const char* const kAgainAndAgain;  // either, and back, while it compacts

// "--placement-child folder how from to point hits seed": writes until it is killed.
bool IsPlacementChild(int argc, char** argv);
int PlacementChildMain(char** argv);

}  // namespace rocktier
