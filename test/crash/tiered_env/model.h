// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace rocktier {

constexpr size_t kFamilies = 2;        // column families
extern const char* const kCountKey;    // in the first one; has the number of batches
extern const char* const kFamilyName;  // of the second one

// The n-th batch of writes: the same in parent and child. It puts n + 1 under kCountKey.
ROCKSDB_NAMESPACE::Status MakeBatch(
    uint64_t n, const std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*>& families,
    ROCKSDB_NAMESPACE::WriteBatch* batch);

// What a database has after the first batches. Not thread-safe.
class Model {
 public:
  // Less than before is not possible.
  void AdvanceTo(uint64_t count);
  const std::map<std::string, std::string>& family(size_t i) const { return families_[i]; }

 private:
  uint64_t count_ = 0;
  std::map<std::string, std::string> families_[kFamilies];
};

}  // namespace rocktier
