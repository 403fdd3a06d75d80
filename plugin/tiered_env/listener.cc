// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/listener.h"

#include "rocksdb/db.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

void TieredEnvListener::OnCompactionBegin(DB* db, const CompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  ExpectedLevel& expected = compactions_[{db->GetName(), info.job_id}];
  expected.level = info.output_level;
  expected.column_family = info.cf_id;
}

void TieredEnvListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  compactions_.erase({db->GetName(), info.job_id});
}

void TieredEnvListener::OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) {
  ExpectedLevel expected;
  if (info.reason == TableFileCreationReason::kCompaction) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = compactions_.find({info.db_name, info.job_id});
    if (it == compactions_.end()) {
      return;
    }
    expected = it->second;
  }
  ExpectLevel(info.file_path, expected);
}

// Should nobody have asked.
void TieredEnvListener::OnTableFileCreated(const TableFileCreationInfo& info) {
  ExpectedLevel expected;
  TakeExpectedLevel(info.file_path, &expected);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
