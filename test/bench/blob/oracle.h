// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "test/bench/blob/sized_records.h"
#include "test/bench/blob/write_trace.h"

namespace rocktier_bench {

// Writes and reads the records of a database, and knows which version each of them has: every
// answer is checked. Thread-safe, but for Load(), Save() and CheckAll().
class Oracle {
 public:
  // For so many records, besides those of Load().
  Oracle(const SizedRecords& records, uint64_t room)
      : records_(records), room_(room), versions_(room) {}

  // Of a file that Save() has made for a database.
  ROCKSDB_NAMESPACE::Status Load(const std::string& path);
  ROCKSDB_NAMESPACE::Status Save(const std::string& path) const;

  // Has each put from now on written to a trace, which must outlive it; null: to none.
  void TraceTo(WriteTrace* trace) { trace_ = trace; }

  // Bytes of keys and values are added to `bytes`. Corruption: an answer is wrong.
  ROCKSDB_NAMESPACE::Status Put(ROCKSDB_NAMESPACE::DB* db, uint64_t number, uint64_t* bytes);
  ROCKSDB_NAMESPACE::Status Get(ROCKSDB_NAMESPACE::DB* db, uint64_t number, uint64_t* bytes);
  ROCKSDB_NAMESPACE::Status Scan(ROCKSDB_NAMESPACE::DB* db, uint64_t number, int count,
                                 uint64_t* bytes);

  // That the database has the latest version of each record, and nothing else.
  ROCKSDB_NAMESPACE::Status CheckAll(ROCKSDB_NAMESPACE::DB* db) const;

  // Records that were written: numbers below it, if they are written in turn.
  uint64_t count() const { return count_; }
  // Of the keys and values of the latest versions.
  uint64_t live_bytes() const { return live_bytes_; }

 private:
  ROCKSDB_NAMESPACE::Status Check(const ROCKSDB_NAMESPACE::Iterator& it, bool exact) const;

  const SizedRecords records_;
  const uint64_t room_;
  std::vector<std::atomic<uint32_t>> versions_;  // that were acknowledged; 0: none
  std::array<std::mutex, 1024> locks_;           // of the writers of numbers
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> live_bytes_{0};
  WriteTrace* trace_ = nullptr;
};

}  // namespace rocktier_bench
