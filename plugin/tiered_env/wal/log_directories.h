// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Directories with write-ahead logs of a database: which these are, and how they are called.

#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What a file or a directory is, by whatever path: device and inode.
using FileId = std::pair<dev_t, ino_t>;
// False: there is nothing, or it is not of this machine's file system.
bool FindFileId(const std::string& path, FileId* id);

// Whether a directory is called as RocksDB's archive of the logs in the one above. It may be a
// database directory or a wal_dir nevertheless: ask for these first.
bool HasNameOfArchive(const std::string& directory);

// One spelling for each directory, however it is called: relative or absolute, by symbolic links,
// with slashes doubled. Thread-safe.
class LogDirectories {
 public:
  // `home` is the database directory, which is called so.
  explicit LogDirectories(const std::string& home);

  std::string SpellingOf(const std::string& directory);
  // The same of the directory of a file.
  std::string PathOf(const std::string& path);

 private:
  // Empty if there is none that still leads there. Requires mutex_.
  std::string KnownSpelling(const FileId& id) const;

  std::mutex mutex_;
  std::map<FileId, std::string> spellings_;  // guarded by mutex_
};

// How a recipe log calls a directory: what is below home, without home; so it is found when that
// was renamed.
std::string NameOfLogDirectory(const std::string& home, const std::string& directory);
// Whether it is home, or below it.
bool IsAtHome(const std::string& home, const std::string& directory);

// The directories where RocksDB has or had logs, home first, each once: those that a recipe log
// has, with the names that NameOfLogDirectory() or the first version gave them, and the wal_dir
// that the newest OPTIONS file has, which `fs` shows. One that is not where it was is looked for in
// home, too, in case that was renamed; what another name of the recipe log stands for is not it.
std::vector<std::string> FindLogDirectories(FileSystem* fs, const std::string& home,
                                            const std::set<std::string>& names);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
