// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RawWalFileSystem that looks at all logs of a directory when a database is opened,
// before RocksDB looks at any: with paranoid_checks=false that would pass over a log that it cannot
// read.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/logger.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// Returns whether a plain log begins with zeros, or is empty: RocksDB has not written to it.
bool IsEmptied(FileSystem* target, const std::string& path) {
  constexpr size_t kRecordHeader = 7;
  std::unique_ptr<FSRandomAccessFile> file;
  char scratch[kRecordHeader];
  Slice bytes;
  return target->NewRandomAccessFile(path, FileOptions(), &file, nullptr).ok() &&
         file->Read(0, kRecordHeader, IOOptions(), &bytes, scratch, nullptr).ok() &&
         IsZero(bytes.data(), bytes.size());
}

IOStatus CheckPlain(FileSystem* target, const std::string& path, const Volume& volume) {
  const DirectoryId here = IdentityOf(DirectoryOf(path));
  const std::string base = path.substr(path.rfind('/') + 1);
  if (!here.known() || !IsEmptied(target, path)) {
    return IOStatus::OK();
  }
  for (const Volume::Segment& segment : volume.segments()) {
    if (segment.owner == Volume::Owner::kLog && segment.directory == here &&
        segment.name.substr(segment.name.rfind('/') + 1) == base) {
      return IOStatus::Corruption(
          path, "is empty, and log " + segment.log.ToString() + " on device=" + volume.path() +
                    " was created under this name: was the file cut off? If that log is not "
                    "needed, free it with 'rocktier wal rm'");
    }
  }
  return IOStatus::OK();
}

}  // namespace

// The logs that are found are kept for RocksDB.
IOStatus RawWalFileSystem::CheckDirectory(const std::string& directory, const Volume& volume) {
  std::vector<std::string> names;
  IOStatus s = target_->GetChildren(directory, IOOptions(), &names, nullptr);
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    if (s.ok() && IsLogName(name) && !IsTrashName(name)) {
      s = CheckLog(path, volume);
    } else if (s.ok() && IsStubName(name) && !IsTrashName(name)) {
      s = CheckKept(path, volume);
    }
  }
  return s;
}

IOStatus RawWalFileSystem::CheckLog(const std::string& path, const Volume& volume) {
  const std::string copy = path + kExported;
  const bool has_copy = target_->FileExists(copy, IOOptions(), nullptr).ok();
  if (has_copy && exports_) {
    return IOStatus::OK();  // it may have been exported, and be on the device no more
  }
  std::shared_ptr<Log> log;
  IOStatus s = FindLog(path, /*fresh=*/true, &log);
  if (has_copy) {
    s = CheckExported(path, s, log.get());
  }
  if (s.ok()) {
    s = log == nullptr ? CheckPlain(target_.get(), path, volume) : KeepFound(path, log.get());
  }
  return s.IsPathNotFound() ? IOStatus::OK() : s;  // deleted meanwhile
}

// Refuses a log that was exported by force, or by an earlier version, if that was interrupted when
// the log was deleted and the copy had not its name yet. Bytes that nobody had synced would not be
// missed.
IOStatus RawWalFileSystem::CheckExported(const std::string& path, const IOStatus& found,
                                         const Log* log) {
  const std::string copy = path + kExported;
  uint64_t copied = 0;
  if (found.ok() && log != nullptr) {
    IOStatus s = target_->GetFileSize(copy, IOOptions(), &copied, nullptr);
    if (!s.ok()) {
      return s;
    }
  }
  const bool is_short = log != nullptr && log->size() < copied;
  return is_short || found.IsCorruption()
             ? IOStatus::Corruption(
                   path, "was being exported, and has less than " + copy +
                             " now: run 'rocktier wal export' again, which puts that in its place")
             : found;
}

// Gives another name to what an export that was interrupted has left beside an earlier log of this
// name: the database was destroyed since, or put back. It would be taken for a copy of the log that
// is begun now.
IOStatus RawWalFileSystem::SetAsideCopy(const std::string& path) {
  const std::string copy = path + kExported;
  if (!target_->FileExists(copy, IOOptions(), nullptr).ok()) {
    return IOStatus::OK();
  }
  std::string aside = copy + ".old-1";
  for (int i = 2; target_->FileExists(aside, IOOptions(), nullptr).ok(); i++) {
    aside = copy + ".old-" + std::to_string(i);
  }
  Warn(InfoLog(), "raw_wal_fs: %s is of an earlier log of that name; it is called %s now",
       copy.c_str(), aside.c_str());
  return target_->RenameFile(copy, aside, IOOptions(), nullptr);
}

// Makes durable what a process has left that was killed before it synced. RocksDB may keep the log
// and write to others (avoid_flush_during_recovery): what it syncs there would not be replayed if
// this log lost its end. An export by force takes what it can get, and leaves the log until then.
// A standby that takes too long is left out, as of a log that is being written.
IOStatus RawWalFileSystem::KeepFound(const std::string& path, Log* log) {
  StubFile stub;
  const bool has_stub =
      FindStub(path, /*contents=*/false, &stub).ok() && stub.stub.log == log->id();
  if ((has_stub && stub.stub.durable >= log->size()) || in_force().force) {
    return IOStatus::OK();
  }
  std::shared_ptr<Standby> standby;
  IOStatus s = has_stub ? StandbyOf(path, stub.stub, &standby) : IOStatus::OK();
  std::string given_up;
  if (s.ok()) {
    std::chrono::milliseconds limit(in_force().failover_latency);
    TEST_SYNC_POINT_CALLBACK("RawWalFileSystem::KeepFound:Limit", &limit);
    s = log->SyncFound(standby, limit, &given_up);
  }
  if (!given_up.empty()) {
    Warn(InfoLog(), "raw_wal_fs: %s goes on in device=%s alone: %s", path.c_str(),
         in_force().device.c_str(), given_up.c_str());
  }
  return s;
}

// Checks a log that somebody keeps under a name of his own: whose it is. He reads it when he needs
// it, and knows what is lost if it is damaged.
IOStatus RawWalFileSystem::CheckKept(const std::string& path, const Volume& volume) {
  StubFile stub;
  return FindStub(path, /*contents=*/false, &stub).ok() ? CheckStub(path, stub.stub, volume)
                                                        : IOStatus::OK();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
