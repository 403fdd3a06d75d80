// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// DBOptions::wal_dir as an OPTIONS file has it, without a slash at its end; empty if it is not set.
IOStatus ReadWalDir(FileSystem* fs, const std::string& path, std::string* wal_dir);
// DBOptions::stats_dump_period_sec as an OPTIONS file has it.
IOStatus ReadStatsPeriod(FileSystem* fs, const std::string& path, uint64_t* seconds);
// The wal_dir of the newest OPTIONS file in a directory; empty if there is none.
IOStatus FindWalDir(FileSystem* fs, const std::string& directory, std::string* wal_dir);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
