// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>

#include "rocksdb/db.h"

namespace rocktier_bench {

// Writes the record of a key number, see records.h. `family`: null: the default one.
ROCKSDB_NAMESPACE::Status PutRecord(ROCKSDB_NAMESPACE::DB* db, uint64_t key, uint64_t version,
                                    size_t value_size,
                                    ROCKSDB_NAMESPACE::ColumnFamilyHandle* family = nullptr);

// Reads it. Corruption: it has another value than was ever written, or an older version than
// `oldest`.
ROCKSDB_NAMESPACE::Status GetRecord(ROCKSDB_NAMESPACE::DB* db, uint64_t key, size_t value_size,
                                    uint64_t oldest = 0,
                                    ROCKSDB_NAMESPACE::ColumnFamilyHandle* family = nullptr);

}  // namespace rocktier_bench
