// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/open_logs.h"

#include <map>
#include <mutex>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

struct OpenLogs {
  std::mutex mutex;
  std::map<LogId, std::weak_ptr<LogWriter>> logs;
};

// Never destroyed: a FileSystem may be a static object that outlives it.
OpenLogs& Logs() {
  static auto* logs = new OpenLogs();
  return *logs;
}

}  // namespace

void AddOpenLog(const std::shared_ptr<LogWriter>& log) {
  std::map<LogId, std::weak_ptr<LogWriter>>& logs = Logs().logs;
  std::lock_guard<std::mutex> lock(Logs().mutex);
  for (auto it = logs.begin(); it != logs.end();) {
    it = it->second.expired() ? logs.erase(it) : std::next(it);
  }
  logs[log->id()] = log;
}

std::shared_ptr<LogWriter> FindOpenLog(const Volume& volume, LogId log) {
  std::shared_ptr<LogWriter> found;
  {
    std::lock_guard<std::mutex> lock(Logs().mutex);
    const auto it = Logs().logs.find(log);
    found = it != Logs().logs.end() ? it->second.lock() : nullptr;
  }
  return found != nullptr && &found->volume() == &volume ? found : nullptr;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
