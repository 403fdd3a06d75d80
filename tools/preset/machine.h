// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What presets read from the machine.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace preset {

// Bytes that are free for users on the file system of a directory.
Status FreeBytes(const std::string& directory, uint64_t* bytes);

// Bytes of a block device or a regular file.
Status DeviceBytes(const std::string& path, uint64_t* bytes);

// A line of /proc/meminfo, "MemTotal". `root`: instead of "", for tests.
Status MemInfo(const std::string& root, const std::string& name, uint64_t* bytes);

// Memory that the kernel calls available, or the limit of a cgroup that this process is in if that
// is less. `from`: which of them it is.
Status AvailableMemory(const std::string& root, uint64_t* bytes, std::string* from);

// Whether both are on one file system. False if that cannot be told.
bool OnOneFileSystem(const std::string& directory, const std::string& other);

// Whether the file system of a directory is mounted with DAX.
bool HasDax(const std::string& directory);

}  // namespace preset
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
