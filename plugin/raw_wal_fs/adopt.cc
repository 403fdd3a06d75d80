// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Makes logs those of the directory that their stubs are in: of a database that was copied to
// another place, or put back from a copy. Deletes nothing.

#include <map>
#include <set>
#include <string>

#include "plugin/raw_wal_fs/database.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/open_logs.h"
#include "plugin/raw_wal_fs/open_volumes.h"
#include "plugin/raw_wal_fs/place.h"
#include "plugin/raw_wal_fs/standby.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/stub_finder.h"
#include "plugin/raw_wal_fs/wal_home.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

class Adoption {
 public:
  Adoption(std::shared_ptr<Volume> volume, std::string database, std::string standby,
           RawWalAdoption* result)
      : volume_(std::move(volume)),
        database_(std::move(database)),
        standby_folder_(std::move(standby)),
        finder_(volume_->superblock().uuid),
        result_(result) {}

  IOStatus Look() {
    std::vector<std::string> paths;
    IOStatus s = LookAtWalDir();
    if (s.ok()) {
      s = FindLogs(FileSystem::Default().get(), database_, &paths);
    }
    for (size_t i = 0; s.ok() && i < paths.size(); i++) {
      s = Consider(paths[i]);
    }
    if (s.ok()) {
      FindUnnamed();
    }
    return s;
  }

  // Keeps other processes from writing to the standby, if a log has one: it is written to as well.
  IOStatus LockStandby(bool dry_run) {
    return standby_ == nullptr
               ? IOStatus::OK()
               : Standby::OpenForTool(FileSystem::Default(), standby_folder_,
                                      volume_->superblock().uuid, dry_run, &standby_);
  }

  IOStatus Run() {
    IOStatus s;
    for (const auto& [log, path] : foreign_) {
      const DirectoryId directory = IdentityOf(DatabaseOf(path));
      if (s.ok() && standby_ != nullptr) {
        s = standby_->Adopt(log, directory, NameFor(path), volume_->superblock());
      }
      if (s.ok()) {
        s = volume_->Adopt(log, directory, NameFor(path));
      }
    }
    return s.ok() && is_others_wal_dir_
               ? WriteWalHome(FileSystem::Default().get(), wal_dir_, database_)
               : s;
  }

 private:
  // Returns the name that the log would have if it had been created in this directory.
  static std::string NameFor(const std::string& path) {
    std::string base = path.substr(path.rfind('/') + 1);
    if (IsTrashName(base)) {
      base.resize(base.size() - (sizeof(kTrash) - 1));
    }
    return AbsolutePath(DatabaseOf(path) + "/" + base);
  }

  // Finds out whether the wal_dir is another database's. A damaged file that says so is written
  // anew.
  IOStatus LookAtWalDir() {
    IOStatus s = FindWalDir(FileSystem::Default().get(), database_, &wal_dir_);
    if (!s.ok() || IsSameDirectory(wal_dir_, database_)) {
      return s;
    }
    s = ReadWalHome(FileSystem::Default().get(), wal_dir_, &wal_home_);
    is_others_wal_dir_ = s.IsCorruption() || (s.ok() && wal_home_.IsOtherThan(database_));
    return s.IsCorruption() || s.IsNotFound() ? IOStatus::OK() : s;
  }

  // Adds a stub in another database's wal_dir.
  void AddToForeign(const std::string& path) {
    result_->foreign.push_back(path);
    if (result_->losers.empty() && wal_home_.IsThere()) {
      result_->losers.push_back(wal_home_.path);
    }
  }

