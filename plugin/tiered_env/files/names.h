// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <string>

#include "file/filename.h"
#include "plugin/tiered_env/tier/placement.h"
#include "rocksdb/types.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Files of ours in a database directory, which nobody else is shown.
constexpr char kIdentityName[] = "TIERS";
constexpr char kOwnerName[] = "OWNER";
constexpr char kFolderLock[] = "LOCK";    // in each folder
constexpr char kLostName[] = "lost";      // of the directory in each folder
constexpr char kKeptPrefix[] = "TIERS-";  // of recipe logs and retained logs
constexpr char kStatisticsName[] = "TIERS-STATS";
constexpr char kMetricsName[] = "rocktier_tiered_env.prom";
constexpr char kManifest[] = "MANIFEST-";
constexpr char kTrash[] = ".trash";  // RocksDB's: what is going to be deleted
constexpr char kTemporary[] = ".tiers-tmp";
constexpr char kGivenUp[] = ".lost";  // in a tier: of a log that RepairDB() has put aside

inline bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The name that a file had before it was going to be deleted.
inline std::string WithoutTrash(const std::string& base) {
  return EndsWith(base, kTrash) ? base.substr(0, base.size() - (sizeof(kTrash) - 1)) : base;
}

inline bool IsKept(const std::string& base) {
  return base.compare(0, sizeof(kKeptPrefix) - 1, kKeptPrefix) == 0;
}

// The statistics file, and what a process that was killed leaves of the next one.
inline bool IsMetrics(const std::string& base) {
  return base.compare(0, sizeof(kMetricsName) - 1, kMetricsName) == 0;
}

inline bool IsOurs(const std::string& base) {
  return base == kIdentityName || IsKept(base) || EndsWith(base, kTemporary) || IsMetrics(base);
}

inline std::string BaseOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Takes the slashes at the end off.
inline std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') {
    path.pop_back();
  }
  return path;
}

inline std::string DirectoryOf(const std::string& path) {
  const size_t end = path.rfind('/');
  return end == std::string::npos ? "." : WithoutSlash(path.substr(0, std::max<size_t>(end, 1)));
}

// Makes one of all that a file of a database is called. RocksDB doubles slashes: of its archive,
// for one.
inline std::string Normalized(const std::string& path) {
  std::string result = DirectoryOf(path) + "/" + BaseOf(path);
  result.erase(std::unique(result.begin(), result.end(),
                           [](char a, char b) { return a == '/' && b == '/'; }),
               result.end());
  return result;
}

// Tells what a file of a database is by its name, and its number.
inline Content ContentOf(const std::string& path, uint64_t* number) {
  FileType type;
  *number = 0;
  const std::string base = BaseOf(path);
  if (!ParseFileName(base, number, &type)) {
    return Content::kOther;
  }
  if (base.compare(0, kOptionsFileNamePrefix.size(), kOptionsFileNamePrefix) == 0) {
    return Content::kMeta;  // a temporary one, too: it is renamed when it is complete
  }
  switch (type) {
    case kTableFile:
      return Content::kTable;
    case kBlobFile:
      return Content::kBlob;
    case kWalFile:
      return Content::kWal;
    case kDescriptorFile:
      return Content::kMeta;
    default:
      return Content::kOther;
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
