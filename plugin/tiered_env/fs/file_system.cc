// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/file_system.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/options_file.h"
#include "plugin/tiered_env/fs/directory.h"
#include "plugin/tiered_env/fs/manifest_file.h"
#include "plugin/tiered_env/fs/random_access_file.h"
#include "plugin/tiered_env/fs/writable_file.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostTries = 8;  // of a file that is moved again and again while it is opened

constexpr char kRecover[] =
    "; to open the database for writing, or \"rocktier tier recover\", brings it back";

// Files that are always at home, and never looked at for being a stub.
bool IsNeverStub(const std::string& base) {
  return base == "CURRENT" || base == "LOCK" || base == "IDENTITY" ||
         base.compare(0, 3, "LOG") == 0;
}

IOStatus Lost(const std::string& path, const Place& place) {
  const std::string reason = "is lost: " + place.tier->ToString() + " has no " + place.path;
  // A secondary instance would leave out what is only not there.
  return place.tier->is_volatile()
             ? IOStatus::IOError(path, reason + kRecover)
             : IOStatus::PathNotFound(path, reason + "; is the disk of the tier mounted?");
}

}  // namespace

IOStatus TieredFileSystem::ReadStub(const std::string& path, Stub* stub) const {
  uint64_t size;
  IOStatus s = target_->GetFileSize(path, IOOptions(), &size, nullptr);
  if (!s.ok() || size == 0 || size > Stub::kSize) {
    return IOStatus::NotFound();
  }
  std::string contents;
  s = ReadSmallFile(target_.get(), path, Stub::kSize, &contents);
  bool is_directory = false;  // a small one, as tmpfs and XFS have them
  if (!s.ok() && target_->IsDirectory(path, IOOptions(), &is_directory, nullptr).ok() &&
      is_directory) {
    return IOStatus::NotFound();
  }
  if (!s.ok()) {
    return IsMissing(s) ? IOStatus::NotFound() : s;
  }
  return AsIOStatus(Stub::Decode(contents, path, stub));
}

IOStatus TieredFileSystem::Resolve(const std::string& path, Place* place) {
  place->tier = policy_.home_tier();
  place->path = path;
  place->stub = false;
  if (IsNeverStub(BaseOf(path))) {
    return IOStatus::OK();
  }
  Stub stub;
  IOStatus s = ReadStub(path, &stub);
  if (!s.ok()) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  const auto tier =
      std::find_if(policy_.tiers.begin(), policy_.tiers.end(),
                   [&](const auto& candidate) { return candidate->name() == stub.tier; });
  if (tier == policy_.tiers.end() || (*tier)->is_home()) {
    return IOStatus::InvalidArgument(
        path, "is in tier " + stub.tier + " (" + stub.directory + "), which tiers= does not name");
  }
  place->tier = tier->get();
  place->path = Folders::PathIn(**tier, stub.path);
  place->stub = true;
  return s;
}

template <typename UsePlace>
IOStatus TieredFileSystem::WithPlace(const std::string& path, const UsePlace& use) {
  IOStatus s;
  for (int i = 0; i < kMostTries; i++) {
    Place place;
    bool lost = false;
    s = TryPlaces(path, use, &place);
    s = place.stub ? s : OrLost(path, std::move(s), &lost);
    // A stub is there before its recipe: the file may have been made between the two looks.
    if (!lost || !Resolve(path, &place).ok() || !place.stub) {
      break;
    }
  }
  return s;
}

