// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Who may delete what, when a database is opened and afterwards. Elsewhere in this plugin only
// `rocktier wal rm` (remove.cc) and `rocktier wal format --force` delete logs, because a user said
// so. `rocktier wal adopt` (adopt.cc) makes a log another directory's, and deletes nothing.
//
//   A stub is found in a directory, and            then
//   the log's header names this directory, by      it is this database's, under whatever path:
//     inode and time of creation                   read, and deleted when RocksDB deletes the stub
//   ... this directory, and another one of the     a copy, block by block, or the original of one:
//     same identity is where the log was created,    the same as the next
//     in another file system
//   ... another one, there or not, of this path    a copy, or moved as one: refused at LockFile(),
//     or not                                       and, if this process writes to the device, at
//                                                  reading and deleting, until `rocktier wal adopt`
//   ... none (version 1), and there is a stub of   a copy: the same
//     the log where it was created, not here
//   ... none, and there is no stub of it there     it is this database's
//   it is in a wal_dir, and the file there names   a copy, or moved as one: refused at its reading,
//     another folder than that of the database       renaming and deletion, and so is a new log
//     that is being opened                           there, until `rocktier wal adopt`
//   There is none in a wal_dir of which no file    no log is made there: its disk may not be
//     says that it is the database's, and a log      mounted
//     of another directory of its path has none
//   no header names the log; this process writes   a copy: refused
//     it, in another directory
//   no header names the log; the stub knows of     an empty log, except for its tail
//     no durable byte
//   no header names the log; the stub knows of     Corruption; the stub stays
//     durable bytes
//   its epoch is one that the device has not had   Corruption: the device is a restored snapshot
//   ... and nothing was ever appended to the log   an empty log
//   its uuid is another device's                   InvalidArgument
//   it is cut off or damaged                       Corruption
//   it is empty, and a log on the device was       Corruption: somebody has emptied the stub
//     created here under its name
//   it is called *.trash, in the archive or by no  the log is deleted, then the stub: whoever had
//     name of RocksDB's, and is this database's    deleted it was interrupted
//   it is called otherwise than RocksDB calls      the same as of RocksDB's logs, but that its
//     logs: somebody keeps it                      damage is only told to who reads it
//   a copy of it was made by `rocktier wal         Corruption if the log has less: the export is to
//     export`, which was interrupted               be run again. It puts the copy into the place of
//                                                  the stub, durably, and then deletes the log; by
//                                                  force in the opposite order
//
//   it names a standby that is not at hand         InvalidArgument
//   it says that the log goes on in the standby,   Corruption
//     where nothing of it is
//   it says that the log goes on on the device     its file in the standby is not read
//   the device, or the standby, stalls when it is  it is *.trash, and deleted later
//     deleted
//   A standby is another device's, or holds logs   InvalidArgument: nothing in it is touched
//     and does not say whose it is
//
//   A log on the device has no stub anywhere       it stays, until `rocktier wal rm`
//   The device is blank, or holds something else   it stays as it is: only a file that is not there
//                                                  is made
//
// A log loses its name first (*.trash, or a plain log has it), then its headers, then the stub. So
// each stub under the name of a log has its log, but where an export by force was interrupted.
//
// Lock order: RawWalFileSystem::rename_mutex_, LogWriter::io_mutex_, RawWalFileSystem::mutex_, that
// of open_volumes.cc, LogWriter::mutex_, Volume::mutex_. Nothing is called under the one of
// open_logs.cc. No device is touched under LogWriter::mutex_ or Volume::mutex_ alone.

#include <unistd.h>

#include <string>
#include <vector>

#include "plugin/raw_wal_fs/database.h"
#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/open_logs.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/stub_finder.h"
#include "plugin/raw_wal_fs/sync_points.h"
#include "plugin/raw_wal_fs/wal_home.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

std::string HexOf(const std::string& uuid) { return Slice(uuid).ToString(/*hex=*/true); }

