// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rocksdb/db.h"

namespace rocktier {

constexpr uint64_t kKeys = 3000;
constexpr uint64_t kHotKeys = 200;  // these are written first, and never again

std::string KeyOf(uint64_t key);

// The n-th change of the database, the same in parent and child.
ROCKSDB_NAMESPACE::Status WriteChange(ROCKSDB_NAMESPACE::DB* db, uint64_t n);

// What a database has after the first changes.
class Model {
 public:
  // Less than before is not possible.
  void AdvanceTo(uint64_t count);
  uint64_t count() const { return count_; }  // of changes
  const std::map<std::string, std::string>& records() const { return records_; }

 private:
  uint64_t count_ = 0;
  std::map<std::string, std::string> records_;
};

}  // namespace rocktier
