// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/recipe/recipe_log_follower.h"

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/recipe/format.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A recipe log that cannot be read says nothing; neither does it to whoever recovers the database.
bool RecipeLogFollower::HasRecipe(const std::string& path, uint64_t* size) {
  const std::string directory = DirectoryOf(path);
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<RecipeLog>& recipe_log = recipe_logs_[directory];
  if (recipe_log == nullptr) {
    recipe_log = std::make_unique<RecipeLog>(fs_, directory);
  }
  std::string recipe;
  RecipeSummary summary;
  if (!recipe_log->Follow().ok() || !recipe_log->ReadRecipe(BaseOf(path), &recipe).ok()) {
    return false;
  }
  DecodeSummary(recipe, &summary).PermitUncheckedError();
  *size = summary.size;
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
