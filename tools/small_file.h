// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace rocktier {

// Reads a regular file of at most `most` bytes; NotFound if there is none. Whatever else has the
// name, such as a pipe that nobody writes, is refused and not waited for.
Status ReadSmallFile(const std::string& path, uint64_t most, std::string* text);

}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
