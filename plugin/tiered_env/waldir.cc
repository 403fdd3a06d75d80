// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/waldir.h"

#include <sstream>
#include <vector>

#include "file/filename.h"
#include "plugin/tiered_env/folder.h"
#include "plugin/tiered_env/name.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostOptions = 1 << 20;  // bytes of an OPTIONS file: the DBOptions come first

}  // namespace

IOStatus ReadWalDir(FileSystem* fs, const std::string& path, std::string* wal_dir) {
  const std::string key = "wal_dir=";
  std::string contents;
  wal_dir->clear();
  IOStatus s = ReadSmallFile(fs, path, kMostOptions, &contents);
  std::istringstream lines(contents);
  for (std::string line; s.ok() && std::getline(lines, line);) {
    line = trim(line);
    if (line.compare(0, key.size(), key) == 0) {
      const std::string value = UnescapeOptionString(line.substr(key.size()));
      *wal_dir = value.empty() ? value : WithoutSlash(value);
    }
  }
  return s;
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
