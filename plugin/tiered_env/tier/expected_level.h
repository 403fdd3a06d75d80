// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The level of an SST, and the column family of an SST or blob file, that is about to be written.
// The listener tells, the FileSystem asks: both know the path, and nothing of each other.
// Thread-safe.
struct ExpectedLevel {
  int level = 0;
  uint32_t column_family = 0;
  std::string family;  // its name
};

void ExpectLevel(const std::string& path, const ExpectedLevel& expected);
// False if nobody has told. Forgets it.
bool TakeExpectedLevel(const std::string& path, ExpectedLevel* expected);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
