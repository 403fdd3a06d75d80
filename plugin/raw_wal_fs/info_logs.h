// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// InfoLogs: the LOGs that databases have made through a RawWalFileSystem. Does not keep them open.
// Thread-safe.
class InfoLogs {
 public:
  // A LOG that is begun anew takes the place of the one before.
  void Add(const std::string& path, const std::shared_ptr<Logger>& log);
  // Finds the LOG of the database in a directory: there, or in a db_log_dir under a name that has
  // the directory in it. Null if there is none of ours. `fs` makes the directory's name absolute.
  std::shared_ptr<Logger> Find(FileSystem* fs, const std::string& directory) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Logger>> logs_;  // by path; guarded by mutex_
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