// Refuses a stub that was copied: with the copy, the log of the original would be deleted.
IOStatus CheckOwner(const std::string& path, const Stub& stub, const Volume& volume,
                    const Standby* standby) {
  const std::string database = DatabaseOf(path);
  const DirectoryId here = IdentityOf(database);
  Volume::Segment header;
  if (!here.known()) {
    return IOStatus::OK();
  }
  if (!volume.DescribeLog(stub.log, &header) && !DescribeInStandby(standby, stub.log, &header)) {
    // Does this process write the log, and had no need of a segment yet?
    const std::shared_ptr<Log> open = FindOpenLog(volume, stub.log);
    return open == nullptr || IsSameDirectory(DatabaseOf(open->path()), database)
               ? IOStatus::OK()
               : IOStatus::InvalidArgument(path, "is a copy of " + open->path() +
                                                     ", which is being written: remove the copy");
  }
  const std::string there = DirectoryOf(header.name);
  const bool is_own = header.directory == here ||
                      header.directory == IdentityOf(DirectoryOf(path));  // called archive or lost
  if (is_own && !IsClone(there, DirectoryOf(path)) && !IsClone(there, database)) {
    return IOStatus::OK();
  }
  const bool is_same_path = IsSameDirectory(there, database);
  const bool is_of_version1 = !header.directory.known();  // only the path is known
  if (is_of_version1 && (is_same_path || !IdentityOf(there).known() || !header.whole_name ||
                         header.name.compare(0, 1, "/") != 0)) {
    return IOStatus::OK();
  }
  std::string stub_there;
  StubFinder finder(stub.uuid);
  const StubFinder::Answer answer =
      is_same_path ? StubFinder::Answer::kMissing : finder.Look(stub.log, header, &stub_there);
  if (is_of_version1 && answer == StubFinder::Answer::kMissing) {
    return IOStatus::OK();
  }
  const std::string reason =
      answer == StubFinder::Answer::kFound
          ? "is a copy of " + stub_there +
                ": the log is that one's. Remove the copy, or export the "
                "logs ('rocktier wal export') before the original is copied"
      : is_same_path ? "may be an older copy: its log was created in another directory of this path"
                     : "may be a copy: its log was created in " + there + ", another directory";
  return IOStatus::InvalidArgument(
      path, reason + ". 'rocktier wal adopt " + volume.path() + " " + database +
                "' tells what would be lost; --force makes the logs those of this directory");
}

}  // namespace

IOStatus RawWalFileSystem::CheckStub(const std::string& path, const Stub& stub,
                                     const Volume& volume) const {
  if (stub.uuid != volume.superblock().uuid) {
    return IOStatus::InvalidArgument(path, "is on the log device with uuid " + HexOf(stub.uuid) +
                                               "; device=" + in_force().device + " has uuid " +
                                               HexOf(volume.superblock().uuid));
  }
  IOStatus s = volume.CheckAge(stub.epoch);
  s = s.IsCorruption() && IsOfEmptyLog(target_.get(), path) ? IOStatus::OK() : s;
  std::shared_ptr<Standby> standby;
  if (s.ok()) {
    s = StandbyOf(path, stub, &standby);
  }
  s = s.ok() && volume.writable() ? CheckOwner(path, stub, volume, standby.get()) : s;
  return s.ok() && volume.writable() ? CheckOpener(path) : s;
}

// Frees the log, and leaves the stub: as long as it is there the space belongs to somebody.
IOStatus RawWalFileSystem::DeleteLog(const std::string& path, LogId* deleted) {
  *deleted = LogId();
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  if (s.IsNotFound()) {
    return IOStatus::OK();
  }
  *deleted = stub.stub.log;
  std::shared_ptr<Volume> volume;
  if (s.ok()) {
    s = ForWriting(&volume);
  }
  if (s.ok()) {
    s = CheckStub(path, stub.stub, *volume);
  }
  return s.ok() ? FreeLog(path, stub.stub, volume.get()) : s;
}

IOStatus RawWalFileSystem::FreeLog(const std::string& path, const Stub& stub, Volume* volume) {
  IOStatus s = DeleteSegments(volume, stub.log);
  if (!s.ok()) {
    return s;
  }
  std::shared_ptr<Standby> standby;
  s = StandbyOf(path, stub, &standby);
  if (s.ok() && standby != nullptr) {
    s = Standby::DeleteInTime(standby, stub.log);
  }
  if (!s.ok()) {
    Warn(InfoLog(), "raw_wal_fs: the end of %s stays in standby=%s: %s", path.c_str(),
         in_force().standby.c_str(), s.ToString().c_str());
    s = IOStatus::OK();
  }
  volume->counters().logs_deleted++;
  Forget(stub.log);  // who has found it has taken its segments before
  volume->Release(stub.log);
  return s;
}

