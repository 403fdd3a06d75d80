// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is known of a cache cluster of Twitter, and what its records are. test/bench/hot/twitter.py
// has the clusters that are measured, and where each figure is from.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rocksdb/status.h"

namespace rocktier_bench {

struct TwitterCluster {
  size_t key_size = 0;    // bytes of each
  size_t value_size = 0;  // bytes, on average
  // Shares of the operations. All others read; as many of these as there are deletes read a record
  // that was deleted.
  double puts = 0;
  double deletes = 0;
  // Share of the puts whose record was not there. At least as many as deletes.
  double inserts = 0;
  // Shares of the reads that find a record, as section 4.3 of the HotRAP paper defines them. Sunk:
  // since the record was written, more than 5% of the database's bytes were written. Hot: since it
  // was read, fewer than 5% of them were read. Whether a read is sunk and whether it is hot are
  // independent.
  double sunk = 0;
  double hot = 0;
};

// Of "key=24;value=170;puts=0.03;deletes=0;inserts=0.7;sunk=0.9;hot=0.6". InvalidArgument: says
// what is wrong.
ROCKSDB_NAMESPACE::Status ParseTwitterCluster(const std::string& text, TwitterCluster* cluster);

// `record`: below 2^32 - 1. Keys are in an order that has nothing to do with the numbers. No part
// of a key is that of all.
void MakeTwitterKey(const TwitterCluster& cluster, uint64_t record, std::string* key);

// From a half to one and a half of the average: all are as frequent. A record keeps its size.
size_t TwitterValueSize(const TwitterCluster& cluster, uint64_t record);

}  // namespace rocktier_bench