// Also after a success at home: what was opened there might be the stub of a file that has just
// gone.
template <typename UsePlace>
IOStatus TieredFileSystem::TryPlaces(const std::string& path, const UsePlace& use, Place* place) {
  IOStatus s = Resolve(path, place);
  bool brought_back = false;
  for (int i = 0; s.ok() && i < kMostTries; i++) {
    TEST_SYNC_POINT_CALLBACK("TieredFileSystem::WithPlace:Resolved",
                             const_cast<std::string*>(&path));
    IOStatus used = use(*place);
    if (!IsMissing(used) && (place->stub || !used.ok())) {
      return used;
    }
    Place again;
    s = Resolve(path, &again);
    if (s.ok() && again.path == place->path) {
      if (!brought_back && BringBack(path, again)) {
        brought_back = true;
        continue;
      }
      return place->stub ? Lost(path, *place) : used;
    }
    *place = again;
  }
  return s.ok() ? IOStatus::Busy(path, "is moved too often") : s;
}

bool TieredFileSystem::BringBack(const std::string& path, const Place& place) const {
  const std::shared_ptr<Database> database = FindDatabase(DirectoryOf(path));
  return place.stub && place.tier->is_volatile() && database != nullptr &&
         database->recovery_manager() != nullptr && database->recovery_manager()->BringBack().ok();
}

// A stub of a tier in memory is not synced, so power may have taken it, too, or left a part of it
// under its name. Whoever has locked the database has had that recovered: what is not there then
// was deleted.
IOStatus TieredFileSystem::OrLost(const std::string& path, IOStatus s, bool* lost) {
  uint64_t number;
  uint64_t size = 0;
  if (ContentOf(path, &number) != Content::kTable || FindDatabase(DirectoryOf(path)) != nullptr ||
      !(s.ok() || IsMissing(s) || s.IsCorruption())) {
    return s;
  }
  if (s.ok() &&
      (!target_->GetFileSize(path, IOOptions(), &size, nullptr).ok() || size > Stub::kSize)) {
    return s;
  }
  uint64_t whole = 0;
  if (!follower_->HasRecipe(path, &whole) || (s.ok() && size == whole)) {
    return s;
  }
  *lost = true;
  return IOStatus::IOError(
      path, "is lost: it was in memory, and has not even a stub" + std::string(kRecover));
}

IOStatus TieredFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<FSSequentialFile>* result,
                                             IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NewSequentialFile(place.path, options, result, dbg);
  });
}

// Whether direct I/O can be RocksDB asks of home alone.
IOStatus TieredFileSystem::OpenReader(const Place& place, const FileOptions& options,
                                      std::unique_ptr<FSRandomAccessFile>* result) {
  IOStatus s = place.fs()->NewRandomAccessFile(place.path, options, result, nullptr);
  if (!s.ok() && !IsMissing(s) && place.stub && options.use_direct_reads) {
    FileOptions buffered = options;
    buffered.use_direct_reads = false;
    s = place.fs()->NewRandomAccessFile(place.path, buffered, result, nullptr);
  }
  return s;
}

IOStatus TieredFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                               std::unique_ptr<FSRandomAccessFile>* result,
                                               IODebugContext* dbg) {
  uint64_t switches;
  {
    std::lock_guard<std::mutex> lock(readers_mutex_);
    switches = switches_;
  }
  Tier* tier = nullptr;
  IOStatus s = WithPlace(path, [&](const Place& place) {
    tier = place.tier;
    return OpenReader(place, options, result);
  });
  uint64_t number;
  const Content content = ContentOf(path, &number);
  if (!s.ok() || (content != Content::kTable && content != Content::kBlob)) {
    return s;
  }
  auto reader = std::make_unique<TieredRandomAccessFile>(this, Normalized(path), options, tier,
                                                         std::move(*result));
  std::lock_guard<std::mutex> lock(readers_mutex_);
  readers_.emplace(reader->path(), reader.get());
  if (switches != switches_) {
    SwitchReader(reader.get());  // the switch may have been of this file
  }
  *result = std::move(reader);
  return s;
}

void TieredFileSystem::Closed(TieredRandomAccessFile* reader) {
  std::lock_guard<std::mutex> lock(readers_mutex_);
  const auto range = readers_.equal_range(reader->path());
  for (auto it = range.first; it != range.second; ++it) {
    if (it->second == reader) {
      readers_.erase(it);
      return;
    }
  }
}

