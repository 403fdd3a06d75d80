// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/database.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "plugin/raw_wal_fs/name.h"
#include "rocksdb/convenience.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Returns the file of the options that the database was opened with last; "" if there is none.
std::string NewestOptions(const std::vector<std::string>& names) {
  constexpr char kPrefix[] = "OPTIONS-";
  std::pair<uint64_t, std::string> newest;
  for (const std::string& name : names) {
    const std::string number = name.substr(std::min(name.size(), sizeof(kPrefix) - 1));
    if (name.compare(0, sizeof(kPrefix) - 1, kPrefix) == 0 && !number.empty() &&
        number.find_first_not_of("0123456789") == std::string::npos) {
      newest = std::max(newest, {strtoull(number.c_str(), nullptr, 10), name});
    }
  }
  return newest.second;
}

bool IsKeptName(const std::string& name) { return IsStubName(name) && !IsLogName(name); }

IOStatus AddLogs(FileSystem* fs, const std::string& directory,
                 bool (*is_wanted)(const std::string& name), std::vector<std::string>* logs) {
  std::vector<std::string> names;
  IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    if (s.ok() && is_wanted(name)) {
      logs->push_back(directory + "/" + name);
    }
  }
  return s.IsNotFound() || s.IsPathNotFound() ? IOStatus::OK() : s;  // FileSystems differ
}

}  // namespace

IOStatus FindWalDir(FileSystem* fs, const std::string& database, std::string* result) {
  *result = database;
  std::vector<std::string> names;
  IOStatus s = fs->GetChildren(database, IOOptions(), &names, nullptr);
  const std::string file = NewestOptions(names);
  if (!s.ok() || file.empty()) {
    return s;
  }
  std::string text;
  s = status_to_io_status(ReadFileToString(fs, database + "/" + file, &text));
  std::istringstream lines(text);
  for (std::string line; s.ok() && std::getline(lines, line);) {
    constexpr char kOption[] = "wal_dir=";
    const size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || line.compare(begin, sizeof(kOption) - 1, kOption) != 0) {
      continue;
    }
    std::string value;
    for (size_t i = begin + sizeof(kOption) - 1; i < line.size(); i++) {
      i += line[i] == '\\' ? 1 : 0;  // escapes the next
      value += line.substr(i, 1);
    }
    if (!value.empty()) {
      *result = value;
      s = fs->FileExists(value, IOOptions(), nullptr);
      s = s.ok() ? s
                 : IOStatus::InvalidArgument(
                       database, "has wal_dir=" + value + ", says " + file + "; that is not there");
    }
    break;
  }
  return s;
}

IOStatus LockDatabase(FileSystem* fs, const std::string& database, FileLock** lock) {
  if (!fs->FileExists(database + "/CURRENT", IOOptions(), nullptr).ok()) {
    return IOStatus::InvalidArgument(
        database,
        "holds no database: there is no CURRENT. Give the folder of the database, "
        "not that of its logs");
  }
  return fs->LockFile(database + "/LOCK", IOOptions(), lock, nullptr);
}

IOStatus FindLogs(FileSystem* fs, const std::string& database, std::vector<std::string>* logs) {
  std::string wal_dir;
  IOStatus s = FindWalDir(fs, database, &wal_dir);
  for (const std::string& directory : {wal_dir, wal_dir + "/archive"}) {
    s = s.ok() ? AddLogs(fs, directory, IsStubName, logs) : s;
  }
  if (wal_dir != database) {  // kept since it had no wal_dir
    for (const std::string& directory : {database, database + "/archive"}) {
      s = s.ok() ? AddLogs(fs, directory, IsKeptName, logs) : s;
    }
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
