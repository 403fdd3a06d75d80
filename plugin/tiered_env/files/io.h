// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// I/O of small files and of directories, as all rooms above do it. Thread-safe.

#pragma once

#include <string>

#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

inline bool IsMissing(const IOStatus& s) { return s.IsNotFound() || s.IsPathNotFound(); }

inline IOStatus AsIOStatus(const Status& s) { return status_to_io_status(Status(s)); }

// Reads a small file as a whole, but not more than `most` bytes.
IOStatus ReadSmallFile(FileSystem* fs, const std::string& path, size_t most, std::string* contents);

// Writes a small file as a whole, durably but for its name.
IOStatus WriteSmallFile(FileSystem* fs, const std::string& path, const std::string& contents);

// Ends the writing of a file that was begun with this status: makes it durable if that is OK.
// `file` may be null after an error.
IOStatus SyncAndClose(IOStatus s, FSWritableFile* file);

// Makes the names in a directory durable.
IOStatus SyncDirectory(FileSystem* fs, const std::string& path);

// Deletes a folder in a tier with what is in it, and in its lost/.
IOStatus DeleteAll(FileSystem* fs, const std::string& directory);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