// A reader cannot be destroyed meanwhile: it would have to come past Closed().
void TieredFileSystem::SwitchReaders(const std::string& path) {
  std::lock_guard<std::mutex> lock(readers_mutex_);
  switches_++;
  const auto range = readers_.equal_range(Normalized(path));
  for (auto it = range.first; it != range.second; ++it) {
    SwitchReader(it->second);
  }
}

void TieredFileSystem::SwitchReader(TieredRandomAccessFile* reader) {
  Place place;
  uint64_t bytes;
  if (!Resolve(reader->path(), &place).ok() ||
      !place.fs()->GetFileSize(place.path, IOOptions(), &bytes, nullptr).ok()) {
    return;
  }
  FileOptions options = reader->options();
  for (const bool direct : {options.use_direct_reads, false}) {
    options.use_direct_reads = direct;
    std::unique_ptr<FSRandomAccessFile> file;
    if (OpenReader(place, options, &file).ok() &&
        reader->Switch(place.tier, std::move(file), bytes)) {
      return;
    }
  }
}

IOStatus TieredFileSystem::Vacate(const std::string& path, Database* database,
                                  const IOOptions& options, IODebugContext* dbg) {
  if (!target_->FileExists(path, options, dbg).ok()) {
    return IOStatus::OK();
  }
  {
    std::lock_guard<std::mutex> lock(names_mutex_);
    Place old;
    IOStatus s = Resolve(path, &old);
    if (s.ok() && !old.stub && database != nullptr) {
      database->Remove(BaseOf(path));
    }
    if (!s.IsCorruption() && !(s.ok() && old.stub)) {
      return s;
    }
  }
  return DeleteFile(path, options, dbg);
}

IOStatus TieredFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext* dbg) {
  uint64_t number;
  const Content content = ContentOf(path, &number);
  std::shared_ptr<Database> database = FindDatabase(DirectoryOf(path));
  IOStatus s = Vacate(path, database.get(), options.io_options, dbg);
  if (!s.ok()) {
    return s;
  }
  if (database != nullptr && database->recovery_manager() != nullptr &&
      content == Content::kTable) {
    database->recovery_manager()->DropTable(
        BaseOf(path));  // of a file of this name whose stub was lost
  }
  if (database == nullptr || content == Content::kOther) {
    s = target_->NewWritableFile(path, options, result, dbg);
    RecoveryManager* const manager = RecoveryManagerOf(path, &database);
    if (s.ok() && manager != nullptr && content == Content::kWal) {  // in a wal_dir
      *result = manager->Track(path, std::move(*result));
    }
    return s;
  }
  auto writer = std::make_unique<TieredWritableFile>(this, std::move(database), path, options);
  if (content != Content::kTable) {
    // There is nothing to wait for, and logs are looked for before they are written.
    s = writer->Start();
  }
  if (s.ok()) {
    *result = std::move(writer);
  }
  return s;
}

IOStatus TieredFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                              std::unique_ptr<FSWritableFile>* result,
                                              IODebugContext* dbg) {
  IOStatus s = WithPlace(path, [&](const Place& place) {
    IOStatus opened = place.fs()->ReopenWritableFile(place.path, options, result, dbg);
    // Who syncs it, as the recovery manager does with logs of a process that has died, means its
    // name, too.
    return opened.ok() && place.stub && !place.tier->is_volatile() ? SyncStub(path) : opened;
  });
  uint64_t number;
  const std::shared_ptr<Database> database = FindDatabase(DirectoryOf(path));
  if (s.ok() && database != nullptr && ContentOf(path, &number) == Content::kMeta) {
    result->reset(new FollowedManifest(std::move(*result), database->recovery_manager(),
                                       [this, database] { Changed(database); }));
  }
  return s;
}

