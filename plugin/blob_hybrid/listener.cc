// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/listener.h"

#include "db/column_family.h"
#include "db/db_impl/db_impl.h"
#include "plugin/blob_hybrid/databases.h"
#include "plugin/blob_hybrid/gc_compaction.h"
#include "plugin/blob_hybrid/gc_family.h"
#include "plugin/blob_hybrid/gc_scheduler.h"
#include "plugin/blob_hybrid/subcompaction.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

void BlobHybridListener::OnFlushBegin(DB* db, const FlushJobInfo& info) {
  const auto family = Databases::Instance()->Notice(db, info.cf_id);
  if (family != nullptr) {
    family->WaitForRoom();
  }
}

void BlobHybridListener::OnFlushCompleted(DB* db, const FlushJobInfo& info) {
  const auto family = Databases::Instance()->Notice(db, info.cf_id);
  if (family != nullptr) {
    family->Wake();
  }
}

void BlobHybridListener::OnCompactionBegin(DB* db, const CompactionJobInfo& info) {
  const auto family = Databases::Instance()->Notice(db, info.cf_id);
  if (family != nullptr) {
    family->NoteBegin(info);
  }
}

void BlobHybridListener::OnSubcompactionBegin(const SubcompactionJobInfo& info) {
  SetOutputLevel(info.cf_id, info.output_level);
}

void BlobHybridListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  const auto family = Databases::Instance()->Notice(db, info.cf_id);
  if (family != nullptr) {
    family->NoteEnd(info);
    family->Wake();
  }
}

void BlobHybridListener::OnBackgroundError(BackgroundErrorReason reason, Status* error) {
  if (reason == BackgroundErrorReason::kCompaction && IsOwnFailure(*error)) {
    *error = Status::OK();  // the job counts and logs it
  }
}

void BlobHybridListener::OnExternalFileIngested(DB* db, const ExternalFileIngestionInfo&) {
  const auto scheduler = Databases::Instance()->Find(db);
  if (scheduler != nullptr) {
    scheduler->WakeAll();
  }
}

void BlobHybridListener::OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* handle) {
  // RocksDB deletes its own handle of the default family when it closes a database, after the last
  // flush and compaction and while everything is still there.
  DB* db = static_cast<ColumnFamilyHandleImpl*>(handle)->db();
  if (db->DefaultColumnFamily() == handle) {
    Databases::Instance()->Forget(db);
  }
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
