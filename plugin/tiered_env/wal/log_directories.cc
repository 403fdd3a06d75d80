// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/log_directories.h"

#include <sys/stat.h>

#include <algorithm>

#include "file/filename.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/options_file.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

std::string RealPath(const std::string& path) { return WithoutSlash(AbsolutePath(path)); }

}  // namespace

bool FindFileId(const std::string& path, FileId* id) {
  struct stat st;
  if (stat(path.c_str(), &st) != 0) {
    return false;
  }
  *id = {st.st_dev, st.st_ino};
  return true;
}

bool HasNameOfArchive(const std::string& directory) {
  return BaseOf(directory) == BaseOf(ArchivalDirectory(""));
}

LogDirectories::LogDirectories(const std::string& home) {
  FileId id;
  if (FindFileId(home, &id)) {
    spellings_[id] = home;
  }
}

std::string LogDirectories::KnownSpelling(const FileId& id) const {
  const auto known = spellings_.find(id);
  FileId found;
  return known != spellings_.end() && FindFileId(known->second, &found) && found == id
             ? known->second
             : "";
}

// An archive is called after the directory that it is of: it may not be there yet. What only has
// its name is a directory as any other.
std::string LogDirectories::SpellingOf(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  FileId id;
  FileId above;
  const bool is_there = FindFileId(directory, &id);
  std::string spelling = is_there ? KnownSpelling(id) : "";
  if (spelling.empty() && HasNameOfArchive(directory) &&
      FindFileId(DirectoryOf(directory), &above)) {
    const std::string of = KnownSpelling(above);
    spelling = of.empty() ? "" : ArchivalDirectory(of);
  }
  if (spelling.empty()) {
    spelling = is_there ? RealPath(directory) : WithoutSlash(directory);
  }
  if (is_there) {
    spellings_[id] = spelling;
  }
  return spelling;
}

std::string LogDirectories::PathOf(const std::string& path) {
  return Normalized(SpellingOf(DirectoryOf(path)) + "/" + BaseOf(path));
}

bool IsAtHome(const std::string& home, const std::string& directory) {
  const std::string real = RealPath(directory);
  const std::string above = RealPath(home);
  return real == above || real.compare(0, above.size() + 1, above + "/") == 0;
}

std::string NameOfLogDirectory(const std::string& home, const std::string& directory) {
  const std::string real = RealPath(directory);
  return IsAtHome(home, directory) && real != RealPath(home)
             ? real.substr(RealPath(home).size() + 1)
             : real;
}

std::vector<std::string> FindLogDirectories(FileSystem* fs, const std::string& home,
                                            const std::set<std::string>& names) {
  LogDirectories directories(home);
  std::vector<std::string> result = {home};
  const auto add = [&](const std::string& directory) {
    const std::string spelling = directories.SpellingOf(directory);
    if (std::find(result.begin(), result.end(), spelling) == result.end()) {
      result.push_back(spelling);
    }
  };
  const auto find = [&](const std::string& directory, const std::set<FileId>& others) {
    FileId id;
    const std::string moved = home + "/" + BaseOf(directory);
    const bool is_moved =
        !FindFileId(directory, &id) && FindFileId(moved, &id) && others.count(id) == 0;
    add(is_moved ? moved : directory);
  };
  std::vector<std::string> candidates;
  std::set<FileId> known;
  for (const std::string& name : names) {
    FileId id;
    const bool below = !name.empty() && name[0] != '/';
    candidates.push_back(below ? home + "/" + name : name);
    if (FindFileId(candidates.back(), &id)) {
      known.insert(id);
    }
  }
  for (const std::string& directory : candidates) {
    find(directory, known);
  }
  std::string wal_dir;
  if (FindWalDir(fs, home, &wal_dir).ok() && !wal_dir.empty()) {
    find(wal_dir, {});
  }
  return result;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
