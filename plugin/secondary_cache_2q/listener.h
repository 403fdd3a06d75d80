// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "plugin/secondary_cache_2q/known_ssts.h"
#include "rocksdb/listener.h"
#include "rocksdb/table_properties.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Tells the caches which SSTs and blob files are gone, and what took the place of SSTs. Keys of
// SSTs are derived from what the SST's properties say of its origin, as RocksDB does it, so that no
// file number of another directory or database is mistaken. An SST that is known at several paths
// is gone with the last of them. Thread-safe.
class TwoQSecondaryCacheListener : public EventListener {
 public:
  static const char* kClassName() { return "TwoQSecondaryCacheListener"; }
  const char* Name() const override { return kClassName(); }

  // The input files of a compaction, with the properties of each.
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override;
  // Note the files that are made or ingested, for deletions without a compaction. What a compaction
  // makes may be an input of the next one before its end is told.
  void OnTableFileCreated(const TableFileCreationInfo& info) override;
  void OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo& info) override;
  void OnTableFileDeleted(const TableFileDeletionInfo& info) override;
  // For blob files: what is read in a session has keys of that session.
  void OnFlushBegin(DB* db, const FlushJobInfo& info) override;
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override;
  void OnBlobFileDeleted(const BlobFileDeletionInfo& info) override;

 private:
  void Remember(const std::string& path, const TableProperties& properties);
  // Takes the output for what the input was, which is deleted later.
  void RememberCopy(const CompactionJobInfo& info);
  // Erases what was there, unless it is known at another path.
  void Forget(const std::string& path);
  // Erases those of a compaction that are not known at other paths.
  void ForgetInputs(const CompactionJobInfo& info);
  void RememberSession(DB* db);
  static void BeginCarry(DB* db, const CompactionJobInfo& info);
  static void EndCarry(DB* db, const CompactionJobInfo& info);
  void LogStats(DB* db);

  std::mutex mutex_;
  // Guarded by mutex_.
  KnownSsts ssts_;
  struct Session {
    std::string db_id;
    std::string id;
  };
  std::unordered_map<std::string, Session> sessions_;  // by the database's name
  std::chrono::steady_clock::time_point logged_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
