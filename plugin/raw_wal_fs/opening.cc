// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Which database a thread opens. A call on a log does not say whose it is, and neither does the
// name of a log in a wal_dir. RocksDB locks a database, reads its logs and makes its first new log
// on one thread; DestroyDB() and RepairDB() lock it and delete or move logs on one. The OPTIONS
// file does not do: that of a checkpoint has the wal_dir of the original, which it is not opened
// with.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/raw_wal_fs/database.h"
#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/stub_finder.h"
#include "plugin/raw_wal_fs/wal_home.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

using Headers = std::map<LogId, Volume::Segment>;  // of each log the first one's

// Returns whether a directory has a log, of whatever kind, or cannot be read.
bool HasLogs(FileSystem* fs, const std::string& directory) {
  std::vector<std::string> names;
  const IOStatus s = fs->GetChildren(directory, IOOptions(), &names, nullptr);
  return !s.ok() || std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return IsLogName(name) && !IsTrashName(name);
  });
}

void AddLogsOf(const Volume& volume, Headers* headers) {
  for (const Volume::Segment& segment : volume.segments()) {
    if (segment.owner == Volume::Owner::kLog) {
      const auto [header, is_new] = headers->emplace(segment.log, segment);
      if (!is_new && segment.ordinal < header->second.ordinal) {
        header->second = segment;
      }
    }
  }
}

IOStatus AddLogsOf(const Standby& standby, Headers* headers) {
  std::vector<Standby::File> files;
  IOStatus s = standby.List(&files);
  for (const Standby::File& file : files) {
    Volume::Segment header;
    if (DescribeInStandby(&standby, file.log, &header)) {
      headers->emplace(file.log, header);
    }
  }
  return s;
}

}  // namespace

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

// Refuses a wal_dir in which nothing says that it is this database's, if a log was created under
// its path, in another directory, and has no stub here: the disk of that one may not be mounted.
// The database would open without its logs, and RocksDB would take them for obsolete afterwards.
// Not asked of a database that was not opened with this wal_dir before. One that was always has a
// log there, also where an earlier version has not left the file.
IOStatus RawWalFileSystem::CheckMounted(const std::string& wal_dir, const std::string& database) {
  std::string last;
  if (!FindWalDir(target_.get(), database, &last).ok() || !IsSameDirectory(last, wal_dir) ||
      IsSameDirectory(database, wal_dir) || IsWalDirOf(target_.get(), wal_dir, database) ||
      HasLogs(target_.get(), wal_dir)) {
    return IOStatus::OK();
  }
  std::shared_ptr<Volume> volume;
  std::shared_ptr<Standby> standby;
  Headers headers;
  IOStatus s = ForWriting(&volume);
  if (s.ok()) {
    AddLogsOf(*volume, &headers);
    s = StandbyForWriting(*volume, &standby);
  }
  if (s.ok() && standby != nullptr) {
    s = AddLogsOf(*standby, &headers);
  }
  if (!s.ok()) {
    return s;
  }
  const DirectoryId here = IdentityOf(wal_dir);
  StubFinder finder(volume->superblock().uuid);
  for (const auto& [log, header] : headers) {
    std::string stub;
    if (header.directory.known() && !(header.directory == here) &&
        IsSameDirectory(DirectoryOf(header.name), wal_dir) &&
        finder.Look(log, header, &stub) == StubFinder::Answer::kMissing) {
      return IOStatus::InvalidArgument(
          wal_dir, "has no log, and log " + log.ToString() + ", created as " + header.name +
                       ", was made in another directory of this path: is its disk mounted? If that "
                       "log is given up, free it with 'rocktier wal rm --force'");
    }
  }
  return s;
}

IOStatus RawWalFileSystem::TakeWalDirOf(const std::string& path) {
  const Opening opening = Opened();
  if (opening.database.empty() || !IsLogName(path) || IsTrashName(path)) {
    return IOStatus::OK();
  }
  const std::string wal_dir = DirectoryOf(path);
  IOStatus s = CheckMounted(wal_dir, opening.database);
  if (s.ok()) {
    s = TakeWalDir(target_.get(), wal_dir, opening.database, in_force().device);
  }
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
