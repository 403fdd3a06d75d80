// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Space: what identifies the records of one column family of one database: a hash of the DB id and
// the family's id. Different spaces never mix.
using Space = uint64_t;

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
