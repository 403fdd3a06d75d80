// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/blob/oracle.h"

#include <algorithm>
#include <fstream>

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

namespace {

constexpr uint32_t kFirst = 1;

Status Wrong(const std::string& key, const std::string& what) {
  return Status::Corruption(key, what);
}

}  // namespace

Status Oracle::Load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<uint32_t> versions;
  uint32_t version = 0;
  while (in.read(reinterpret_cast<char*>(&version), sizeof(version))) versions.push_back(version);
  if (versions.empty()) return Status::IOError(path, "cannot be read, or is empty");
  versions_ = std::vector<std::atomic<uint32_t>>(versions.size() + room_);
  for (uint64_t n = 0; n < versions.size(); n++) {
    versions_[n] = versions[n];
    live_bytes_ += SizedRecords::kKeySize + records_.ValueSize(n, versions[n]);
  }
  count_ = versions.size();
  return Status::OK();
}

Status Oracle::Save(const std::string& path) const {
  std::ofstream out(path, std::ios::binary);
  for (uint64_t n = 0; n < count_; n++) {
    const uint32_t version = versions_[n];
    out.write(reinterpret_cast<const char*>(&version), sizeof(version));
  }
  out.close();
  return out.good() ? Status::OK() : Status::IOError(path, "cannot be written");
}

Status Oracle::Put(DB* db, uint64_t number, uint64_t* bytes) {
  if (number >= versions_.size()) return Status::InvalidArgument("no room for more records");
  std::string key, value;
  SizedRecords::MakeKey(number, &key);
  const std::lock_guard<std::mutex> lock(locks_[number % locks_.size()]);
  const uint32_t before = versions_[number];
  records_.MakeValue(number, before + 1, &value);
  const Status s = db->Put(WriteOptions(), key, value);
  if (!s.ok()) return s;
  versions_[number] = before + 1;
  if (before == 0) {
    count_++;
    live_bytes_ += key.size() + value.size();
  } else {
    live_bytes_ += value.size();
    live_bytes_ -= records_.ValueSize(number, before);
  }
  *bytes += key.size() + value.size();
  return trace_ == nullptr ? s : trace_->Add(number, value.size());
}

Status Oracle::Get(DB* db, uint64_t number, uint64_t* bytes) {
  std::string key;
  ROCKSDB_NAMESPACE::PinnableSlice value;
  SizedRecords::MakeKey(number, &key);
  const uint32_t oldest = versions_[number];
  Status s = db->Get(ReadOptions(), db->DefaultColumnFamily(), key, &value);
  if (s.IsNotFound() && oldest == 0) return Status::OK();  // another thread is about to write it
  if (s.IsNotFound()) return Wrong(key, "is lost");
  if (!s.ok()) return s;
  // A write may be under way.
  if (!records_.IsRight(value, number, std::max(oldest, kFirst), versions_[number] + 1)) {
    return Wrong(key, "has another value than was written");
  }
  *bytes += key.size() + value.size();
  return s;
}

Status Oracle::Check(const Iterator& it, bool exact) const {
  const uint64_t number = SizedRecords::NumberOf(it.key());
  std::string key = it.key().ToString();
  if (number >= versions_.size()) return Wrong(key, "was never written");
  std::string expected;
  SizedRecords::MakeKey(number, &expected);
  const uint32_t version = versions_[number];
  const bool right =
      key == expected && (exact ? version > 0 : true) &&
      records_.IsRight(it.value(), number, exact ? version : kFirst, exact ? version : version + 1);
  return right ? Status::OK() : Wrong(key, "has another value than was written");
}

Status Oracle::Scan(DB* db, uint64_t number, int count, uint64_t* bytes) {
  std::string from, last;
  SizedRecords::MakeKey(number, &from);
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  Status s;
  for (it->Seek(from); s.ok() && it->Valid() && count > 0; it->Next(), count--) {
    s = Check(*it, false);
    if (s.ok() && last >= it->key().ToString()) s = Wrong(last, "is not before the next key");
    last = it->key().ToString();
    *bytes += it->key().size() + it->value().size();
  }
  return s.ok() ? it->status() : s;
}

Status Oracle::CheckAll(DB* db) const {
  const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  uint64_t found = 0;
  Status s;
  for (it->SeekToFirst(); s.ok() && it->Valid(); it->Next(), found++) s = Check(*it, true);
  if (s.ok()) s = it->status();
  if (s.ok() && found != count_) {
    s = Status::Corruption("there are " + std::to_string(found) + " records",
                           "not " + std::to_string(count_));
  }
  return s;
}

}  // namespace rocktier_bench
