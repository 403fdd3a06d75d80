// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/options_file.h"

#include <sstream>
#include <vector>

#include "file/filename.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostOptions = 1 << 20;  // bytes of an OPTIONS file: the DBOptions come first

// The last value of an option that has several; empty if it is not there.
IOStatus ReadOption(FileSystem* fs, const std::string& path, const std::string& key,
                    std::string* value) {
  std::string contents;
  value->clear();
  IOStatus s = ReadSmallFile(fs, path, kMostOptions, &contents);
  std::istringstream lines(contents);
  for (std::string line; s.ok() && std::getline(lines, line);) {
    line = trim(line);
    if (line.compare(0, key.size(), key) == 0) {
      *value = UnescapeOptionString(line.substr(key.size()));
    }
  }
  return s;
}

}  // namespace

IOStatus ReadWalDir(FileSystem* fs, const std::string& path, std::string* wal_dir) {
  IOStatus s = ReadOption(fs, path, "wal_dir=", wal_dir);
  *wal_dir = wal_dir->empty() ? *wal_dir : WithoutSlash(*wal_dir);
  return s;
}

IOStatus ReadStatsPeriod(FileSystem* fs, const std::string& path, uint64_t* seconds) {
  std::string text;
  IOStatus s = ReadOption(fs, path, "stats_dump_period_sec=", &text);
  Slice digits(text);
  if (s.ok() && !(ConsumeDecimalNumber(&digits, seconds) && digits.empty())) {
    s = IOStatus::NotFound(path, "has no stats_dump_period_sec");
  }
  return s;
}

bool ReadMakesLogsAhead(FileSystem* fs, const std::string& path) {
  std::string text;
  return ReadOption(fs, path, "async_wal_precreate=", &text).ok() && text == "true";
}

IOStatus FindWalDir(FileSystem* fs, const std::string& directory, std::string* wal_dir) {
  wal_dir->clear();
  std::vector<std::string> names;
  IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  std::string newest;
  uint64_t largest = 0;
  for (const std::string& name : names) {
    uint64_t number;
    FileType type;
    if (ParseFileName(name, &number, &type) && type == kOptionsFile && number >= largest) {
      largest = number;
      newest = name;
    }
  }
  return s.ok() && !newest.empty() ? ReadWalDir(fs, directory + "/" + newest, wal_dir) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
