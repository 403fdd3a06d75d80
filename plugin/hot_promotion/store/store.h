// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/hot_promotion/store/disk_space.h"
#include "plugin/hot_promotion/store/env.h"
#include "plugin/hot_promotion/store/filter.h"
#include "plugin/hot_promotion/store/folder.h"
#include "plugin/hot_promotion/store/levels.h"
#include "plugin/hot_promotion/store/rocksdb_options.h"
#include "rocksdb/db.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// The hot store: copies of records on fast storage, in a RocksDB of their own. A record is (SST,
// user key) -> value. As SSTs never change, a record is right as long as its SST lives, and of no
// use after that.
//
// Thread-safe. Owns its directory. Its files never have more bytes than the budget and 5%. They
// have more than the budget for moments only, while files are compacted.
class Store {
 public:
  struct Options {
    std::string path;
    uint64_t budget = 0;
    int open_files = -1;           // at most; -1: all of them
    bool direct_io = false;        // past the page cache
    CopyPolicy* policy = nullptr;  // required; lives longer
    StoreCallbacks callbacks;
    std::shared_ptr<Logger> logger;
  };

  using Record = StoreRecord;

  // Opens the store. One that is missing, of another version or damaged becomes an empty one.
  // Damaged is a store that RocksDB finds to be when it opens it, or found to be while it was open.
  // A failure that may pass is an error, and nothing is removed; so is a folder that is somebody
  // else's (InvalidArgument).
  static Status Open(const Options& options, std::unique_ptr<Store>* result);
  ~Store();

  // Whether the store is damaged, or must be opened anew. A damaged store begins empty then;
  // otherwise its RocksDB has stopped because of an error.
  bool IsDamaged() const { return damaged_.load(std::memory_order_relaxed); }
  bool HasFailed() const { return IsDamaged() || failed_.load(std::memory_order_relaxed); }

  // Reads a copy of the record with this key, promoted or retained. NotFound, or an error that the
  // caller may treat as such.
  Status Get(const Slice& key, PinnableSlice* value);

  // Adds records, in strictly ascending order of their keys; retained ones of one SST only. Busy if
  // the store has no room at present: compactions or evictions make room.
  Status Add(const std::vector<Record>& records);

  // Most bytes that one Add() may write, so that the budget is kept.
  uint64_t batch() const { return batch_; }
  static uint64_t BatchOf(uint64_t budget);

  // The SSTs that it has records of.
  Status ForEachFile(const std::function<void(const FileId&, const FileEntry&)>& visit);

  // Visits keys of records from *next on, until about so many bytes were read. Sets *next to where
  // to go on; empty: there are no more.
  Status ForEachRecord(uint64_t bytes, const std::function<void(const Slice& key)>& visit,
                       std::string* next);

  // Removes the files that have nothing but records of one of these SSTs; compactions remove the
  // rest.
  Status Drop(const std::vector<FileId>& files);

  // Compacts the next part of the store, in turn, under Pressure::kCold, or kForced. Does nothing
  // if the store is empty.
  Status Evict(bool forced);

  // Makes an Evict() that is under way end soon.
  void Stop() {
    stopped_.store(true);
    space_->Stop();
  }

  // Ends compactions for good. Reads are answered as before.
  void EndCompactions();

  // Bytes of files, but for what is being written.
  uint64_t Bytes() const;
  // Most bytes that additions may fill. The rest of the budget is for what a compaction writes
  // before it removes what it has read, and for files that are no SSTs. Evictions begin above
  // high() and end below low().
  uint64_t capacity() const { return budget_ - reserve() - kOtherFiles; }
  uint64_t high() const { return capacity() / 100 * 98; }
  uint64_t low() const { return capacity() / 100 * 96; }

  uint64_t WrittenBytes() const { return written_.load(std::memory_order_relaxed); }
  uint64_t Records() const;
  // Memory of its table readers: filters and indexes.
  uint64_t MemoryBytes() const;
  const Dropped& dropped() const { return filter_->dropped(); }

 private:
  explicit Store(const Options& options);

  uint64_t reserve() const { return std::max(budget_ / 16, 2 * kLargestCompaction * batch_); }

  Status OpenOrReplace();
  Status OpenDatabase();
  Status StartThreads();
  Status OpenRocksDb();
  Status NoThread() const;
  Status CheckLogs();
  Status GetCopy(const std::string& key, PinnableSlice* value);
  Status CheckFormat();
  void NoteDamage(const Status& s);
  void NoteFailure(const Status& s);
  Status RemoveRuns();
  Status WriteRuns(const std::vector<Record>& records, const std::vector<size_t>& ends,
                   std::vector<std::string>* paths);
  Status WriteRun(const Record* begin, const Record* end, const std::string& path);
  Status Ingest(const std::vector<std::string>& paths);
  std::string NextPiece(std::string* begin);
  ROCKSDB_NAMESPACE::Options DatabaseOptions();

  const std::string path_;
  const uint64_t budget_;
  const int open_files_;
  const bool direct_io_;
  const uint64_t batch_;
  const std::function<void(const FileId&, const FileEntry&)> found_;
  const std::shared_ptr<Logger> logger_;
  const std::shared_ptr<StoreFilterFactory> filter_;
  const std::shared_ptr<DiskSpace> space_;
  StoreEnv env_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<DB> db_;

  std::mutex add_mutex_;   // held by Add(), from the check for room to the ingestion
  uint64_t next_run_ = 0;  // guarded by add_mutex_
  std::atomic<uint64_t> written_{0};

  std::atomic<bool> damaged_{false};
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopped_{false};
  std::mutex evict_mutex_;
  std::string cursor_;  // where the next Evict() begins
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
