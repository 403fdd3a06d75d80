// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <string>

#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

std::string RawWalStats::ToString() const {
  std::string text;
#define X(name, type, unit, description) \
  text += "    " #name " : " + std::to_string(name) + " " unit "\n";
  RAW_WAL_STATS(X)
#undef X
  return text;
}

std::string RawWalStats::ToJson() const {
  std::string json;
#define X(name, type, unit, description) \
  json += (json.empty() ? "{\"" : ",\"") + std::string(#name "\":") + std::to_string(name);
  RAW_WAL_STATS(X)
#undef X
  return json + "}";
}

Status GetRawWalStats(const FileSystem* fs, RawWalStats* stats) {
  const auto* ours = fs != nullptr ? fs->CheckedCast<RawWalFileSystem>() : nullptr;
  if (ours == nullptr) {
    return Status::InvalidArgument(
        fs == nullptr ? "no FileSystem" : std::string("FileSystem ") + fs->Name(),
        "is not a RawWalFileSystem, and wraps none");
  }
  *stats = RawWalStats();
  ours->AddStats(stats);
  return Status::OK();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
