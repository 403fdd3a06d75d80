// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/files/namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Whether a database that is locked may be opened, or worked on, over these tiers; then its folders
// are taken over, until Folders::Release(). InvalidArgument if folders are not its own, or if the
// directory has stubs, and not the name of its folders.
IOStatus Claim(Namespace* names, const std::string& directory);

// An error if tiers have files of an open database that has no CURRENT at `path`: RocksDB would
// make a new one in its place, and delete what the other has.
IOStatus CheckMissingCurrent(Namespace* names, const Database& database, const std::string& path);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
