// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RecoveryManager that saves SSTs in memory from retained logs that are damaged: they
// would be lost with the memory.

#include <algorithm>

#include "logging/logging.h"
#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

bool RefersTo(const std::string& recipe, const std::set<uint64_t>& segments) {
  bool found = false;
  ForEachReference(recipe, [&](const Reference& reference) {
    found = found || segments.count(reference.segment) > 0;
  }).PermitUncheckedError();  // was read before
  return found;
}

}  // namespace

void RecoveryManager::NoteDamaged(const IOStatus& reason) {
  damaged_logs_.fetch_add(1, std::memory_order_relaxed);
  persist_from_ = std::chrono::steady_clock::time_point();
  persist_pause_ = kLeastPause;
  ROCKS_LOG_ERROR(
      names_->InfoLog(database_->directory()),
      "tiered_env: a retained log is damaged: SSTs in memory that need it are brought to "
      "other tiers: %s",
      reason.ToString().c_str());
}

// Again and again: recipes of SSTs that were being written may refer to it, too.
void RecoveryManager::PersistDamaged(std::chrono::steady_clock::time_point now) {
  if (now < persist_from_) {
    return;
  }
  const std::set<uint64_t> damaged = logs_.Damaged();
  if (damaged.empty()) {
    return;
  }
  persist_pause_ = std::min(2 * persist_pause_, kMostPause);
  for (Database::Misplaced& file : database_->FindVolatile(names_->policy())) {
    std::string recipe;
    if (stop_.load(std::memory_order_relaxed) || !recipe_log_.ReadRecipe(file.base, &recipe).ok() ||
        !RefersTo(recipe, damaged)) {
      continue;
    }
    persist_pause_ = kLeastPause;
    IOStatus s = relocator_->BringAway(database_, &file, nullptr);
    relocator_->Report(database_->directory() + "/" + file.base, file, s);
  }
  persist_from_ = std::chrono::steady_clock::now() + persist_pause_;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
