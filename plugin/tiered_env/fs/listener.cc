// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/listener.h"

#include <algorithm>

#include "plugin/tiered_env/fs/find.h"
#include "rocksdb/db.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Whether it has moved files and rewritten none: then it names a file as its input and its output.
bool IsMove(const CompactionJobInfo& info) {
  const auto& outputs = info.output_files;
  return std::any_of(info.input_files.begin(), info.input_files.end(),
                     [&](const std::string& input) {
                       return std::find(outputs.begin(), outputs.end(), input) != outputs.end();
                     });
}

}  // namespace

void TieredEnvListener::OnCompactionBegin(DB* db, const CompactionJobInfo& info) {
  std::lock_guard<std::mutex> lock(mutex_);
  ExpectedLevel& expected = compactions_[{db->GetName(), info.job_id}];
  expected.level = info.output_level;
  expected.column_family = info.cf_id;
}

// What was moved is needed as before, and so are the inputs of what has failed: nothing, or who
// knows what, was installed.
void TieredEnvListener::OnCompactionCompleted(DB* db, const CompactionJobInfo& info) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    compactions_.erase({db->GetName(), info.job_id});
  }
  TieredFileSystem* fs;
  if (info.status.ok() && !IsMove(info) && FindFs(db->GetFileSystem(), &fs).ok()) {
    fs->Compacted(info.input_files);
  }
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
  expected.family = info.cf_name;
  ExpectLevel(info.file_path, expected);
}

void TieredEnvListener::OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) {
  ExpectedLevel expected;
  expected.family = info.cf_name;
  ExpectLevel(info.file_path, expected);
}

// Should nobody have asked.
void TieredEnvListener::OnBlobFileCreated(const BlobFileCreationInfo& info) {
  ExpectedLevel expected;
  TakeExpectedLevel(info.file_path, &expected);
}

void TieredEnvListener::OnTableFileCreated(const TableFileCreationInfo& info) {
  ExpectedLevel expected;
  TakeExpectedLevel(info.file_path, &expected);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
