// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Names of files in the hot store's folder that are none of RocksDB's.
constexpr char kRunPrefix[] = "run-";       // of files that are being written
constexpr char kDamagedName[] = "DAMAGED";  // there is one: the store is damaged

inline bool IsOwnName(const std::string& name) {
  return name == kDamagedName || name.compare(0, sizeof(kRunPrefix) - 1, kRunPrefix) == 0;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
