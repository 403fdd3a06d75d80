// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Whether an error comes from what is on the disk, and will come again. Only then may a store or an
// access table begin anew. All others (too few descriptors, EIO, no space, busy) may pass.
inline bool IsLasting(const Status& s) {
  return s.IsCorruption() || s.IsNotSupported() || s.IsNotFound() || s.IsPathNotFound();
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
