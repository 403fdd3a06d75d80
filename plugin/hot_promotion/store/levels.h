// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/metadata.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

constexpr uint64_t kLargestCompaction = 4;  // in batches; may become twice as large
constexpr uint64_t kBaseLevel = 4;          // in batches, at most, when nothing compacts
constexpr int kLevel0Trigger = 2;           // so many files are compacted

// StoreRecord: a record as it is in the hot store.
struct StoreRecord {
  Slice key;
  Slice value;
};

// Levels: what the levels of a store's RocksDB have, at a moment. Additions go by it, so that no
// compaction becomes too large: what a compaction writes is on the disk besides what it has read.
class Levels {
 public:
  // `batch`: bytes, as in RocksDbSettings.
  Levels(DB* db, uint64_t batch);

  // Returns whether a compaction of level 0 has more than `most` bytes when so many are added. It
  // takes all of level 0, and most of the base level, which it writes to: what comes into the one
  // must not be faster than what leaves the other. Levels that compactions leave as they are never
  // are full.
  bool FillsLevel0(uint64_t bytes, uint64_t most) const;

  // Returns the ends of the files that records are to be in, in order. It is one file, but for
  // records that RocksDB may put below level 0, as nothing there is between the first and the last
  // of them: files there must not overlap too much of the next level, as for the compactions'
  // own output.
  std::vector<size_t> Cut(const std::vector<StoreRecord>& records) const;

 private:
  bool GoesToLevel0(const Slice& first, const Slice& last) const;

  const uint64_t batch_;
  uint64_t base_ = 0;  // level
  ColumnFamilyMetaData family_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
