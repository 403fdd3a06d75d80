// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "plugin/blob_hybrid/names.h"
#include "rocksdb/listener.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// Tells the plugin of a database's flushes and compactions, and of its close. Families that do not
// use the plugin are not touched. Has no state: any number of databases may share it. Thread-safe.
class BlobHybridListener : public EventListener {
 public:
  static const char* kClassName() { return kListenerName; }
  const char* Name() const override { return kClassName(); }

  void OnFlushBegin(DB* db, const FlushJobInfo& info) override;
  void OnFlushCompleted(DB* db, const FlushJobInfo& info) override;
  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override;
  void OnSubcompactionBegin(const SubcompactionJobInfo& info) override;
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override;
  // Clears what only the job has failed with: RocksDB would stop all writes for a bad SST that
  // nobody but the job has come across.
  void OnBackgroundError(BackgroundErrorReason reason, Status* error) override;
  void OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo& info) override;
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* handle) override;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
