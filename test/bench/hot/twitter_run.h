// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <cstdio>
#include <mutex>

#include "rocksdb/db.h"
#include "test/bench/common/json_out.h"
#include "test/bench/hot/twitter.h"
#include "test/bench/hot/twitter_records.h"
#include "test/bench/hot/twitter_stream.h"

namespace rocktier_bench {

// Does the operations of a cluster in a database, with several clients. Thread-safe.
class TwitterRun {
 public:
  // `records`: TwitterStream::kLeastRecords or more.
  TwitterRun(const TwitterCluster& cluster, uint64_t records, uint64_t seed);

  ROCKSDB_NAMESPACE::Status Load(ROCKSDB_NAMESPACE::DB* db) const { return records_.Load(db); }

  // The next operation of all clients; each is done once, by whom it was given to.
  TwitterStream::Operation Next();
  // Corruption: a read found what it may not.
  ROCKSDB_NAMESPACE::Status Do(ROCKSDB_NAMESPACE::DB* db,
                               const TwitterStream::Operation& operation);

  // The shares of what Next() has given, and `shares_off`: by how much the one is off that is
  // farthest from the cluster's. Nothing of reads, and no shares_off, if there were few.
  void AddTo(JsonObject* json);

 private:
  const TwitterCluster cluster_;
  std::mutex mutex_;
  TwitterStream stream_;  // guarded by mutex_
  TwitterRecords records_;
};

// Writes the load and then so many operations, one a line, as HotRAP's tools read them: "INSERT
// key bytes-of-value", "READ key", "DELETE key".
ROCKSDB_NAMESPACE::Status PrintTwitterOperations(const TwitterCluster& cluster, uint64_t records,
                                                 uint64_t operations, uint64_t seed,
                                                 std::FILE* file);

}  // namespace rocktier_bench
