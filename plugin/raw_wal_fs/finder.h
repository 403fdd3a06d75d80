// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <string>

#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Looks for the stubs of logs where they were created, in the default FileSystem: in that directory and in its
// archive, under whatever name RocksDB may have given them since. Remembers what it has seen. Not thread-safe.
class Finder {
 public:
  enum class Answer : uint8_t {
    kFound,
    kMissing,  // the directory is there, without it; the database may have been moved
    kUnknown,  // the name on the device does not say where to look
  };

  explicit Finder(std::string uuid) : uuid_(std::move(uuid)) {}

  // `name`: as in the segments' headers. `path`: of the stub if it is found, else why that is not known, if so.
  Answer Find(LogId log, const std::string& name, std::string* path);

 private:
  struct Directory {
    bool exists = false;
    Status status;  // of looking at it; OK if it does not exist
    std::map<LogId, std::string> stubs;
  };
  const Directory& Look(const std::string& path);

  const std::string uuid_;
  std::map<std::string, Directory> seen_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
