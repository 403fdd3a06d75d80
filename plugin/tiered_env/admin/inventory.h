// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What tools see of recipes and retained logs. Nothing is changed; the database may be open.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/recipe/recipe_log.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// RecipeLog::Load(), again if the recipe log is replaced meanwhile.
IOStatus LoadRecipes(RecipeLog* recipe_log, RecipeLog::Contents* contents);

// Paths of the database's retained logs, by id; rewritten ones first.
std::multimap<uint64_t, std::string> FindRetainedLogs(const AdminSession& session,
                                                      const RecipeLog::Contents& contents);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
