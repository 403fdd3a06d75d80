// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/files/namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Takes over the folders of a database that is locked, until Folders::Release(): called before it
// is opened, or worked on by a tool. InvalidArgument if folders are not its own, or if the
// directory has stubs, and not the name of its folders.
IOStatus Claim(Namespace* names, const std::string& directory);

// Refuses what Claim() would, but for Busy, and changes nothing.
IOStatus CheckClaim(Namespace* names, const std::string& directory);

// Returns an error if tiers have files of an open database that has no CURRENT at `path`: RocksDB
// would make a new one in its place, and delete what the other has.
IOStatus CheckMissingCurrent(Namespace* names, const Database& database, const std::string& path);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
