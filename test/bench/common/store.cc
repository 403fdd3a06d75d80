// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/store.h"

#include <limits>
#include <string>

#include "test/bench/common/records.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::ColumnFamilyHandle;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace {

ColumnFamilyHandle* FamilyOrDefault(DB* db, ColumnFamilyHandle* family) {
  return family == nullptr ? db->DefaultColumnFamily() : family;
}

}  // namespace

Status PutRecord(DB* db, uint64_t key, uint64_t version, size_t value_size,
                 ColumnFamilyHandle* family) {
  std::string name;
  std::string value;
  MakeKey(key, &name);
  MakeValue(key, version, value_size, &value);
  return db->Put(WriteOptions(), FamilyOrDefault(db, family), name, value);
}

Status GetRecord(DB* db, uint64_t key, size_t value_size, uint64_t oldest,
                 ColumnFamilyHandle* family) {
  std::string name;
  std::string value;
  MakeKey(key, &name);
  Status s = db->Get(ReadOptions(), FamilyOrDefault(db, family), name, &value);
  if (s.ok() &&
      !ValueIsRight(value, key, oldest, std::numeric_limits<uint64_t>::max(), value_size)) {
    s = Status::Corruption(name, "has another value than was written");
  }
  return s;
}

}  // namespace rocktier_bench
