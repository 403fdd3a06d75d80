// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "plugin/tiered_env/db/manifest.h"
#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/wal/entry_arena.h"
#include "plugin/tiered_env/wal/log_directories.h"
#include "plugin/tiered_env/wal/segments.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Brings the volatile SSTs of a database back after a loss of their tier: those that its MANIFEST
// names and that are not there, or not what their recipes say. Can be interrupted and run again.
// Not thread-safe.
class Recovery {
 public:
  Recovery(Namespace* names, std::string directory, RecipeLog* recipe_log, uint32_t threads);
  ~Recovery();

  // Deletes nothing. Corruption names an SST that cannot be rebuilt, and why. With `salvage` such
  // SSTs are failures(), and so is all that a damaged recipe log would know of.
  IOStatus Run(const std::map<uint64_t, LiveTable>& tables, bool salvage = false);
  // Instead of Run(): rebuilds all SSTs in volatile tiers, whether they are there or not, and
  // compares checksums. Changes nothing. What could not be rebuilt is in failures().
  IOStatus Rehearse(const std::map<uint64_t, LiveTable>& tables);

  // Instead of Run(), while the database is open: rebuilds those of `tables` that have a stub of a
  // volatile tier and a recipe, whether they are there or not. Nobody trims or deletes retained
  // logs meanwhile.
  IOStatus BringBack(const std::map<uint64_t, LiveTable>& tables);

  struct Failure {
    std::string base;
    std::string reason;
  };
  // What is known afterwards.
  const std::vector<Failure>& failures() const { return failures_; }
  const RecipeLog::Contents& keep() const { return keep_; }
  // SSTs whose recipes are in keep() though nobody has taken references for them: they are of no
  // use any more, or something is missing, so that nothing is thrown away.
  const std::set<std::string>& carried() const { return carried_; }
  // Gives the segments that are needed to `logs`.
  void Restore(WalSegments* logs, LogDirectories* directories);
  // Deletes what is retained and was not given: when all that is there is durable without it.
  // Nothing, if an SST that the MANIFEST names is missing.
  void DeleteUnused();
  // SSTs that are there, and have no recipe that would rebuild them.
  struct Present {
    std::string base;
    Place place;
    uint64_t size = 0;  // bytes
  };
  const std::vector<Present>& without_recipe() const { return without_recipe_; }
  // All SSTs in volatile tiers that are there.
  std::vector<Present> present() const;
  uint64_t rebuilt_files() const { return rebuilt_files_; }
  uint64_t rebuilt_bytes() const { return rebuilt_bytes_; }

 private:
  struct Table {
    std::string base;
    Place place;
    uint64_t size = 0;  // as the MANIFEST has it
    bool has_recipe = false;
    bool intact = false;
    bool has_stub = false;
    bool given_up = false;
  };
  struct Loaded {
    LoggedSegment known;
    std::string path;     // empty: it is lost
    std::string problem;  // why
    std::unique_ptr<Segment> segment;
    std::unique_ptr<EntryArena> entries;  // those that are wanted
    std::vector<bool> wanted;
    uint64_t references = 0;
  };
  class Loader;
  class Entries;

  using Work = std::function<IOStatus(size_t)>;
  // Does work(0), work(1)... in several threads. The first error ends it.
  IOStatus ForAll(size_t count, const Work& work) const;

  IOStatus FindTables(const std::map<uint64_t, LiveTable>& tables);
  IOStatus Classify(uint64_t number, const LiveTable& table);
  // Refuses a tier that was memory, and is not now.
  IOStatus CheckKind(const Table& table) const;
  void NoteMissing(const std::string& base);
  // Whether a file that is retained is this database's, and none that is in use by another name.
  bool MayDelete(const std::string& path, const std::set<FileId>& used) const;
  IOStatus Check(Table* table) const;
  IOStatus CollectReferences();
  IOStatus FindLogs();
  IOStatus Load(Loaded* loaded) const;
  IOStatus LoadFrom(const std::string& path, Loaded* loaded) const;
  IOStatus TakeReferences();
  void CarryOver();
  IOStatus Rebuild(Table* table);
  // Reads the logs that recipes refer to.
  IOStatus LoadAll();
  // Does it for each of these; what fails ends it, or is given up.
  IOStatus ForTables(const std::vector<Table*>& tables,
                     const std::function<IOStatus(Table*)>& work);
  // What there is to say of the logs that a recipe refers to and that are lost.
  std::string ProblemsOf(const std::string& recipe) const;
  // To its tier or, where that has no room, durably to another.
  IOStatus Write(Table* table, const Slice& sst);
  IOStatus WriteTo(Tier* tier, Table* table, const Slice& sst);
  // Gives `path` to what was written for it.
  IOStatus NameDurably(const std::string& path, const Place& place, const std::string& written);
  // The same, while others read it.
  IOStatus NameInUse(const std::string& path, const Place& place, const std::string& written);
  // `bytes` of the tier's budget are taken while this lives.
  void Hold(Tier* tier, uint64_t bytes);
  void Progress(uint64_t bytes);

  Namespace* const names_;
  const std::string directory_;
  RecipeLog* const recipe_log_;
  const uint32_t threads_;
  const std::shared_ptr<Logger> info_log_;
  bool salvage_ = false;   // goes on without what cannot be rebuilt
  bool rehearse_ = false;  // writes nothing
  bool in_use_ = false;    // the database is open

  RecipeLog::Contents contents_;
  RecipeLog::Contents keep_;
  std::vector<Table> tables_;
  std::map<uint64_t, Loaded> segments_;
  std::multimap<uint64_t, std::string> retained_;  // by id
  std::multimap<uint64_t, std::string> logs_;      // by RocksDB's number
  std::vector<std::string> temporary_;             // what interrupted trimming has left
  std::vector<std::string> searched_;              // directories
  std::vector<Present> without_recipe_;
  std::set<std::string> carried_;
  std::vector<std::string> missing_;  // SSTs
  std::set<std::string> used_;        // paths of logs that were given away
  uint64_t lost_bytes_ = 0;

  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  // All below: guarded by mutex_.
  std::chrono::steady_clock::time_point reported_;
  uint64_t rebuilt_files_ = 0;
  uint64_t rebuilt_bytes_ = 0;
  std::vector<std::pair<Tier*, uint64_t>> held_;
  std::vector<Failure> failures_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
