// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem in which names come to stand for something else: files are deleted,
// renamed and linked.

#include <algorithm>
#include <cstring>

#include "plugin/tiered_env/files/copy.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/options_file.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/wal/log_directories.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostTries = 8;  // of a file that is moved again and again while it is linked

// Returns whether a log leaves its directory, and not for the archive: RepairDB() puts it into
// lost/ when its records are in SSTs.
bool IsGivenUp(const FileRef& from, const FileRef& to) {
  return from.kind == Content::kWal && to.directory != from.directory &&
         !HasNameOfArchive(to.directory);
}

}  // namespace

IOStatus TieredFileSystem::Vacate(const FileRef& file, Database* database, const IOOptions& options,
                                  IODebugContext* dbg) {
  if (!target_->FileExists(file.path, options, dbg).ok()) {
    return IOStatus::OK();
  }
  {
    std::lock_guard<std::mutex> lock(*names_->mutex());
    Place old;
    IOStatus s = names_->Resolve(file.path, &old);
    if (s.ok() && !old.stub && database != nullptr) {
      database->Remove(file.base);
    }
    if (!s.IsCorruption() && !(s.ok() && old.stub)) {
      return s;
    }
  }
  return DeleteFile(file.path, options, dbg);
}

bool TieredFileSystem::IsVital(const FileRef& file) const {
  std::string current;
  return file.base == "CURRENT" ||
         (file.base.compare(0, strlen(kManifest), kManifest) == 0 &&
          ReadSmallFile(target_.get(), file.directory + "/CURRENT", file.base.size() + 1, &current)
              .ok() &&
          current == file.base + "\n");
}

bool TieredFileSystem::HasMetadata(const std::string& directory) const {
  std::vector<std::string> names;
  IOStatus s = target_->GetChildren(directory, IOOptions(), &names, nullptr);
  return !s.ok() || std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "CURRENT" || name.compare(0, strlen(kManifest), kManifest) == 0;
  });
}

IOStatus TieredFileSystem::DeleteFile(const std::string& path, const IOOptions& options,
                                      IODebugContext* dbg) {
  const Use use(&uses_);
  const FileRef file(path);
  std::shared_ptr<OpenDatabase> database;
  RecoveryManager* const manager = RecoveryManagerOf(file, &database);
  IOStatus s;
  bool kept = false;
  if (manager != nullptr && IsVital(file)) {
    s = manager->Forget();
  }
  if (s.ok() && manager != nullptr && file.kind == Content::kWal) {
    s = manager->KeepLog(path, /*stays=*/false, &kept);
  }
  // Comes before the name: what has a recipe and is not there would seem lost to others.
  if (s.ok() && manager != nullptr && file.kind == Content::kTable) {
    manager->DropTable(file.base);
  }
  return s.ok() && !kept ? DeleteName(file, options, dbg) : s;
}

// The stub first: a file without a stub is found and deleted when the database is opened.
IOStatus TieredFileSystem::DeleteName(const FileRef& file, const IOOptions& options,
                                      IODebugContext* dbg) {
  const std::shared_ptr<OpenDatabase> database = databases_.Find(file.directory);
  const std::string log = WithoutTrash(file.base);  // in the tier it has its own name still
  if (database != nullptr && database->NeedsLog(log)) {
    // RocksDB deletes a log when the MANIFEST says that it is obsolete, and that may not have been
    // read yet. If it cannot be, as when the database is destroyed, the log counts as needed.
    database->Refresh().PermitUncheckedError();
  }
  std::lock_guard<std::mutex> lock(*names_->mutex());
  Place place;
  IOStatus s = names_->Resolve(file.path, &place);
  if (s.IsCorruption()) {
    s = IOStatus::OK();  // a crash tore it before it meant anything
  }
  if (s.ok() && place.stub && database != nullptr && database->NeedsLog(log)) {
    // Only who destroys the database deletes it, and may be interrupted: no opening shall miss it.
    s = names_->DeletePlace(file.path, place);
    s = s.ok() ? names_->folders()->Sync(file.directory, /*strictly=*/true) : s;
  }
  if (s.ok()) {
    s = target_->DeleteFile(file.path, options, dbg);
  }
  if (s.IsPathNotFound() && database != nullptr && database->WasSwept(file.base)) {
    return IOStatus::OK();
  }
  if (!s.ok()) {
    return s;
  }
  if (database != nullptr) {
    database->Remove(file.base);
  }
  TEST_SYNC_POINT_CALLBACK("TieredFileSystem::DeleteFile:StubIsGone",
                           const_cast<std::string*>(&file.path));
  // Others are deleted again if their stubs come back, logs may be looked for.
  if (place.stub && (file.kind == Content::kWal || file.kind == Content::kMeta)) {
    s = SyncDirectory(target_.get(), file.directory);
  }
  return s.ok() && place.stub ? names_->DeletePlace(file.path, place) : s;
}

