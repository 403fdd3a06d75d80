// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/find.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

Status FindFs(FileSystem* fs, TieredFileSystem** result) {
  *result =
      fs != nullptr ? const_cast<TieredFileSystem*>(fs->CheckedCast<TieredFileSystem>()) : nullptr;
  return *result != nullptr
             ? Status::OK()
             : Status::InvalidArgument(
                   fs != nullptr ? std::string("FileSystem ") + fs->Name() : "no FileSystem",
                   "is not a TieredFileSystem, and wraps none; give the one that the database has");
}

Status GetTieredStats(FileSystem* fs, TieredStats* stats) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    *stats = TieredStats();
    ours->AddStats(nullptr, stats);
  }
  return s;
}

bool GetTieredProperty(FileSystem* fs, const std::string& property, std::string* value) {
  TieredFileSystem* ours;
  return FindFs(fs, &ours).ok() && ours->GetProperty(property, value);
}

std::string TieredMetricsText(FileSystem* fs) {
  TieredFileSystem* ours;
  return FindFs(fs, &ours).ok() ? ours->MetricsText() : "";
}

Status WaitForMoves(FileSystem* fs) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    ours->WaitForMoves();
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
