// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that finds out whether a database may be opened over these tiers.

#include "logging/logging.h"
#include "plugin/tiered_env/fs.h"
#include "plugin/tiered_env/identity.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

IOStatus TieredFileSystem::Claim(const std::string& directory) {
  IOStatus s = CheckDirectories(policy_.tiers, directory);
  return s.ok() ? folders_->CheckOwner(directory) : s;
}

void TieredFileSystem::LookForReadOnly(const std::string& directory) {
  for (const auto& tier : policy_.tiers) {
    const bool read_only = !tier->is_home() && IsReadOnly(tier->options().path);
    if (tier->SetReadOnly(read_only)) {
      const std::shared_ptr<Logger> info_log = InfoLog(directory);
      ROCKS_LOG_WARN(info_log, "tiered_env: %s is %s", tier->ToString().c_str(),
                     read_only ? "read-only: what is there stays, and nothing goes there"
                               : "not read-only any more");
    }
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
