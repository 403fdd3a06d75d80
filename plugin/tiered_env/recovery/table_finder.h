// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/db/manifest.h"
#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// An SST in a volatile tier, while its database is recovered.
struct VolatileTable {
  std::string base;
  Place place;
  uint64_t size = 0;   // as the MANIFEST has it
  std::string family;  // name of its column family; empty: not known
  bool has_recipe = false;
  bool has_stub = false;
  bool intact = false;    // is there, and what its recipe says
  bool given_up = false;  // cannot be rebuilt
};

// Finds the SSTs of a database that are in volatile tiers, or were, and tells which of them are
// intact. Recovery makes one for each run, with what its recipe log has. Not thread-safe but for
// Check().
class TableFinder {
 public:
  TableFinder(Namespace* names, std::string directory, const RecipeLog* recipe_log,
              const RecipeLogContents& contents, std::shared_ptr<Logger> info_log)
      : names_(names),
        directory_(std::move(directory)),
        recipe_log_(recipe_log),
        contents_(contents),
        info_log_(std::move(info_log)) {}

  // Looks for `tables`, which a MANIFEST names, as it does their column families.
  // InvalidArgument: tiers= is not what it was. Requires that nobody else changes what names stand
  // for.
  IOStatus Find(const std::map<uint64_t, LiveTable>& tables,
                const std::map<uint32_t, std::string>& families);
  // Looks for `blobs`, which the MANIFEST names, of families that have a budget in some tier.
  void FindBlobs(const std::map<uint64_t, LiveBlob>& blobs,
                 const std::map<uint32_t, std::string>& families);
  // Looks for `tables` while others use the database: finds those that have a stub and a recipe.
  // What has not was deleted meanwhile.
  void FindInUse(const std::map<uint64_t, LiveTable>& tables);

  // What was found.
  std::vector<VolatileTable> TakeFound() { return std::move(found_); }
  // An SST or blob file in a durable tier that is there.
  struct Durable {
    const Tier* tier = nullptr;
    uint64_t size = 0;   // bytes
    std::string family;  // as of VolatileTable
  };
  const std::vector<Durable>& durable() const { return durable_; }
  // SSTs in durable tiers that are missing, or not as long as the MANIFEST says.
  const std::vector<std::string>& missing() const { return missing_; }

  // Sets table->intact. Corruption: it is lost, and has no recipe. Another error: the SST or its
  // recipe cannot be looked at.
  IOStatus Check(VolatileTable* table) const;

 private:
  // Whether an SST is in another directory of db_paths, and nothing of it is here.
  bool IsElsewhere(uint64_t number, const LiveTable& live) const;
  IOStatus Classify(uint64_t number, const LiveTable& live, const std::string& family);
  // Refuses a tier that was memory, and is not now.
  IOStatus CheckKind(const VolatileTable& table) const;
  void NoteMissing(const std::string& base);

  Namespace* const names_;
  const std::string directory_;
  const RecipeLog* const recipe_log_;
  const RecipeLogContents& contents_;
  const std::shared_ptr<Logger> info_log_;
  std::vector<VolatileTable> found_;
  std::vector<Durable> durable_;
  std::vector<std::string> missing_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
