// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Traces of operations in files, in the format of Twitter's cache traces
// (https://github.com/twitter/cache-trace): one operation on each line,
//
//   time,key,key size,value size,client,operation,TTL
//
// Of these, key and operation are used: "get" and "gets" read; "delete" is left out; all others
// write. A key is any string without a comma; it stands for the record of the number that its hash
// has, modulo the number of records, so that any trace can be used with any database. Lines that
// are not like that are an error.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb/status.h"

namespace rocktier_bench {

class Trace {
 public:
  struct Operation {
    uint64_t record;
    bool is_read;
  };

  // IOError, Corruption: the file and the line are named.
  ROCKSDB_NAMESPACE::Status Read(const std::string& file, uint64_t records);

  bool empty() const { return operations_.empty(); }
  // Begins anew at the end.
  Operation At(uint64_t n) const {
    const uint64_t operation = operations_[n % operations_.size()];
    return {operation >> 1, (operation & 1) != 0};
  }

 private:
  std::vector<uint64_t> operations_;
};

// Writes a trace such as Twitter's clusters of mostly reads have: `operations` to `keys` keys by
// Zipf's law, of which one in ten writes, and whose popularity moves on: in the course of the trace
// a fifth of the keys changes places.
ROCKSDB_NAMESPACE::Status WriteTrace(const std::string& file, uint64_t operations, uint64_t keys,
                                     uint64_t value_size, uint64_t seed);

}  // namespace rocktier_bench
