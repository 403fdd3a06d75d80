// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/tiered_env/fs/open_database.h"
#include "plugin/tiered_env/wal/log_directories.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The databases that are locked through a TieredFileSystem. Thread-safe.
class OpenDatabases {
 public:
  void Add(FileLock* lock, const std::shared_ptr<OpenDatabase>& database);
  // Notes that a database has its write-ahead logs in `wal_dir`, or, if that is empty, in its own
  // directory. Called for those with a recovery manager.
  void NoteWalDir(const std::shared_ptr<OpenDatabase>& database, const std::string& wal_dir);
  void Remove(FileLock* lock);

  // Returns null if there is none.
  std::shared_ptr<OpenDatabase> Find(const std::string& directory) const;
  std::shared_ptr<OpenDatabase> FindByLock(FileLock* lock) const;
  // Finds it by the directory of its write-ahead logs.
  std::shared_ptr<OpenDatabase> FindByWalDir(const std::string& directory) const;

  std::vector<std::shared_ptr<OpenDatabase>> All() const;
  bool empty() const;

 private:
  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::map<std::string, std::shared_ptr<OpenDatabase>> databases_;  // by directory
  std::map<std::string, std::weak_ptr<OpenDatabase>> wal_dirs_;     // those with a recovery manager
  std::map<FileId, std::weak_ptr<OpenDatabase>> wal_dir_ids_;       // the same, and their homes
  std::map<FileLock*, std::string> locked_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
