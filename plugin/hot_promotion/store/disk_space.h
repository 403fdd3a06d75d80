// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Returns an integer property; 0 if there is none.
uint64_t IntProperty(DB* db, const std::string& name);

// DiskSpace: the bytes that the SSTs of a store's RocksDB have on the disk. Thread-safe.
//
// A reader that holds a version when a compaction ends keeps the files that were compacted. RocksDB
// deletes them at the end of the next compaction, not when that reader has ended. Until then they
// are in no version, and still on the disk. While RocksDB deletes files it counts them no more. So
// all that deletes files in the thread of the caller is here, one at a time.
class DiskSpace : public EventListener {
 public:
  // `capacity`: bytes, most that files have when a compaction begins.
  explicit DiskSpace(uint64_t capacity) : capacity_(capacity) {}

  // Returns the bytes of all SSTs, but for what is being written. Deletes those that nobody needs
  // first.
  uint64_t Bytes(DB* db);

  // An iterator over all of the store. Its end deletes files that only it has held.
  struct EndIterator {
    DiskSpace* space;
    void operator()(Iterator* iterator) const;
  };
  using ScopedIterator = std::unique_ptr<Iterator, EndIterator>;
  ScopedIterator NewIterator(DB* db);

  // Removes the files that are within one of these ranges.
  Status DeleteFiles(DB* db, const std::vector<RangePtr>& ranges);

  // Waits until files have at most the capacity, or no reader holds files that were compacted
  // before; for a second at most. Readers do not wait for compactions.
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override;

  // Makes compactions wait no more.
  void Stop() { stopped_.store(true); }

 private:
  const uint64_t capacity_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // held while a caller deletes files
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