// Whoever opens the database finds the copy or the log, whenever this is interrupted: a stub whose
// log is gone would be missed, or, with paranoid_checks=false, passed over.
IOStatus RawWalFileSystem::ReplaceLog(const std::string& path, const std::string& copy) {
  std::lock_guard<std::mutex> lock(rename_mutex_);
  StubFile stub;
  std::shared_ptr<Volume> volume;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  if (s.ok()) {
    s = ForWriting(&volume);
  }
  if (s.ok()) {
    s = CheckStub(path, stub.stub, *volume);
  }
  if (s.ok()) {
    s = target_->RenameFile(copy, path, IOOptions(), nullptr);
  }
  if (!s.ok()) {
    return s;
  }
  s = SyncDirectory(target_.get(), DirectoryOf(path));
  TEST_SYNC_POINT("RawWalFileSystem::ReplaceLog:Replaced");
  if (s.ok()) {
    s = FreeLog(path, stub.stub, volume.get());
  }
  Forget(stub.stub.log);
  return s.ok()
             ? s
             : IOStatus::IOError(path, "is a plain log now, and log " + stub.stub.log.ToString() +
                                           " stays on device=" + volume->path() + ": " +
                                           s.ToString() + ". 'rocktier wal rm' frees it");
}

// Beside a standby, nobody waits for the device, nor for the standby.
IOStatus RawWalFileSystem::DeleteSegments(Volume* volume, LogId log) {
  if (in_force().standby.empty()) {
    return volume->Delete(log);
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (standby_ != nullptr && !standby_->answers()) {
      return IOStatus::Aborted("standby=" + in_force().standby, "does not answer");
    }
  }
  if (volume->health().stalled() && volume->HasSegments(log)) {
    return IOStatus::Aborted("device=" + volume->path(), "does not answer");
  }
  std::chrono::milliseconds limit(in_force().failover_latency);
  TEST_SYNC_POINT_CALLBACK("RawWalFileSystem::DeleteSegments:Limit", &limit);
  IOStatus s = volume->Delete(log, limit);
  if (s.IsTimedOut()) {
    volume->NoteStall(Health::Limits(in_force()));
  }
  return s.ok() || s.IsAborted() ? s : IOStatus::Aborted(s.ToString());
}

IOStatus RawWalFileSystem::DeleteFile(const std::string& path, const IOOptions& options,
                                      IODebugContext* dbg) {
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  if (s.IsNotFound()) {
    return target_->DeleteFile(path, options, dbg);
  }
  // The name goes first, for good: a stub under a log's name whose log is gone would be taken for a
  // loss. What a crash leaves under the other name RocksDB deletes when it opens the database.
  std::string trash = path;
  const bool has_name = !IsTrashName(path);
  if (s.ok() && has_name) {
    trash += kTrash;
    s = RenameFile(path, trash, options, dbg);
  }
  if (s.ok()) {
    s = SyncNames(trash);
  }
  if (has_name) {
    TEST_SYNC_POINT("RawWalFileSystem::DeleteFile:NameIsGone");
  }
  if (!s.ok()) {
    return s;
  }
  s = DeleteTrash(trash, options, dbg);
  if (s.IsAborted()) {
    std::lock_guard<std::mutex> lock(mutex_);
    deferred_.push_back({trash, stub.stub.log});
    return IOStatus::OK();
  }
  DeleteDeferred();
  return s;
}

// Makes it durable that a log has lost its name, also where it was before it was archived. Whoever
// made it trash may have been killed before that was so, or was RocksDB, which syncs nothing then.
IOStatus RawWalFileSystem::SyncNames(const std::string& trash) const {
  const std::string directory = DirectoryOf(trash);
  const std::string above = DatabaseOf(trash);
  // A wal_dir may be called archive, and be below a directory that we may not read.
  const bool has_above = above != directory && access(above.c_str(), R_OK) == 0;
  IOStatus s = has_above ? SyncDirectory(target_.get(), above) : IOStatus::OK();
  return s.ok() ? SyncDirectory(target_.get(), directory) : s;
}

