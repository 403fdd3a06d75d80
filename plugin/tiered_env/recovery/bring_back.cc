// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RecoveryManager that rebuilds what a volatile tier loses while the database is open.

#include <vector>

#include "logging/logging.h"
#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostTries = 3;  // a log or the recipe log may get another name meanwhile

}  // namespace

std::map<uint64_t, LiveTable> RecoveryManager::FindLost() const {
  std::map<uint64_t, LiveTable> lost;
  for (const Database::Misplaced& file : database_->FindVolatile(names_->policy())) {
    uint64_t number;
    Place place;
    if (ContentOf(file.base, &number) == Content::kTable && Has(file.base) &&
        names_->Resolve(database_->directory() + "/" + file.base, &place).ok() && place.stub &&
        place.tier->is_volatile() &&
        IsMissing(place.fs()->FileExists(place.path, IOOptions(), nullptr))) {
      lost[number].size = file.size;
    }
  }
  return lost;
}

// What cannot be rebuilt keeps nothing else from being so.
IOStatus RecoveryManager::BringBack() {
  std::lock_guard<std::mutex> lock(retained_mutex_);
  std::map<uint64_t, LiveTable> lost = FindLost();
  if (lost.empty()) {  // somebody else has done it
    return IOStatus::OK();
  }
  const std::shared_ptr<Logger> info_log = names_->InfoLog(database_->directory());
  ROCKS_LOG_ERROR(info_log, "tiered_env: %zu SSTs in memory are gone, and are rebuilt",
                  lost.size());
  IOStatus s;
  std::vector<Recovery::Failure> failures;
  for (int i = 0; !lost.empty() && i < kMostTries; i++) {
    RecipeLog recipe_log(names_->target(), database_->directory());
    Recovery recovery(names_, database_->directory(), &recipe_log, options_.recovery_threads);
    s = recovery.BringBack(lost);
    failures = recovery.failures();
    rebuilt_files_.fetch_add(recovery.rebuilt_files(), std::memory_order_relaxed);
    rebuilt_bytes_.fetch_add(recovery.rebuilt_bytes(), std::memory_order_relaxed);
    lost = FindLost();
  }
  for (const Recovery::Failure& failure : failures) {
    ROCKS_LOG_ERROR(info_log, "tiered_env: cannot rebuild what is gone: %s",
                    failure.reason.c_str());
  }
  if (!s.ok()) {
    ROCKS_LOG_ERROR(info_log, "tiered_env: cannot rebuild what is gone: %s", s.ToString().c_str());
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