// Deletes what is ours in a directory, and what the tiers hold of it, if it has nothing else. Of a
// database that was destroyed also beside what is somebody else's, with the SSTs in memory that
// were rebuilt when it was locked: RocksDB has not seen them. Not where there are recipes: it was
// not destroyed.
IOStatus TieredFileSystem::DeleteOurs(const std::string& directory) {
  std::vector<std::string> names;
  IOStatus s = target_->GetChildren(directory, IOOptions(), &names, nullptr);
  const bool alone = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "." || name == ".." || IsOurs(name);
  });
  std::string folder;
  const bool was_database = names_->folders()->Find(directory, &folder).ok() &&
                            !HasMetadata(directory) && databases_.Find(directory) == nullptr;
  if (!s.ok() || (!alone && !was_database) ||
      RecoveryManager::HasRecipes(target_.get(), directory)) {
    return IOStatus::OK();
  }
  for (const std::string& name : names) {
    const FileRef file(directory + "/" + name);
    Place place;
    if (EndsWith(name, kTemporary) || IsMetrics(name)) {
      target_->DeleteFile(file.path, IOOptions(), nullptr).PermitUncheckedError();
    } else if (file.kind == Content::kTable && names_->Resolve(file.path, &place).ok() &&
               place.tier->is_volatile()) {
      DeleteName(file, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
  s = RecoveryManager::Remove(*names_, directory);
  if (s.ok() && !alone) {  // others may have stubs
    Survey survey(names_.get(), directory);
    if (!survey.Run().ok() || !survey.referenced().empty() || !survey.damaged().empty()) {
      return s;
    }
  }
  return s.ok() ? names_->folders()->Remove(directory) : s;
}

IOStatus TieredFileSystem::DeleteDir(const std::string& path, const IOOptions& options,
                                     IODebugContext* dbg) {
  const Use use(&uses_);
  const std::string directory = WithoutSlash(path);
  IOStatus s = DeleteOurs(directory);
  if (s.ok()) {
    s = target_->DeleteDir(path, options, dbg);
  }
  // DestroyDB() comes to the archive when it has tried the directory above already.
  const std::string above = DirectoryOf(directory);
  std::string folder;
  if (s.ok() && names_->folders()->Find(above, &folder).ok() && databases_.Find(above) == nullptr) {
    s = DeleteOurs(above);
  }
  return s;
}

// Keeps a log that is archived, or about to be deleted under a name of the trash.
IOStatus TieredFileSystem::RenameLog(RecoveryManager* manager, const FileRef& from,
                                     const FileRef& to, const IOOptions& options,
                                     IODebugContext* dbg) {
  const bool archived = to.kind == Content::kWal;
  bool kept;
  IOStatus s = manager->KeepLog(from.path, archived, &kept);
  if (s.ok() && kept && !archived) {
    return WriteSmallFile(target_.get(), to.path, "");
  }
  return s.ok() ? RenameName(from, to, options, dbg) : s;
}

// Brings it out of memory: under its new name it has no recipe. In the trash it needs none.
IOStatus TieredFileSystem::RenameTable(RecoveryManager* manager, const FileRef& from,
                                       const FileRef& to, const IOOptions& options,
                                       IODebugContext* dbg) {
  Place place;
  if (names_->Resolve(from.path, &place).ok() && place.tier->is_volatile() &&
      !EndsWith(to.path, kTrash)) {
    IOStatus s = LinkFile(from.path, to.path, options, dbg);
    return s.ok() ? DeleteFile(from.path, options, dbg) : s;
  }
  manager->DropTable(from.base);
  return RenameName(from, to, options, dbg);
}

IOStatus TieredFileSystem::RenameOther(const std::shared_ptr<OpenDatabase>& database,
                                       const FileRef& from, const FileRef& to,
                                       const IOOptions& options, IODebugContext* dbg) {
  RecoveryManager* const manager = database->recovery_manager();
  // RepairDB() does not mind if the first attempt failed.
  const bool repairs =
      manager != nullptr && (IsVital(from) || (to.base == "CURRENT" && manager->closed()));
  IOStatus s = repairs ? Shelter(database) : IOStatus::OK();
  if (s.ok()) {
    s = RenameName(from, to, options, dbg);
  }
  const bool is_options =
      from.kind == Content::kMeta &&
      to.base.compare(0, kOptionsFileNamePrefix.size(), kOptionsFileNamePrefix) == 0;
  if (!s.ok() || !is_options) {
    return s;
  }
  std::string wal_dir;
  s = ReadWalDir(this, to.path, &wal_dir);
  uint64_t period;
  if (ReadStatsPeriod(this, to.path, &period).ok()) {
    database->log_period.store(period);
  }
  if (manager != nullptr) {
    manager->SetMakesLogsAhead(ReadMakesLogsAhead(this, to.path));
  }
  return s.ok() ? NoteWalDir(database, wal_dir) : s;
}

IOStatus TieredFileSystem::RenameFile(const std::string& from_path, const std::string& to_path,
                                      const IOOptions& options, IODebugContext* dbg) {
  const Use use(&uses_);
  if (Normalized(from_path) == Normalized(to_path)) {  // nothing is replaced
    return target_->RenameFile(from_path, to_path, options, dbg);
  }
  const FileRef from(from_path);
  const FileRef to(to_path);
  std::shared_ptr<OpenDatabase> database;
  RecoveryManager* const manager = RecoveryManagerOf(from, &database);
  if (database == nullptr || IsKept(to.base)) {
    return RenameName(from, to, options, dbg);
  }
  if (from.kind != Content::kWal && from.kind != Content::kTable) {
    return RenameOther(database, from, to, options, dbg);
  }
  if (manager == nullptr) {
    return RenameName(from, to, options, dbg);
  }
  return from.kind == Content::kWal ? RenameLog(manager, from, to, options, dbg)
                                    : RenameTable(manager, from, to, options, dbg);
}

IOStatus TieredFileSystem::RenameName(const FileRef& from, const FileRef& to,
                                      const IOOptions& options, IODebugContext* dbg) {
  std::lock_guard<std::mutex> lock(*names_->mutex());
  Place moved;
  Place replaced;
  IOStatus s = names_->Resolve(from.path, &moved);
  if (s.ok()) {
    s = names_->Resolve(to.path, &replaced);
  }
  const std::shared_ptr<OpenDatabase> database = databases_.Find(from.directory);
  if (s.ok() && moved.stub && !names_->BelongsTo(moved, to.directory)) {
    s = LinkPlace(moved, to, to);
    s = s.ok() ? SyncDirectory(target_.get(), to.directory) : s;
    if (s.ok()) {
      s = target_->DeleteFile(from.path, options, dbg);
    }
    if (s.ok()) {
      s = names_->DeletePlace(from.path, moved);
    }
  } else if (s.ok() && moved.stub && database != nullptr && IsGivenUp(from, to)) {
    s = GiveUp(moved, from, to);
  } else if (s.ok()) {
    s = target_->RenameFile(from.path, to.path, options, dbg);
  }
  if (!s.ok()) {
    return s;
  }
  names_->folders()->Renamed(WithoutSlash(from.path), WithoutSlash(to.path));
  if (database != nullptr && to.directory == from.directory) {
    database->Rename(from.base, to.base);
  } else if (database != nullptr) {
    database->Remove(from.base);
  }
  if (to.directory != from.directory) {
    NoteNew(to, moved.tier);
  }
  if (replaced.stub) {  // what was there must not be lost before the name is another's for good
    s = SyncDirectory(target_.get(), to.directory);
  }
  return s.ok() && replaced.stub ? names_->DeletePlace(to.path, replaced) : s;
}

IOStatus TieredFileSystem::LinkPlace(const Place& from, const FileRef& to, const FileRef& named) {
  Place place;
  IOStatus s = names_->folders()->NewPath(named.directory, named.base, from.tier, &place);
  if (s.ok()) {
    s = from.fs()->LinkFile(from.path, place.path, IOOptions(), nullptr);
  }
  if (s.ok()) {
    names_->folders()->Touch(named.directory, *place.tier, Folders::Change::kMade);
  }
  // As in PlacedFile::Open(): a log that has a name must be there.
  if (s.ok() && named.kind != Content::kTable && named.kind != Content::kBlob) {
    s = names_->folders()->Sync(named.directory);
  }
  TEST_SYNC_POINT("TieredFileSystem::LinkPlace:BeforeStub");
  if (s.ok()) {
    const bool is_new = IsMissing(target_->FileExists(to.path, IOOptions(), nullptr));
    s = names_->WriteStub(to.path, place);
    // A stub that stays must lead to something, and what is to be replaced may be there still.
    if (!s.ok() && is_new) {
      const IOStatus deleted = target_->DeleteFile(to.path, IOOptions(), nullptr);
      if (deleted.ok() || IsMissing(deleted)) {
        names_->DeletePlace(to.path, place).PermitUncheckedError();
      }
    }
  }
  TEST_SYNC_POINT_CALLBACK("TieredFileSystem::LinkPlace:AfterStub", &place.path);
  return s;
}

IOStatus TieredFileSystem::Recycle(const Place& place, const FileRef& from, const FileRef& to) {
  IOStatus s;
  {
    std::lock_guard<std::mutex> lock(*names_->mutex());
    s = LinkPlace(place, to, to);
    s = s.ok() ? names_->SyncStub(to.path) : s;
  }
  return s.ok() ? DeleteName(from, IOOptions(), nullptr) : s;  // which syncs the directory
}

// Under its own name it would be missed if the stub in lost/ was deleted, and brought back: then
// merge operands that are in an SST would be applied again.
IOStatus TieredFileSystem::GiveUp(const Place& place, const FileRef& from, const FileRef& to) {
  IOStatus s = LinkPlace(place, to, FileRef(from.path + kGivenUp));
  s = s.ok() ? SyncDirectory(target_.get(), to.directory) : s;
  if (!s.ok()) {  // there are no links, for one
    return target_->RenameFile(from.path, to.path, IOOptions(), nullptr);
  }
  s = target_->DeleteFile(from.path, IOOptions(), nullptr);
  s = s.ok() ? SyncDirectory(target_.get(), from.directory) : s;
  return s.ok() ? names_->DeletePlace(from.path, place) : s;
}

// A plain file. What is in memory is not durable yet, and what pmem has is not the file alone:
// these are copied. Nobody has to wait for the copy.
IOStatus TieredFileSystem::LinkPlain(const Place& from, const FileRef& to) {
  if (from.tier->options().kind == TierKind::kPath) {
    IOStatus linked = target_->LinkFile(from.path, to.path, IOOptions(), nullptr);
    if (linked.ok() || IsMissing(linked)) {
      return linked;
    }
  }
  uint64_t size;
  IOStatus s = from.fs()->GetFileSize(from.path, IOOptions(), &size, nullptr);
  Place copy;
  copy.tier = names_->policy().home_tier();
  copy.path = to.path + kTemporary;
  if (s.ok()) {
    s = CopyToNew(from, size, copy, nullptr, nullptr);
  }
  std::lock_guard<std::mutex> lock(*names_->mutex());
  if (s.ok()) {
    s = target_->FileExists(to.path, IOOptions(), nullptr);
    s = s.ok() ? IOStatus::IOError(to.path, "exists already")
               : target_->RenameFile(copy.path, to.path, IOOptions(), nullptr);
  }
  if (s.ok()) {
    NoteNew(to, copy.tier);
  } else {
    target_->DeleteFile(copy.path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

// Decides with the names held: a file at home that is about to leave must not be taken for a plain
// one that can be linked, and get a stub.
IOStatus TieredFileSystem::LinkFile(const std::string& from_path, const std::string& to_path,
                                    const IOOptions& options, IODebugContext* dbg) {
  const Use use(&uses_);
  const FileRef from(from_path);
  const FileRef to(to_path);
  const bool plain = in_force_.checkpoints == "plain" && to.directory != from.directory &&
                     databases_.Find(to.directory) == nullptr;
  IOStatus s;
  for (int i = 0; i <= kMostTries; i++) {
    Place source;
    {
      std::lock_guard<std::mutex> lock(*names_->mutex());
      s = names_->Resolve(from.path, &source);
      if (!s.ok() || !source.stub || !(plain || source.tier->is_volatile())) {
        return s.ok() ? LinkName(source, from, to, options, dbg) : s;
      }
    }
    s = LinkPlain(source, to);
    if (!IsMissing(s)) {
      return s;
    }
  }
  return s;  // it was moved each time
}

IOStatus TieredFileSystem::LinkName(const Place& source, const FileRef& from, const FileRef& to,
                                    const IOOptions& options, IODebugContext* dbg) {
  IOStatus s;
  if (!source.stub) {
    s = target_->LinkFile(from.path, to.path, options, dbg);
  } else {
    s = target_->FileExists(to.path, options, dbg);
    s = s.ok() ? IOStatus::IOError(to.path, "exists already") : LinkPlace(source, to, to);
  }
  if (s.ok()) {
    NoteNew(to, source.tier);
  }
  return s;
}

void TieredFileSystem::NoteNew(const FileRef& file, Tier* tier) {
  const std::shared_ptr<OpenDatabase> database = databases_.Find(file.directory);
  uint64_t size;
  uint64_t written = 0;
  if (database != nullptr && file.counts() &&
      GetFileSize(file.path, IOOptions(), &size, nullptr).ok()) {
    GetFileModificationTime(file.path, IOOptions(), &written, nullptr).PermitUncheckedError();
    tier->Take(size);
    database->Add(file.base, tier, size, written);
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
