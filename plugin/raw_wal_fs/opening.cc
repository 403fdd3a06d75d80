// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which database a thread opens. A call on a log does not say whose it is, and neither does the
// name of a log in a wal_dir. RocksDB locks a database, reads its logs and makes its first new log
// on one thread; DestroyDB() and RepairDB() lock it and delete or move logs on one. The OPTIONS
// file does not do: that of a checkpoint has the wal_dir of the original, which it is not opened
// with.

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/wal_home.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

void RawWalFileSystem::BeginOpening(FileLock* lock, const std::string& database) {
  std::lock_guard<std::mutex> guard(mutex_);
  opening_.push_back({std::this_thread::get_id(), lock, database});
}

void RawWalFileSystem::EndOpening(FileLock* lock) {
  std::lock_guard<std::mutex> guard(mutex_);
  opening_.erase(std::remove_if(opening_.begin(), opening_.end(),
                                [lock](const Opening& opening) { return opening.lock == lock; }),
                 opening_.end());
}

RawWalFileSystem::Opening RawWalFileSystem::Opened() const {
  std::lock_guard<std::mutex> guard(mutex_);
  const auto it = std::find_if(opening_.rbegin(), opening_.rend(), [](const Opening& opening) {
    return opening.thread == std::this_thread::get_id();
  });
  return it == opening_.rend() ? Opening() : *it;
}

IOStatus RawWalFileSystem::CheckOpener(const std::string& path) const {
  const std::string database = Opened().database;
  IOStatus s;
  for (const std::string& place : {DirectoryOf(path), DatabaseOf(path)}) {  // in archive: two
    if (s.ok() && !database.empty()) {
      s = CheckWalHome(target_.get(), place, database, in_force().device);
    }
  }
  return s;
}

IOStatus RawWalFileSystem::TakeWalDirOf(const std::string& path) {
  const Opening opening = Opened();
  if (opening.database.empty() || !IsLogName(path) || IsTrashName(path)) {
    return IOStatus::OK();
  }
  IOStatus s = TakeWalDir(target_.get(), DirectoryOf(path), opening.database, in_force().device);
  if (s.ok()) {
    EndOpening(opening.lock);  // the thread may open another one, and write to this
  }
  return s;
}

IOStatus RawWalFileSystem::DeleteDir(const std::string& dir, const IOOptions& options,
                                     IODebugContext* dbg) {
  std::vector<std::string> names;
  if (target_->GetChildren(dir, options, &names, dbg).ok() &&
      std::all_of(names.begin(), names.end(), IsWalHomeName)) {
    for (const std::string& name : names) {
      target_->DeleteFile(dir + "/" + name, options, dbg).PermitUncheckedError();
    }
  }
  return target_->DeleteDir(dir, options, dbg);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
