// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// InfoLogs: the LOGs that databases have made through a TieredFileSystem, for what there is to say
// of their files. Does not keep them open. Thread-safe.
class InfoLogs {
 public:
  void Add(const std::string& path, const std::shared_ptr<Logger>& log);
  // Finds the LOG of the database in a directory: there, or in a db_log_dir under a name that has
  // the directory in it. Null if there is none of ours. `fs` makes the directory's name absolute.
  std::shared_ptr<Logger> Find(FileSystem* fs, const std::string& directory) const;
  // Forgets it: the database is about to close it.
  void Remove(FileSystem* fs, const std::string& directory);

 private:
  using Logs = std::map<std::string, std::weak_ptr<Logger>>;

  // Requires mutex_.
  Logs::const_iterator Position(FileSystem* fs, const std::string& directory) const;

  mutable std::mutex mutex_;
  Logs logs_;  // by path; guarded by mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
