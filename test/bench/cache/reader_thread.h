// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/status.h"
#include "test/bench/common/workload.h"

namespace rocktier_bench {

// The newest version of every key, for workloads that overwrite. Thread-safe.
class KeyVersions {
 public:
  explicit KeyVersions(uint64_t num_keys) : versions_(new std::atomic<uint32_t>[num_keys]()) {}
  uint32_t Get(uint64_t key) const { return versions_[key].load(std::memory_order_acquire); }
  void Set(uint64_t key, uint32_t v) { versions_[key].store(v, std::memory_order_release); }
  // Held while a key is written, so that versions reach the database in their order.
  std::mutex& LockOf(uint64_t key) { return locks_[key % kLocks]; }

 private:
  static constexpr size_t kLocks = 64;
  std::unique_ptr<std::atomic<uint32_t>[]> versions_;
  std::mutex locks_[kLocks];
};

// What all threads of a run share; constant while they run.
struct Run {
  ROCKSDB_NAMESPACE::DB* db = nullptr;
  const KeyChooser* keys = nullptr;
  KeyVersions* versions = nullptr;
  Workload workload;
  uint64_t num_keys = 0;
  size_t value_size = 0;
  int threads = 1;
  int batch = 1;  // keys per MultiGet; 1 = Get
};

// What a thread saw while it worked on a phase. Block counts are those of point reads only.
struct Tally {
  uint64_t ops = 0;
  uint64_t cache_hits = 0;
  uint64_t secondary_hits = 0;
  uint64_t block_reads = 0;
  std::vector<uint32_t> latency_ns;  // of each Get or MultiGet

  void Add(const Tally& other);
};

// One client. Its keys follow from the seed and its number alone; the state goes on from phase to
// phase. Not thread-safe: one thread at a time.
class ReaderThread {
 public:
  ReaderThread(const Run& run, int number, uint64_t seed);

  // Does `ops` operations. Corruption if a read returns anything but the expected value.
  ROCKSDB_NAMESPACE::Status Work(uint64_t ops, Tally* tally);

 private:
  ROCKSDB_NAMESPACE::Status DoOp(Tally* tally);
  ROCKSDB_NAMESPACE::Status ReadOne(uint64_t key);
  ROCKSDB_NAMESPACE::Status ReadBatch();
  ROCKSDB_NAMESPACE::Status Overwrite(uint64_t key);
  ROCKSDB_NAMESPACE::Status MaybeScan();
  ROCKSDB_NAMESPACE::Status ScanSome(uint64_t count);
  uint64_t NextKey();
  uint32_t VersionOf(uint64_t key) const;
  ROCKSDB_NAMESPACE::Status Verify(const ROCKSDB_NAMESPACE::Status& s, uint64_t key,
                                   uint32_t oldest, const ROCKSDB_NAMESPACE::Slice& value) const;

  const Run& run_;
  const uint64_t number_;
  Random random_;
  uint64_t op_ = 0;  // operations of this thread so far
  std::string key_text_;
  std::string new_value_;
  // The running scan of this thread's share of the keys.
  std::unique_ptr<ROCKSDB_NAMESPACE::Iterator> scan_;
  uint64_t scan_key_ = 0;
};

}  // namespace rocktier_bench
