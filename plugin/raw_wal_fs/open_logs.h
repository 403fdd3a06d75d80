// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The logs that this process writes, whichever of its FileSystems created them.

#pragma once

#include <memory>

#include "plugin/raw_wal_fs/log_writer.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Makes a log known to FindOpenLog(), as long as it lives. RawWalFileSystem calls this before the
// log has a stub. Thread-safe.
void AddOpenLog(const std::shared_ptr<LogWriter>& log);

// Returns the log if this process writes it to this volume, else null. Whoever has found a stub
// calls this before it looks for the log on the device. Thread-safe.
std::shared_ptr<LogWriter> FindOpenLog(const Volume& volume, LogId log);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
