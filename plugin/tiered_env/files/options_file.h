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
// Whether an OPTIONS file says that RocksDB makes each log before it needs it: async_wal_precreate,
// which came with 11.8. False after an error.
bool ReadMakesLogsAhead(FileSystem* fs, const std::string& path);
// The wal_dir of the newest OPTIONS file in a directory; empty if there is none.
IOStatus FindWalDir(FileSystem* fs, const std::string& directory, std::string* wal_dir);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
