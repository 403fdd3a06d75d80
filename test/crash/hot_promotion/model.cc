// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/hot_promotion/model.h"

#include <random>

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

struct Change {
  enum { kPut, kDelete, kMerge, kDeleteRange } kind = kPut;
  std::string key;
  std::string end;  // of a range
  std::string value;
};

Change ChangeOf(uint64_t n) {
  std::mt19937_64 random(n);
  Change change;
  const uint64_t key = n < kHotKeys ? n : kHotKeys + random() % (kKeys - kHotKeys);
  change.key = KeyOf(key);
  change.value = change.key + ":" + std::to_string(n) + ":" +
                 std::string(50 + random() % 150, static_cast<char>('a' + n % 26));
  const uint64_t kind = n < kKeys ? 0 : random() % 100;
  if (kind >= 97) {
    change.kind = Change::kDeleteRange;
    change.end = KeyOf(key + 1 + random() % 10);
  } else if (kind >= 85) {
    change.kind = Change::kDelete;
  } else if (kind >= 75) {
    change.kind = Change::kMerge;
    change.value.resize(20);
  }
  return change;
}

}  // namespace

std::string KeyOf(uint64_t key) { return "key" + std::to_string(100000 + key); }

Status WriteChange(DB* db, uint64_t n) {
  const Change change = ChangeOf(n);
  switch (change.kind) {
    case Change::kDelete:
      return db->Delete(WriteOptions(), change.key);
    case Change::kMerge:
      return db->Merge(WriteOptions(), change.key, change.value);
    case Change::kDeleteRange:
      return db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), change.key, change.end);
    default:
      return db->Put(WriteOptions(), change.key, change.value);
  }
}

void Model::AdvanceTo(uint64_t count) {
  for (; count_ < count; count_++) {
    const Change change = ChangeOf(count_);
    switch (change.kind) {
      case Change::kPut:
        records_[change.key] = change.value;
        break;
      case Change::kDelete:
        records_.erase(change.key);
        break;
      case Change::kMerge: {
        const auto [it, inserted] = records_.emplace(change.key, change.value);
        if (!inserted) {
          it->second += "," + change.value;
        }
        break;
      }
      case Change::kDeleteRange:
        records_.erase(records_.lower_bound(change.key), records_.lower_bound(change.end));
        break;
    }
  }
}

}  // namespace rocktier
