// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a path leads to, whatever its text is.

#pragma once

#include <string>

#include "plugin/tiered_env/tier/policy.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A path that means the same in every working directory, without symbolic links as far as it is
// there. FileSystem::GetAbsolutePath() leaves out what is below the working directory.
std::string AbsolutePath(const std::string& path);

// InvalidArgument, naming both, if two of a database's directory and its tiers are one directory,
// by device and inode: what one of them names would be deleted as what the other one does not. Also
// if the path of a tier leads to something else than a directory. A directory that is not there is
// nobody's.
IOStatus CheckDirectories(const Tiers& tiers, const std::string& home);

// Whether a directory is there, and takes no files: its file system is mounted so, or we may not.
bool IsReadOnly(const std::string& directory);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
