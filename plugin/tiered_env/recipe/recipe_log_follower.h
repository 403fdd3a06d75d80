// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/tiered_env/recipe/recipe_log.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Knows which SSTs of databases that others have open, or nobody, are in volatile tiers: by their
// recipe logs, which it follows. Secondary instances take an SST that is not there for one that was
// deleted, and go on with an older state of the database; with a recipe it is lost, for a recipe is
// dropped before its SST is deleted. Thread-safe.
class RecipeLogFollower {
 public:
  // `fs` shows all that is in directories.
  explicit RecipeLogFollower(FileSystem* fs) : fs_(fs) {}

  // Whether an SST has a recipe, and the size of the SST, in bytes. To be asked when the SST was
  // found missing, not before.
  bool HasRecipe(const std::string& path, uint64_t* size);

 private:
  FileSystem* const fs_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<RecipeLog>>
      recipe_logs_;  // by directory; guarded by mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
