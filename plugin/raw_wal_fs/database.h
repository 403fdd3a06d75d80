// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Finds a closed database for tools, and its logs for whoever opens it.

#pragma once

#include <string>
#include <vector>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Keeps others from opening a database, until fs->UnlockFile(). InvalidArgument: there is no
// database.
IOStatus LockDatabase(FileSystem* fs, const std::string& database, FileLock** lock);

// Finds the directory of a database's logs: its wal_dir, as its OPTIONS say, or its own folder.
// InvalidArgument: that directory is not there.
IOStatus FindWalDir(FileSystem* fs, const std::string& database, std::string* result);

// Finds the paths of a database's logs, in that directory and in its archive, those that wait to be
// deleted and those that somebody keeps included.
IOStatus FindLogs(FileSystem* fs, const std::string& database, std::vector<std::string>* logs);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
