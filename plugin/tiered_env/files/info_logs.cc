// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/info_logs.h"

#include <algorithm>

#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

void InfoLogs::Add(const std::string& path, const std::shared_ptr<Logger>& log) {
  std::lock_guard<std::mutex> lock(mutex_);
  logs_[path] = log;
}

InfoLogs::Logs::const_iterator InfoLogs::Position(FileSystem* fs,
                                                  const std::string& directory) const {
  std::string absolute;
  fs->GetAbsolutePath(directory, IOOptions(), &absolute, nullptr).PermitUncheckedError();
  return std::find_if(logs_.begin(), logs_.end(), [&](const auto& log) {
    const std::string folder = DirectoryOf(log.first);
    return (folder == directory && BaseOf(log.first) == "LOG") ||
           InfoLogFileName(directory, absolute, folder) == log.first;
  });
}

std::shared_ptr<Logger> InfoLogs::Find(FileSystem* fs, const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = Position(fs, directory);
  return it == logs_.end() ? nullptr : it->second.lock();
}

void InfoLogs::Remove(FileSystem* fs, const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = Position(fs, directory);
  if (it != logs_.end()) {
    logs_.erase(it);
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
