// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// The ending that RocksDB appends to the name of a file that waits to be deleted.
constexpr char kTrash[] = ".trash";
// The ending of the name of a plain copy that is about to take the place of a log's stub.
constexpr char kExported[] = ".exported";

// A key of IOOptions::property_bag. LockFile() with it keeps others from opening the database, and
// neither looks at the log device nor changes it: for a tool that only looks, whichever FileSystem
// it has above this one.
constexpr char kLookOnly[] = "rocktier.look_only";

// The statistics file in a database's directory.
constexpr char kMetricsName[] = "rocktier_raw_wal_fs.prom";

// The file in a wal_dir that says whose logs are there.
constexpr char kWalHomeName[] = "rocktier_raw_wal_fs.home";

inline bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Returns whether it is that file, or what a crash has left of the next one.
inline bool IsMetricsName(const std::string& base) {
  return base.compare(0, sizeof(kMetricsName) - 1, kMetricsName) == 0;
}

// The same of the other one.
inline bool IsWalHomeName(const std::string& base) {
  return base.compare(0, sizeof(kWalHomeName) - 1, kWalHomeName) == 0;
}

// Returns whether RocksDB does not see a file.
inline bool IsHiddenName(const std::string& base) {
  return IsMetricsName(base) || IsWalHomeName(base);
}

inline bool IsTrashName(const std::string& path) { return EndsWith(path, kTrash); }

// Returns whether RocksDB gives a write-ahead log such a name, wherever it is: "000012.log", and,
// when it waits to be deleted, "000012.log.trash".
inline bool IsLogName(const std::string& path) {
  const std::string base = path.substr(path.rfind('/') + 1);
  const size_t digits = base.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || base.compare(digits, 4, ".log") != 0) {
    return false;
  }
  const std::string rest = base.substr(digits + 4);
  return rest.empty() || IsTrashName(rest);
}

// Returns whether a file may be the stub of a log. Whoever keeps a log that RocksDB is done with
// renames it; the new name ends as RocksDB's do: "kept-3.log", "kept-3.log.trash".
inline bool IsStubName(const std::string& path) {
  const std::string base = path.substr(path.rfind('/') + 1);
  const size_t end = base.rfind(".log");
  if (end == 0 || end == std::string::npos) {
    return false;
  }
  const std::string rest = base.substr(end + 4);
  return rest.empty() || IsTrashName(rest);
}

// Returns the name that RocksDB gives a LOG in db_log_dir, from the absolute path of the database's
// directory: "/data/db" has "data_db_LOG". A long path is cut off.
inline std::string InfoLogName(const std::string& directory) {
  constexpr size_t kMost = 255;
  std::string name;
  for (size_t i = 0; i < directory.size() && name.size() < kMost; i++) {
    const char c = directory[i];
    const bool repeated = i > 1 && c == '/' && directory[i - 1] == '/';
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '_';
    if (kept || (i > 0 && !repeated)) {
      name += kept ? c : '_';
    }
  }
  return name + "_LOG";
}

inline std::string DirectoryOf(const std::string& path) {
  size_t end = path.rfind('/');
  if (end == std::string::npos) {
    return ".";
  }
  while (end > 0 && path[end - 1] == '/') {
    end--;
  }
  return path.substr(0, std::max<size_t>(end, 1));
}

// Returns the directory of the database whose log this is: a log in archive/ or lost/, to which
// RocksDB moves logs, is one of the directory above.
inline std::string DatabaseOf(const std::string& path) {
  const std::string directory = DirectoryOf(path);
  return EndsWith(directory, "/archive") || EndsWith(directory, "/lost") ? DirectoryOf(directory)
                                                                         : directory;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
