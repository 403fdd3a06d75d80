// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/open_databases.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

void OpenDatabases::Add(FileLock* lock, const std::shared_ptr<OpenDatabase>& database) {
  std::lock_guard<std::mutex> guard(mutex_);
  databases_[database->directory()] = database;
  locked_[lock] = database->directory();
}

void OpenDatabases::NoteWalDir(const std::shared_ptr<OpenDatabase>& database,
                               const std::string& wal_dir) {
  std::lock_guard<std::mutex> lock(mutex_);
  FileId id;
  if (FindFileId(database->directory(), &id)) {
    wal_dir_ids_[id] = database;
  }
  if (!wal_dir.empty()) {
    wal_dirs_[wal_dir] = database;
    if (FindFileId(wal_dir, &id)) {
      wal_dir_ids_[id] = database;
    }
  }
}

void OpenDatabases::Remove(FileLock* lock) {
  std::lock_guard<std::mutex> guard(mutex_);
  const auto it = locked_.find(lock);
  if (it != locked_.end()) {
    databases_.erase(it->second);
    locked_.erase(it);
  }
}

std::shared_ptr<OpenDatabase> OpenDatabases::Find(const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = databases_.find(directory);
  return it == databases_.end() ? nullptr : it->second;
}

std::shared_ptr<OpenDatabase> OpenDatabases::FindByLock(FileLock* lock) const {
  std::lock_guard<std::mutex> guard(mutex_);
  const auto locked = locked_.find(lock);
  const auto it = locked == locked_.end() ? databases_.end() : databases_.find(locked->second);
  return it == databases_.end() ? nullptr : it->second;
}

// Goes by device and inode, too: the OPTIONS file may spell the directory in another way.
std::shared_ptr<OpenDatabase> OpenDatabases::FindByWalDir(const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto named = wal_dirs_.find(directory);
  if (named != wal_dirs_.end()) {
    return named->second.lock();
  }
  FileId id;
  if (wal_dir_ids_.empty() || !FindFileId(directory, &id)) {
    return nullptr;
  }
  const auto known = wal_dir_ids_.find(id);
  return known == wal_dir_ids_.end() ? nullptr : known->second.lock();
}

std::vector<std::shared_ptr<OpenDatabase>> OpenDatabases::All() const {
  std::vector<std::shared_ptr<OpenDatabase>> all;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [directory, database] : databases_) {
    all.push_back(database);
  }
  return all;
}

bool OpenDatabases::empty() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return databases_.empty();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