IOStatus TieredFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                             const FileOptions& options,
                                             std::unique_ptr<FSWritableFile>* result,
                                             IODebugContext* dbg) {
  std::shared_ptr<Database> database;
  if (RecoveryManagerOf(old_path, &database) != nullptr) {  // recipes may need what it has
    IOStatus deleted = DeleteFile(old_path, options.io_options, dbg);
    return deleted.ok() ? NewWritableFile(path, options, result, dbg) : deleted;
  }
  Place old;
  IOStatus s = Resolve(old_path, &old);
  if (!s.ok()) {
    return s;
  }
  if (!old.stub) {
    return target_->ReuseWritableFile(path, old_path, options, result, dbg);
  }
  // The stub gets the new name, and the file stays what it was.
  s = RenameFile(old_path, path, options.io_options, dbg);
  if (s.ok()) {
    s = SyncStub(path);  // nobody may have synced it under its old name
  }
  return s.ok() ? old.fs()->ReuseWritableFile(old.path, old.path, options, result, dbg) : s;
}

IOStatus TieredFileSystem::SyncStub(const std::string& path) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = target_->ReopenWritableFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Sync(IOOptions(), nullptr);
  }
  return s.ok() ? file->Close(IOOptions(), nullptr) : s;
}

IOStatus TieredFileSystem::NewRandomRWFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSRandomRWFile>* result,
                                           IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NewRandomRWFile(place.path, options, result, dbg);
  });
}

IOStatus TieredFileSystem::NewMemoryMappedFileBuffer(
    const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NewMemoryMappedFileBuffer(place.path, result);
  });
}

IOStatus TieredFileSystem::NewDirectory(const std::string& path, const IOOptions& options,
                                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) {
  std::unique_ptr<FSDirectory> directory;
  IOStatus s = target_->NewDirectory(path, options, &directory, dbg);
  if (s.ok()) {
    result->reset(new TieredDirectory(folders_.get(), WithoutSlash(path), std::move(directory)));
  }
  return s;
}

IOStatus TieredFileSystem::GetChildren(const std::string& directory, const IOOptions& options,
                                       std::vector<std::string>* result, IODebugContext* dbg) {
  IOStatus s = target_->GetChildren(directory, options, result, dbg);
  if (s.ok()) {
    result->erase(std::remove_if(result->begin(), result->end(), IsOurs), result->end());
  }
  return s;
}

IOStatus TieredFileSystem::GetChildrenFileAttributes(const std::string& directory,
                                                     const IOOptions& options,
                                                     std::vector<FileAttributes>* result,
                                                     IODebugContext* dbg) {
  IOStatus s = target_->GetChildrenFileAttributes(directory, options, result, dbg);
  if (!s.ok()) {
    return s;
  }
  result->erase(std::remove_if(result->begin(), result->end(),
                               [](const FileAttributes& file) { return IsOurs(file.name); }),
                result->end());
  for (FileAttributes& file : *result) {
    uint64_t number;
    const Content content = ContentOf(file.name, &number);
    if (s.ok() && file.size_bytes <= Stub::kSize) {
      s = GetFileSize(directory + "/" + file.name, options, &file.size_bytes, dbg);
      s = IsMissing(s) ? IOStatus::OK() : s;  // deleted meanwhile
    }
    Place place;
    if (s.ok() && (content == Content::kTable || content == Content::kBlob)) {
      s = Resolve(directory + "/" + file.name, &place);
      file.temperature = s.ok() ? place.tier->options().temperature : file.temperature;
    }
  }
  return s;
}

// In its own folder alone: a stub may have been copied from another database's directory.
IOStatus TieredFileSystem::DeletePlace(const std::string& path, const Place& place) {
  if (!BelongsTo(place, DirectoryOf(path))) {
    return IOStatus::OK();
  }
  IOStatus s = place.fs()->DeleteFile(place.path, IOOptions(), nullptr);
  folders_->Touch(DirectoryOf(path), *place.tier);
  return IsMissing(s) ? IOStatus::OK() : s;
}

