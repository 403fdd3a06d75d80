// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/hot/twitter_records.h"

#include "test/bench/common/records.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Status;
using ROCKSDB_NAMESPACE::WriteOptions;

TwitterRecords::TwitterRecords(const TwitterCluster& cluster, uint64_t loaded)
    : cluster_(cluster), loaded_(static_cast<uint32_t>(loaded)) {
  State there;
  there.may_be_absent = false;
  for (Shard& shard : shards_) shard.states.reserve(loaded_ / shards_.size() + 1);
  for (uint32_t record = 0; record < loaded_; record++) {
    ShardOf(record).states.push_back(there);
  }
}

Status TwitterRecords::Load(DB* db) const {
  Status s;
  for (uint32_t record = 0; s.ok() && record < loaded_; record++) s = Write(db, record, 0);
  return s;
}

Status TwitterRecords::Put(DB* db, uint32_t record) {
  std::lock_guard<std::mutex> lock(ShardOf(record).writing);
  State state = StateOf(record);
  state.version++;
  state.may_be_absent = false;
  const Status s = Write(db, record, state.version);
  if (s.ok()) Set(record, state);
  return s;
}

Status TwitterRecords::Delete(DB* db, uint32_t record) {
  std::lock_guard<std::mutex> lock(ShardOf(record).writing);
  State state = StateOf(record);
  state.deletes++;
  state.may_be_absent = true;
  Set(record, state);
  const Status s = db->Delete(WriteOptions(), KeyOf(record));
  state.version++;
  if (s.ok()) Set(record, state);
  return s;
}

Status TwitterRecords::Get(DB* db, uint32_t record) {
  const std::string key = KeyOf(record);
  const State before = StateOf(record);
  std::string value;
  const Status s = db->Get(ReadOptions(), key, &value);
  const State after = StateOf(record);
  if (s.IsNotFound()) {
    return before.may_be_absent || after.deletes != before.deletes
               ? Status::OK()
               : Status::Corruption(key, "is not there, and nobody has deleted it");
  }
  // A write that goes on has the next version.
  const uint64_t newest = uint64_t{after.version} + 1;
  if (s.ok() &&
      (value.size() < kMinValueSize ||
       !ValueIsRight(value, record, before.version, newest, TwitterValueSize(cluster_, record)))) {
    return Status::Corruption(key, "has another value than was written last");
  }
  return s;
}

Status TwitterRecords::Write(DB* db, uint32_t record, uint32_t version) const {
  std::string value;
  MakeValue(record, version, TwitterValueSize(cluster_, record), &value);
  return db->Put(WriteOptions(), KeyOf(record), value);
}

std::string TwitterRecords::KeyOf(uint32_t record) const {
  std::string key;
  MakeTwitterKey(cluster_, record, &key);
  return key;
}

TwitterRecords::State TwitterRecords::StateOf(uint32_t record) {
  Shard& shard = ShardOf(record);
  const size_t place = record / shards_.size();
  std::lock_guard<std::mutex> lock(shard.states_mutex);
  return place < shard.states.size() ? shard.states[place] : State();
}

void TwitterRecords::Set(uint32_t record, const State& state) {
  Shard& shard = ShardOf(record);
  const size_t place = record / shards_.size();
  std::lock_guard<std::mutex> lock(shard.states_mutex);
  if (place >= shard.states.size()) shard.states.resize(place + 1);
  shard.states[place] = state;
}

}  // namespace rocktier_bench
