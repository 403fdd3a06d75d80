// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <map>
#include <string>

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/volume.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Looks for the stubs of logs where they were created, in the default FileSystem: in that directory
// and in its archive, and in the folder `lost` where RepairDB() puts what it cannot read, under
// whatever name RocksDB may have given them since. Remembers what it has seen, so it is made for
// one job: the check of a stub whose log is another directory's, or a run of a tool. Not
// thread-safe.
class StubFinder {
 public:
  enum class Answer : uint8_t {
    kFound,
    kMissing,  // not there; the database may have been moved
    kUnknown,  // the name on the device does not say where to look
  };

  explicit StubFinder(std::string uuid) : uuid_(std::move(uuid)) {}

  // Looks for a log's stub. `header`: a segment's of the log. `path`: the stub's if it is found,
  // else why that is not known, if so.
  Answer Look(LogId log, const Volume::Segment& header, std::string* path);
  // Like Look(), but missing is only what is missing in the very directory in which the log was
  // created: another one of its name may be the mount point of a file system that is not mounted.
  Answer Find(LogId log, const Volume::Segment& header, std::string* path);

 private:
  struct Directory {
    bool exists = false;
    Status status;  // why it cannot be looked at; OK if it does not exist
    std::map<LogId, std::string> stubs;
  };
  const Directory& Read(const std::string& path);

  const std::string uuid_;
  std::map<std::string, Directory> seen_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
