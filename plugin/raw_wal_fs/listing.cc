// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RawWalFileSystem that lists files, and says how long they are.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/open_logs.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

bool IsArchived(const std::string& path) { return EndsWith(DirectoryOf(path), "/archive"); }

}  // namespace

// Of a log that is deleted the size is asked for by who deletes it; of an archived one, with
// WAL_size_limit_MB, by a thread of RocksDB that has flushed and does not flush again before that.
// Beside a standby neither shall wait for a device that stalls. A log is closed before it is
// archived: its stub says how long it is, or, after a crash, how much of it was durable.
bool RawWalFileSystem::KnowsSize(const std::string& path, const Stub& stub) {
  if (IsTrashName(path)) {
    return true;
  }
  std::shared_ptr<Volume> volume;
  const bool is_of_version1 = stub.epoch == 0;  // its stub does not say how much
  return IsArchived(path) && !in_force().standby.empty() && !is_of_version1 && stub.durable > 0 &&
         ForReading(&volume).ok() && volume->writable() &&
         FindOpenLog(*volume, stub.log) == nullptr && CheckStub(path, stub, *volume).ok();
}

IOStatus RawWalFileSystem::GetFileSize(const std::string& path, const IOOptions& options,
                                       uint64_t* size, IODebugContext* dbg) {
  StubFile file;
  if ((IsTrashName(path) || IsArchived(path)) && FindStub(path, /*contents=*/false, &file).ok() &&
      KnowsSize(path, file.stub)) {
    *size = file.stub.durable;
    return IOStatus::OK();
  }
  return WithLog(
      path,
      [&](const std::shared_ptr<Log>& log) {
        *size = log->size();
        return IOStatus::OK();
      },
      [&] { return target_->GetFileSize(path, options, size, dbg); });
}

IOStatus RawWalFileSystem::GetChildren(const std::string& dir, const IOOptions& options,
                                       std::vector<std::string>* result, IODebugContext* dbg) {
  IOStatus s = target_->GetChildren(dir, options, result, dbg);
  if (s.ok()) {
    result->erase(std::remove_if(result->begin(), result->end(), IsHiddenName), result->end());
  }
  return s;
}

IOStatus RawWalFileSystem::GetChildrenFileAttributes(const std::string& dir,
                                                     const IOOptions& options,
                                                     std::vector<FileAttributes>* result,
                                                     IODebugContext* dbg) {
  IOStatus s = target_->GetChildrenFileAttributes(dir, options, result, dbg);
  if (s.ok()) {
    result->erase(
        std::remove_if(result->begin(), result->end(),
                       [](const FileAttributes& file) { return IsHiddenName(file.name); }),
        result->end());
  }
  for (FileAttributes& file : *result) {
    if (!s.ok()) {
      break;
    }
    if (IsStubName(file.name)) {
      s = GetFileSize(dir + "/" + file.name, options, &file.size_bytes, dbg);
      // Deleted meanwhile, or a program's log that RocksDB may not read.
      s = s.IsPathNotFound() || !IsLogName(file.name) ? IOStatus::OK() : s;
    }
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
