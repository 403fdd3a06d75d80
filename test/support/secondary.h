// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/status.h"
#include "rocksdb/version.h"

namespace rocktier {

// Stock RocksDB 11 lets go of an SST that was moved to another level, and opens it again: a
// secondary fails if the primary has deleted it in between (StockSecondary). It says so, and is to
// try again.
inline bool MustTryAgain(const ROCKSDB_NAMESPACE::Status& s) {
  return ROCKSDB_MAJOR >= 11 && s.IsPathNotFound();
}

}  // namespace rocktier