IOStatus RawWalFileSystem::DeleteTrash(const std::string& trash, const IOOptions& options,
                                       IODebugContext* dbg) {
  LogId log;
  IOStatus s = DeleteLog(trash, &log);
  if (s.ok()) {
    TEST_SYNC_POINT("RawWalFileSystem::DeleteFile:LogIsGone");
    s = target_->DeleteFile(trash, options, dbg);
    Forget(log);  // somebody may have found it before the stub went
  }
  return s;
}

// Deletes logs that could not be deleted while the device stalled. What is left is deleted with the
// next log, or when the database is opened.
void RawWalFileSystem::DeleteDeferred() {
  std::vector<Deferred> deferred;
  std::shared_ptr<Volume> volume;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    deferred.swap(deferred_);
    volume = volume_;
  }
  std::vector<Deferred> left;
  for (const Deferred& each : deferred) {
    StubFile stub;
    if (!FindStub(each.trash, /*contents=*/false, &stub).ok() || stub.stub.log != each.log) {
      continue;  // it is gone
    }
    // Not one after the other, each with its limit, if the device does not answer.
    const bool waits = volume == nullptr || volume->health().stalled();
    if (waits || DeleteTrash(each.trash, IOOptions(), nullptr).IsAborted()) {
      left.push_back(each);
    }
  }
  std::lock_guard<std::mutex> lock(mutex_);
  deferred_.insert(deferred_.end(), left.begin(), left.end());
}

// Deletes what is left of deleted logs where RocksDB does not look for that: in the archive, and
// under names that are not RocksDB's.
IOStatus RawWalFileSystem::CleanTrash(const std::string& directory) {
  IOStatus s;
  const std::string archive = directory + "/archive";
  for (const std::string& place : {directory, archive}) {
    std::vector<std::string> names;
    target_->GetChildren(place, IOOptions(), &names, nullptr).PermitUncheckedError();  // has none
    for (const std::string& name : names) {
      const std::string path = place + "/" + name;
      StubFile stub;
      if (!s.ok() || !IsStubName(name) || !IsTrashName(name)) {
        continue;
      }
      if (IsLogName(name) ? place == archive : FindStub(path, /*contents=*/false, &stub).ok()) {
        s = DeleteFile(path, IOOptions(), nullptr);
      }
    }
  }
  return s;
}

IOStatus RawWalFileSystem::LockFile(const std::string& path, const IOOptions& options,
                                    FileLock** lock, IODebugContext* dbg) {
  IOStatus s = target_->LockFile(path, options, lock, dbg);
  std::shared_ptr<Volume> volume;
  if (!s.ok() || options.property_bag.count(kLookOnly) > 0) {
    return s;
  }
  const std::string database = DirectoryOf(path);
  BeginOpening(*lock, database);
  s = ForWriting(&volume);
  if (s.ok()) {
    s = CheckDirectory(database, *volume);
  }
  // The wal_dir of the last opening. Another one's, as in a checkpoint, is not looked at: if this
  // one is opened with it, it is refused at the first log.
  std::string wal_dir;
  bool cleans_wal_dir = false;
  if (s.ok() && FindWalDir(target_.get(), database, &wal_dir).ok() && wal_dir != database &&
      CheckWalHome(target_.get(), wal_dir, database, in_force().device).ok()) {
    s = CheckDirectory(wal_dir, *volume);
    cleans_wal_dir = true;
  }
  if (s.ok()) {  // last: what the stubs say was checked
    std::shared_ptr<Standby> standby;
    s = StandbyForWriting(*volume, &standby);
  }
  if (s.ok() && cleans_wal_dir) {
    s = CleanTrash(wal_dir);
  }
  if (s.ok()) {
    s = CleanTrash(database);
  }
  if (!s.ok()) {
    EndOpening(*lock);
    target_->UnlockFile(*lock, options, dbg).PermitUncheckedError();
    *lock = nullptr;
    return s;
  }
  {
    std::lock_guard<std::mutex> guard(mutex_);
    locked_[*lock] = database;
  }
  StartReporting(*lock, database);
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