RecoveryManager* TieredFileSystem::RecoveryManagerOf(const std::string& path,
                                                     std::shared_ptr<Database>* database) const {
  const std::string directory = DirectoryOf(path);
  const bool archived = BaseOf(directory) == BaseOf(ArchivalDirectory(""));
  const std::string owner = archived ? DirectoryOf(directory) : directory;
  uint64_t number;
  *database = FindDatabase(owner);
  if (*database == nullptr && ContentOf(path, &number) == Content::kWal) {
    *database = FindByWalDir(owner);
  }
  return *database == nullptr ? nullptr : (*database)->recovery_manager();
}

// By another spelling than that of the OPTIONS file it is the same directory.
std::shared_ptr<Database> TieredFileSystem::FindByWalDir(const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto named = wal_dirs_.find(directory);
  if (named != wal_dirs_.end()) {
    return named->second.lock();
  }
  FileId id;
  if (wal_dir_ids_.empty() || !FindFileId(directory, &id)) {
    return nullptr;
  }
  const auto known = wal_dir_ids_.find(id);
  return known == wal_dir_ids_.end() ? nullptr : known->second.lock();
}

bool TieredFileSystem::IsVital(const std::string& path) const {
  const std::string base = BaseOf(path);
  std::string current;
  return base == "CURRENT" ||
         (base.compare(0, strlen(kManifest), kManifest) == 0 &&
          ReadSmallFile(target_.get(), DirectoryOf(path) + "/CURRENT", base.size() + 1, &current)
              .ok() &&
          current == base + "\n");
}

IOStatus TieredFileSystem::DeleteFile(const std::string& path, const IOOptions& options,
                                      IODebugContext* dbg) {
  uint64_t number;
  const Content content = ContentOf(path, &number);
  std::shared_ptr<Database> database;
  RecoveryManager* const manager = RecoveryManagerOf(path, &database);
  IOStatus s;
  bool kept = false;
  if (manager != nullptr && IsVital(path)) {
    s = manager->Forget();
  }
  if (s.ok() && manager != nullptr && content == Content::kWal) {
    s = manager->KeepLog(path, /*stays=*/false, &kept);
  }
  // Before its name: what has a recipe and is not there would seem lost to others.
  if (s.ok() && manager != nullptr && content == Content::kTable) {
    manager->DropTable(BaseOf(path));
  }
  return s.ok() && !kept ? DeleteName(path, options, dbg) : s;
}

// The stub first: a file without a stub is found and deleted when the database is opened.
IOStatus TieredFileSystem::DeleteName(const std::string& path, const IOOptions& options,
                                      IODebugContext* dbg) {
  std::lock_guard<std::mutex> lock(names_mutex_);
  Place place;
  IOStatus s = Resolve(path, &place);
  if (s.IsCorruption()) {
    s = IOStatus::OK();  // a crash tore it before it meant anything
  }
  if (s.ok()) {
    s = target_->DeleteFile(path, options, dbg);
  }
  const std::shared_ptr<Database> database = FindDatabase(DirectoryOf(path));
  if (s.IsPathNotFound() && database != nullptr && database->WasSwept(BaseOf(path))) {
    return IOStatus::OK();
  }
  if (s.ok()) {
    if (database != nullptr) {
      database->Remove(BaseOf(path));
    }
    TEST_SYNC_POINT_CALLBACK("TieredFileSystem::DeleteFile:StubIsGone",
                             const_cast<std::string*>(&path));
    uint64_t number;
    const Content content = ContentOf(path, &number);
    // Others are deleted again if their stubs come back, logs may be looked for.
    if (place.stub && (content == Content::kWal || content == Content::kMeta)) {
      s = SyncDirectory(target_.get(), DirectoryOf(path));
    }
    if (s.ok() && place.stub) {
      s = DeletePlace(path, place);
    }
  }
  return s;
}

