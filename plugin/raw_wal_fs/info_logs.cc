// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/info_logs.h"

#include <iterator>

#include "plugin/raw_wal_fs/name.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

void InfoLogs::Add(const std::string& path, const std::shared_ptr<Logger>& log) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = logs_.begin(); it != logs_.end();) {  // of databases that were closed
    it = it->second.expired() ? logs_.erase(it) : std::next(it);
  }
  logs_[path] = log;
}

std::shared_ptr<Logger> InfoLogs::Find(FileSystem* fs, const std::string& directory) const {
  std::string absolute;
  fs->GetAbsolutePath(directory, IOOptions(), &absolute, nullptr).PermitUncheckedError();
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [path, log] : logs_) {
    const std::string folder = DirectoryOf(path);
    if ((folder == directory && EndsWith(path, "/LOG")) ||
        folder + "/" + InfoLogName(absolute) == path) {
      return log.lock();
    }
  }
  return nullptr;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
