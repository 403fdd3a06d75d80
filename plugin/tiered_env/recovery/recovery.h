// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

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
#include "plugin/tiered_env/recovery/buffers.h"
#include "plugin/tiered_env/recovery/segment_loader.h"
#include "plugin/tiered_env/recovery/table_finder.h"
#include "plugin/tiered_env/recovery/table_writer.h"
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

  // Names of column families by id, as the MANIFEST has them; empty: they are not known.
  using Families = std::map<uint32_t, std::string>;

  // Deletes nothing. Corruption names an SST that cannot be rebuilt, and why. `blobs`: what counts
  // in the budgets of column families, too.
  IOStatus Run(const std::map<uint64_t, LiveTable>& tables,
               const std::map<uint64_t, LiveBlob>& blobs, const Families& families);
  // The same, but such SSTs are failures(), and so are those whose recipes are damaged; what cannot
  // be read now, or by this version, is an error. So is a directory of logs that are needed whose
  // disk may not be mounted, if it is not in `gone`.
  IOStatus Salvage(const std::map<uint64_t, LiveTable>& tables,
                   const std::map<uint64_t, LiveBlob>& blobs, const Families& families,
                   const std::vector<std::string>& gone);
  // Rebuilds all SSTs in volatile tiers, instead of Run(), whether they are there or not, and
  // compares checksums. Changes nothing. What could not be rebuilt is in failures(). *refusal: why
  // Salvage() would be refused for a directory; empty: it would not.
  IOStatus Rehearse(const std::map<uint64_t, LiveTable>& tables,
                    const std::vector<std::string>& gone, std::string* refusal);

  // Rebuilds those of `tables` that have a stub of a volatile tier and a recipe, whether they are
  // there or not: instead of Run(), while the database is open. What cannot be rebuilt is in
  // failures(). Requires that nobody trims or deletes retained logs meanwhile.
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
  void Restore(WalSegments* logs, LogDirectories* directories) {
    segments_.Restore(logs, directories);
  }
  // Whether no SST that the MANIFEST names is missing, and no log is a newer home's.
  bool complete() const { return finder_.missing().empty() && segments_.alien().empty(); }
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
  using Work = std::function<IOStatus(size_t)>;
  // Does work(0), work(1)... in several threads. The first error ends it.
  IOStatus ForAll(size_t count, const Work& work) const;
  // Does it for each of these; what fails ends it, or is given up.
  IOStatus ForTables(const std::vector<VolatileTable*>& tables,
                     const std::function<IOStatus(VolatileTable*)>& work);
  std::vector<VolatileTable*> All();

  IOStatus FindTables(const std::map<uint64_t, LiveTable>& tables,
                      const std::map<uint64_t, LiveBlob>& blobs, const Families& families);
  // Corruption: an SST is missing, and the recipe log is damaged.
  IOStatus CheckDamage() const;
  // Reads the logs that recipes refer to.
  IOStatus LoadSegments();
  IOStatus CollectReferences();
  // TableFinder::Check().
  IOStatus Check(VolatileTable* table);
  IOStatus Rebuild(VolatileTable* table);
  // Whether SSTs that cannot be rebuilt are failures(), and the others are rebuilt.
  bool goes_on() const { return salvage_ || rehearse_ || in_use_; }
  // Whether an SST is lost for that: not for what another attempt, or another version, may read.
  bool IsFinal(const Status& why) const;
  IOStatus NotYet(const VolatileTable& table, const Status& why) const;
  // The error of an SST that cannot be rebuilt.
  IOStatus NotRebuilt(const VolatileTable& table, const std::string& recipe,
                      const Status& why) const;
  IOStatus RebuildIn(char* sst, const std::string& recipe, VolatileTable* table);
  IOStatus TakeReferences();
  // `complete`: the SST's recipe would rebuild it; else no reference is taken.
  IOStatus TakeReferencesOf(const VolatileTable& table, bool* complete);
  void CarryOver();
  void Progress(uint64_t bytes);

  Namespace* const names_;
  const std::string directory_;
  RecipeLog* const recipe_log_;
  const uint32_t threads_;
  const std::shared_ptr<Logger> info_log_;
  bool salvage_ = false;           // goes on without what cannot be rebuilt
  std::vector<std::string> gone_;  // directories of logs
  bool rehearse_ = false;          // writes nothing
  bool in_use_ = false;            // the database is open

  RecipeLog::Contents contents_;
  RecipeLog::Contents keep_;
  TableFinder finder_;
  SegmentLoader segments_;
  TableWriter writer_;
  Buffers buffers_;
  std::vector<VolatileTable> tables_;
  std::vector<Present> without_recipe_;
  std::set<std::string> carried_;
  uint64_t lost_bytes_ = 0;

  std::chrono::steady_clock::time_point start_;
  std::mutex mutex_;
  // All below: guarded by mutex_.
  std::chrono::steady_clock::time_point reported_;
  uint64_t rebuilt_files_ = 0;
  uint64_t rebuilt_bytes_ = 0;
  std::vector<Failure> failures_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
