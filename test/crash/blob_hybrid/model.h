// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace rocktier {

// The n-th change of the database, the same in parent and child: one to six puts of values of all
// sizes, merges, deletions and range deletions.
ROCKSDB_NAMESPACE::Status MakeChange(uint64_t n, ROCKSDB_NAMESPACE::WriteBatch* batch);

// What a database has after the first changes.
class Model {
 public:
  using Records = std::map<std::string, std::string>;

  // Less than before is not possible.
  ROCKSDB_NAMESPACE::Status AdvanceTo(uint64_t count);
  const Records& records() const { return records_; }

 private:
  uint64_t count_ = 0;
  Records records_;
};

}  // namespace rocktier
