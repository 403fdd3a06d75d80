// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "test/bench/hot/twitter.h"

namespace rocktier_bench {

// The records of a cluster in a database, and what a read of each may find: no older value than
// that of the last write that was over when the read began, nothing if that was a delete, and
// nothing else. A write that goes on meanwhile may be seen or not. Thread-safe.
class TwitterRecords {
 public:
  // Of a database that has the first `loaded` ones as Load() writes them, or will have them before
  // anything else is called.
  TwitterRecords(const TwitterCluster& cluster, uint64_t loaded);

  ROCKSDB_NAMESPACE::Status Load(ROCKSDB_NAMESPACE::DB* db) const;
  ROCKSDB_NAMESPACE::Status Put(ROCKSDB_NAMESPACE::DB* db, uint32_t record);
  ROCKSDB_NAMESPACE::Status Delete(ROCKSDB_NAMESPACE::DB* db, uint32_t record);
  // Corruption: it found what it may not.
  ROCKSDB_NAMESPACE::Status Get(ROCKSDB_NAMESPACE::DB* db, uint32_t record);

 private:
  struct State {
    uint32_t version = 0;  // of the last write that is over; deletes have some, too
    uint32_t deletes = 0;  // that have begun
    bool may_be_absent = true;
  };
  struct Shard {
    std::mutex writing;  // held by who writes a record of it
    std::mutex states_mutex;
    std::vector<State> states;  // guarded by states_mutex, which nobody holds for long
  };

  ROCKSDB_NAMESPACE::Status Write(ROCKSDB_NAMESPACE::DB* db, uint32_t record,
                                  uint32_t version) const;
  std::string KeyOf(uint32_t record) const;
  Shard& ShardOf(uint32_t record) { return shards_[record % shards_.size()]; }
  State StateOf(uint32_t record);
  // By who holds `writing`.
  void Set(uint32_t record, const State& state);

  const TwitterCluster cluster_;
  const uint32_t loaded_;
  std::array<Shard, 1024> shards_;
};

}  // namespace rocktier_bench