// If there is nothing but ours in a directory, deletes that, and what the tiers hold of it. Of a
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
  const bool was_database = folders_->Find(directory, &folder).ok() && !HasMetadata(directory) &&
                            FindDatabase(directory) == nullptr;
  if (!s.ok() || (!alone && !was_database) ||
      RecoveryManager::HasRecipes(target_.get(), directory)) {
    return IOStatus::OK();
  }
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    uint64_t number;
    Place place;
    if (EndsWith(name, kTemporary)) {
      target_->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
    } else if (ContentOf(name, &number) == Content::kTable && Resolve(path, &place).ok() &&
               place.tier->is_volatile()) {
      DeleteName(path, IOOptions(), nullptr).PermitUncheckedError();
    }
  }
  s = RecoveryManager::Remove(target_.get(), directory);
  if (s.ok() && !alone) {  // others may have stubs
    Survey survey(this, directory);
    if (!survey.Run().ok() || !survey.referenced().empty() || !survey.damaged().empty()) {
      return s;
    }
  }
  return s.ok() ? folders_->Remove(directory) : s;
}

IOStatus TieredFileSystem::DeleteDir(const std::string& path, const IOOptions& options,
                                     IODebugContext* dbg) {
  const std::string directory = WithoutSlash(path);
  IOStatus s = DeleteOurs(directory);
  if (s.ok()) {
    s = target_->DeleteDir(path, options, dbg);
  }
  // DestroyDB() comes to the archive when it has tried the directory above already.
  const std::string above = DirectoryOf(directory);
  std::string folder;
  if (s.ok() && folders_->Find(above, &folder).ok() && FindDatabase(above) == nullptr) {
    s = DeleteOurs(above);
  }
  return s;
}

IOStatus TieredFileSystem::Truncate(const std::string& path, size_t size, const IOOptions& options,
                                    IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->Truncate(place.path, size, options, dbg);
  });
}

IOStatus TieredFileSystem::GetFileSize(const std::string& path, const IOOptions& options,
                                       uint64_t* size, IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->GetFileSize(place.path, options, size, dbg);
  });
}

IOStatus TieredFileSystem::GetFileModificationTime(const std::string& path,
                                                   const IOOptions& options, uint64_t* time,
                                                   IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->GetFileModificationTime(place.path, options, time, dbg);
  });
}

// It is archived, or about to be deleted under a name of the trash.
IOStatus TieredFileSystem::RetireLog(RecoveryManager* manager, const std::string& from,
                                     const std::string& to, const IOOptions& options,
                                     IODebugContext* dbg) {
  uint64_t number;
  const bool archived = ContentOf(to, &number) == Content::kWal;
  bool kept;
  IOStatus s = manager->KeepLog(from, archived, &kept);
  if (s.ok() && kept && !archived) {
    return WriteSmallFile(target_.get(), to, "");
  }
  return s.ok() ? RenameName(from, to, options, dbg) : s;
}

IOStatus TieredFileSystem::RenameFile(const std::string& from, const std::string& to,
                                      const IOOptions& options, IODebugContext* dbg) {
  if (Normalized(from) == Normalized(to)) {  // nothing is replaced
    return target_->RenameFile(from, to, options, dbg);
  }
  uint64_t number;
  const Content content = ContentOf(from, &number);
  std::shared_ptr<Database> database;
  RecoveryManager* const manager = RecoveryManagerOf(from, &database);
  if (manager == nullptr || IsKept(BaseOf(to))) {
    return RenameName(from, to, options, dbg);
  }
  if (content == Content::kWal) {
    return RetireLog(manager, from, to, options, dbg);
  }
  IOStatus s;
  if (IsVital(from)) {
    s = Shelter(database);
  } else if (BaseOf(to) == "CURRENT" && manager->closed()) {
    s = Shelter(database);  // RepairDB() does not mind if the first attempt failed
  }
  if (!s.ok()) {
    return s;
  }
  if (content == Content::kMeta &&
      BaseOf(to).compare(0, kOptionsFileNamePrefix.size(), kOptionsFileNamePrefix) == 0) {
    std::string wal_dir;
    s = RenameName(from, to, options, dbg);
    if (s.ok()) {
      s = ReadWalDir(this, to, &wal_dir);
    }
    uint64_t period;
    if (ReadStatsPeriod(this, to, &period).ok()) {
      manager->SetReportPeriod(period);
    }
    return s.ok() ? NoteWalDir(database, wal_dir) : s;
  }
  Place place;
  if (content == Content::kTable && Resolve(from, &place).ok() && place.tier->is_volatile() &&
      !EndsWith(to, kTrash)) {  // under its new name it has no recipe
    s = LinkFile(from, to, options, dbg);
    return s.ok() ? DeleteFile(from, options, dbg) : s;
  }
  if (content == Content::kTable) {
    manager->DropTable(BaseOf(from));
  }
  return RenameName(from, to, options, dbg);
}

