// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/onlooker.h"

#include "plugin/tiered_env/name.h"
#include "plugin/tiered_env/recipe.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A recipe log that cannot be read says nothing; neither does it to whoever recovers the database.
bool Onlooker::HasRecipe(const std::string& path, uint64_t* size) {
  const std::string directory = DirectoryOf(path);
  std::lock_guard<std::mutex> lock(mutex_);
  std::unique_ptr<Ledger>& ledger = ledgers_[directory];
  if (ledger == nullptr) {
    ledger = std::make_unique<Ledger>(fs_, directory);
  }
  std::string recipe;
  RecipeSummary summary;
  if (!ledger->Follow().ok() || !ledger->ReadRecipe(BaseOf(path), &recipe).ok()) {
    return false;
  }
  DecodeSummary(recipe, &summary).PermitUncheckedError();
  *size = summary.size;
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
