// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RecoveryManager that saves what there is of a database that cannot be recovered, and
// that tries whether it could.

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A recipe log that is damaged has what is sound in it; besides there are the stubs. One that
// cannot be read now may have recipes of SSTs without a stub, and a stub may be of an SST without a
// recipe.
IOStatus RecoveryManager::FindTables(std::map<uint64_t, LiveTable>* tables) const {
  RecipeLog::Contents contents;
  RecipeLog recipe_log(names_->target(), database_->directory());
  IOStatus s = recipe_log.Load(&contents);
  s = s.IsCorruption() ? IOStatus::OK() : s;
  for (auto it = contents.recipes.begin(); s.ok() && it != contents.recipes.end(); ++it) {
    uint64_t number;
    std::string recipe;
    RecipeSummary summary;
    if (ContentOf(it->first, &number) != Content::kTable) {
      continue;
    }
    s = recipe_log.ReadRecipe(it->first, &recipe);
    if (s.ok()) {
      s = AsIOStatus(DecodeSummary(recipe, &summary));
    }
    if (s.ok()) {
      (*tables)[number].size = summary.size;
    }
    s = s.IsCorruption() ? IOStatus::OK() : s;
  }
  std::vector<std::string> names;
  if (s.ok()) {
    s = names_->target()->GetChildren(database_->directory(), IOOptions(), &names, nullptr);
  }
  for (auto it = names.begin(); s.ok() && it != names.end(); ++it) {
    uint64_t number;
    uint64_t size;
    Place place;
    if (ContentOf(*it, &number) != Content::kTable || tables->count(number) > 0) {
      continue;
    }
    s = names_->Resolve(database_->directory() + "/" + *it, &place);
    if (s.ok() && place.stub && place.tier->is_volatile()) {
      s = place.fs()->GetFileSize(place.path, IOOptions(), &size, nullptr);
      if (s.ok()) {
        (*tables)[number].size = size;
      }
    }
    // What is damaged, gone, or in a tier that is not named is nothing to save.
    s = s.IsCorruption() || s.IsInvalidArgument() || IsMissing(s) ? IOStatus::OK() : s;
  }
  return s;
}

IOStatus RecoveryManager::Salvage(const std::map<uint64_t, LiveTable>* tables,
                                  const std::vector<std::string>& gone,
                                  std::vector<std::string>* given_up) {
  const std::string& directory = database_->directory();
  std::map<uint64_t, LiveTable> all;
  IOStatus s = tables == nullptr ? FindTables(&all) : IOStatus::OK();
  Recovery recovery(names_, directory, &recipe_log_, options_.recovery_threads);
  if (s.ok()) {
    s = tables != nullptr
            ? recovery.Salvage(*tables, database_->blobs(), database_->families(), gone)
            : recovery.Salvage(all, {}, {}, gone);
  }
  for (const Recovery::Present& table : recovery.present()) {
    s = s.ok() ? BringAway(table) : s;
  }
  if (!s.ok()) {
    return s;
  }
  for (const Recovery::Failure& failure : recovery.failures()) {
    given_up->push_back(failure.base + ": " + failure.reason);
    const std::string path = directory + "/" + failure.base;
    Place place;
    IOStatus found = names_->Resolve(path, &place);
    if (found.IsCorruption() || (found.ok() && place.stub && place.tier->is_volatile())) {
      names_->target()->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
  s = SyncDirectory(names_->target(), directory);
  return s.ok() ? Remove(*names_, directory) : s;
}

IOStatus RecoveryManager::Rehearse(const std::map<uint64_t, LiveTable>& tables,
                                   const std::vector<std::string>& gone, Rehearsal* result) {
  Recovery recovery(names_, database_->directory(), &recipe_log_, options_.recovery_threads);
  IOStatus s = recovery.Rehearse(tables, gone, &result->refusal);
  result->failures = recovery.failures();
  result->rebuilt = recovery.rebuilt_files();
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