IOStatus TieredFileSystem::RenameName(const std::string& from, const std::string& to,
                                      const IOOptions& options, IODebugContext* dbg) {
  std::lock_guard<std::mutex> lock(names_mutex_);
  Place moved;
  Place replaced;
  IOStatus s = Resolve(from, &moved);
  if (s.ok()) {
    s = Resolve(to, &replaced);
  }
  if (s.ok() && moved.stub && !BelongsTo(moved, DirectoryOf(to))) {
    s = LinkPlace(moved, to);
    if (s.ok()) {
      s = target_->DeleteFile(from, options, dbg);
    }
    if (s.ok()) {
      s = DeletePlace(from, moved);
    }
  } else if (s.ok()) {
    s = target_->RenameFile(from, to, options, dbg);
  }
  if (!s.ok()) {
    return s;
  }
  folders_->Renamed(WithoutSlash(from), WithoutSlash(to));
  const std::string directory = DirectoryOf(from);
  const std::shared_ptr<Database> database = FindDatabase(directory);
  if (database != nullptr && DirectoryOf(to) == directory) {
    database->Rename(BaseOf(from), BaseOf(to));
  } else if (database != nullptr) {
    database->Remove(BaseOf(from));
  }
  if (replaced.stub) {  // what was there must not be lost before the name is another's for good
    s = SyncDirectory(target_.get(), DirectoryOf(to));
  }
  return s.ok() && replaced.stub ? DeletePlace(to, replaced) : s;
}

// A directory's folders are those of the directories in it, too: archive, lost.
bool TieredFileSystem::BelongsTo(const Place& place, const std::string& directory) {
  for (const std::string& owner : {directory, DirectoryOf(directory)}) {
    std::string folder;
    if (folders_->Find(owner, &folder).ok()) {
      const std::string in = Folders::PathIn(*place.tier, folder) + "/";
      return place.path.compare(0, in.size(), in) == 0;
    }
  }
  return false;
}

IOStatus TieredFileSystem::LinkPlace(const Place& from, const std::string& to) {
  Place place;
  IOStatus s = folders_->NewPath(DirectoryOf(to), BaseOf(to), from.tier, &place);
  if (s.ok()) {
    s = from.fs()->LinkFile(from.path, place.path, IOOptions(), nullptr);
  }
  if (s.ok()) {
    folders_->Touch(DirectoryOf(to), *place.tier);
  }
  TEST_SYNC_POINT("TieredFileSystem::LinkPlace:BeforeStub");
  if (s.ok()) {
    s = WriteStub(to, place);
    if (!s.ok()) {
      DeletePlace(to, place).PermitUncheckedError();
    }
  }
  return s;
}