  IOStatus Consider(const std::string& path) {
    StubFile file;
    IOStatus s = ReadStub(FileSystem::Default().get(), path, /*contents=*/false, &file);
    if (s.IsNotFound()) {
      return IOStatus::OK();  // a plain log
    }
    const Stub& stub = file.stub;
    if (s.ok() && stub.uuid != volume_->superblock().uuid) {
      s = IOStatus::InvalidArgument(
          path, "is on the log device with uuid " + Slice(stub.uuid).ToString(/*hex=*/true) +
                    "; device=" + volume_->path() + " has uuid " +
                    Slice(volume_->superblock().uuid).ToString(/*hex=*/true));
    }
    if (s.ok()) {
      s = volume_->CheckAge(stub.epoch);
      s = s.IsCorruption() && IsOfEmptyLog(FileSystem::Default().get(), path) ? IOStatus::OK() : s;
    }
    if (s.ok() && FindOpenLog(*volume_, stub.log) != nullptr) {
      s = IOStatus::Busy(path, "is being written: close its database first");
    }
    if (!s.ok()) {
      return s;
    }
    std::shared_ptr<Standby> standby = standby_;
    s = Standby::OfStub(FileSystem::Default(), standby_folder_, path, stub, &standby);
    if (!s.ok()) {
      return s;
    }
    standby_ = standby != nullptr ? standby : standby_;
    named_.insert(stub.log);
    const bool is_in_others_wal_dir =
        is_others_wal_dir_ && DatabaseOf(path) == wal_dir_ && !IsTrashName(path);
    if (is_in_others_wal_dir) {
      AddToForeign(path);
    }
    Volume::Segment header;
    if (!volume_->DescribeLog(stub.log, &header) &&
        !DescribeInStandby(standby.get(), stub.log, &header)) {
      if (stub.durable > 0 && !IsTrashName(path)) {
        result_->missing.push_back(path);
      }
      return s;
    }
    const std::string created = DirectoryOf(header.name);
    places_.insert(created);
    const std::string here = DatabaseOf(path);
    const bool is_same_path = IsSameDirectory(created, here);
    const DirectoryId id = IdentityOf(here);
    const bool is_own =
        header.directory == id || (!header.directory.known() && IdentityOf(created) == id);
    if (is_own && !IsClone(created, here)) {
      return s;
    }
    foreign_[stub.log] = path;
    if (!is_in_others_wal_dir) {
      result_->foreign.push_back(path);
    }
    std::string other;
    if (!is_same_path && finder_.Look(stub.log, header, &other) == StubFinder::Answer::kFound) {
      result_->losers.push_back(other);
    }
    return s;
  }

  // Collects logs of the same places that this database knows nothing of: it may be an older copy.
  void FindUnnamed() {
    places_.insert(DirectoryOf(AbsolutePath(database_ + "/LOCK")));
    std::set<LogId> seen;
    for (const Volume::Segment& segment : volume_->segments()) {
      if (segment.owner == Volume::Owner::kLog && named_.count(segment.log) == 0 &&
          places_.count(DirectoryOf(segment.name)) > 0 && seen.insert(segment.log).second) {
        result_->unnamed.push_back(segment.log.ToString() + ", created as " + segment.name);
      }
    }
  }

  const std::shared_ptr<Volume> volume_;
  const std::string database_;
  const std::string standby_folder_;  // empty: there is none
  std::shared_ptr<Standby> standby_;  // once a log is found that has one
  StubFinder finder_;
  RawWalAdoption* const result_;
  std::string wal_dir_;
  WalHome wal_home_;  // whose it is, if a file says so
  bool is_others_wal_dir_ = false;
  std::map<LogId, std::string> foreign_;  // and their stubs
  std::set<LogId> named_;                 // logs of which there is a stub
  std::set<std::string> places_;          // where these were created
};

}  // namespace

Status AdoptLogs(const RawWalOptions& options, const std::string& database,
                 RawWalAdoption* result) {
  *result = RawWalAdoption();
  FileSystem* const fs = FileSystem::Default().get();
  FileLock* lock = nullptr;
  IOStatus s = LockDatabase(fs, database, &lock);
  std::shared_ptr<Volume> volume;
  if (s.ok()) {
    s = options.dry_run ? OpenForDryRun(options, &volume) : OpenForWriting(options, &volume);
  }
  if (s.ok()) {
    Adoption adoption(volume, database, options.standby, result);
    const bool run = options.force && !options.dry_run;
    s = adoption.Look();
    if (s.ok()) {
      s = adoption.LockStandby(/*dry_run=*/!run);
    }
    if (s.ok() && run) {
      s = adoption.Run();
    }
  }
  if (lock != nullptr) {
    fs->UnlockFile(lock, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
