// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugin/tiered_env/db/sweep.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/tier/policy.h"
#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Setup: TieredOptions, checked, and the FileSystems of tiers made of them.
struct Setup {
  Policy policy;
  RecoveryOptions recovery;
  Retention retention;
  std::vector<std::string> beside;  // directories of TieredOptions::db_paths
};

// Makes it, and changes nothing in the tiers. InvalidArgument names the option that is wrong.
// `target`: null if nothing will be done with it; the tiers have no FileSystem then, and none of
// their directories is looked at.
Status MakeSetup(const TieredOptions& options, const std::shared_ptr<FileSystem>& target,
                 Setup* result);

// Returns a text that differs if the options do: a line "name=value" for each.
std::string TextOf(const TieredOptions& options);
// Returns the first line of `after`, such a text, that `before` has not.
std::string FirstChange(const std::string& before, const std::string& after);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