// A plain file. What is in memory is not durable yet, and what pmem has is not the file alone:
// these are copied. Nobody has to wait for the copy.
IOStatus TieredFileSystem::LinkPlain(const Place& from, const std::string& to) {
  if (from.tier->options().kind == TierKind::kPath) {
    IOStatus linked = target_->LinkFile(from.path, to, IOOptions(), nullptr);
    if (linked.ok() || IsMissing(linked)) {
      return linked;
    }
  }
  uint64_t size;
  IOStatus s = from.fs()->GetFileSize(from.path, IOOptions(), &size, nullptr);
  Place copy;
  copy.tier = policy_.home_tier();
  copy.path = to + kTemporary;
  if (s.ok()) {
    s = CopyToNew(from, size, copy, nullptr, nullptr);
  }
  std::lock_guard<std::mutex> lock(names_mutex_);
  if (s.ok()) {
    s = target_->FileExists(to, IOOptions(), nullptr);
    s = s.ok() ? IOStatus::IOError(to, "exists already")
               : target_->RenameFile(copy.path, to, IOOptions(), nullptr);
  }
  if (s.ok()) {
    NoteNew(to, copy.tier);
  } else {
    target_->DeleteFile(copy.path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return s;
}

IOStatus TieredFileSystem::LinkFile(const std::string& from, const std::string& to,
                                    const IOOptions& options, IODebugContext* dbg) {
  Place source;
  IOStatus s = Resolve(from, &source);
  const bool plain = options_.checkpoints == "plain" && DirectoryOf(to) != DirectoryOf(from) &&
                     FindDatabase(DirectoryOf(to)) == nullptr;
  for (int i = 0; s.ok() && source.stub && (plain || source.tier->is_volatile()); i++) {
    s = LinkPlain(source, to);
    if (!IsMissing(s) || i == kMostTries) {
      return s;
    }
    s = Resolve(from, &source);  // it may have been moved
  }
  // It may have been moved.
  std::lock_guard<std::mutex> lock(names_mutex_);
  s = Resolve(from, &source);
  if (s.ok() && source.tier->is_volatile()) {
    s = IOStatus::PathNotFound(from, "is gone");
  }
  if (s.ok() && !source.stub) {
    s = target_->LinkFile(from, to, options, dbg);
    if (s.ok()) {
      NoteNew(to, source.tier);
    }
    return s;
  }
  if (s.ok()) {
    s = target_->FileExists(to, options, dbg);
    s = s.ok() ? IOStatus::IOError(to, "exists already") : LinkPlace(source, to);
  }
  if (s.ok()) {
    NoteNew(to, source.tier);
  }
  return s;
}

// Counts a file that came by a link.
void TieredFileSystem::NoteNew(const std::string& path, Tier* tier) {
  uint64_t number;
  const Content content = ContentOf(path, &number);
  const std::shared_ptr<Database> database = FindDatabase(DirectoryOf(path));
  uint64_t size;
  if (database != nullptr && (content == Content::kTable || content == Content::kBlob) &&
      GetFileSize(path, IOOptions(), &size, nullptr).ok()) {
    tier->Take(size);
    database->Add(BaseOf(path), tier, size);
  }
}

IOStatus TieredFileSystem::NumFileLinks(const std::string& path, const IOOptions& options,
                                        uint64_t* count, IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NumFileLinks(place.path, options, count, dbg);
  });
}

IOStatus TieredFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                        const IOOptions& options, bool* result,
                                        IODebugContext* dbg) {
  Place places[2];
  IOStatus s = Resolve(first, &places[0]);
  if (s.ok()) {
    s = Resolve(second, &places[1]);
  }
  return s.ok() ? target_->AreFilesSame(places[0].path, places[1].path, options, result, dbg) : s;
}

#ifdef TIERED_HAS_SYNC_FILE
IOStatus TieredFileSystem::SyncFile(const std::string& path, const FileOptions& file_options,
                                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) {
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->SyncFile(place.path, file_options, options, use_fsync, dbg);
  });
}
#endif

std::shared_ptr<Database> TieredFileSystem::FindDatabase(const std::string& directory) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = databases_.find(directory);
  return it == databases_.end() ? nullptr : it->second;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
