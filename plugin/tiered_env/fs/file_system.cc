// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/file_system.h"

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/claim.h"
#include "plugin/tiered_env/fs/directory.h"
#include "plugin/tiered_env/fs/manifest_file.h"
#include "plugin/tiered_env/fs/writable_file.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostTries = 8;  // of a file that is moved again and again while it is opened

constexpr char kRecover[] =
    "; to open the database for writing, or \"rocktier tier recover\", brings it back";

// Ends the message that a file is lost. RocksDB may add that the MANIFEST is corrupted.
constexpr char kMount[] =
    "; is the disk of the tier mounted? If not, nothing is damaged: mount it. See \"rocktier tier "
    "check\"";

// Comes before it, of a log whose stub is not in the directory of the folder. An opening does not
// know it there, and may have put the file aside.
constexpr char kMovedStub[] =
    "; its stub was made in another directory: if it was moved to a wal_dir, move it back";

IOStatus LostError(const std::string& path, const Place& place, bool moved) {
  const std::string reason =
      "is lost: " + place.tier->ToString() + " has no " + place.path + (moved ? kMovedStub : "");
  // A secondary instance would leave out what is only not there.
  return place.tier->is_volatile() ? IOStatus::IOError(path, reason + kRecover)
                                   : IOStatus::PathNotFound(path, reason + kMount);
}

}  // namespace

template <typename UsePlace>
IOStatus TieredFileSystem::WithPlace(const std::string& path, const UsePlace& use) {
  const FileRef file(path);
  IOStatus s;
  for (int i = 0; i < kMostTries; i++) {
    Place place;
    bool lost = false;
    s = TryPlaces(file, use, &place);
    s = place.stub ? s : OrLost(file, std::move(s), &lost);
    // A stub is there before its recipe: the file may have been made between the two looks.
    if (!lost || !names_->Resolve(path, &place).ok() || !place.stub) {
      break;
    }
  }
  return s;
}

// Looks again also after a success at home: what was opened there might be the stub of a file that
// has just gone.
template <typename UsePlace>
IOStatus TieredFileSystem::TryPlaces(const FileRef& file, const UsePlace& use, Place* place) {
  IOStatus s = names_->Resolve(file.path, place);
  bool brought_back = false;
  for (int i = 0; s.ok() && i < kMostTries; i++) {
    TEST_SYNC_POINT_CALLBACK("TieredFileSystem::WithPlace:Resolved",
                             const_cast<std::string*>(&file.path));
    IOStatus used = use(*place);
    if (!IsMissing(used) && (place->stub || !used.ok())) {
      return used;
    }
    Place again;
    s = names_->Resolve(file.path, &again);
    if (s.ok() && again.path == place->path) {
      if (!brought_back && BringBack(file.directory, again)) {
        brought_back = true;
        continue;
      }
      const bool moved =
          place->stub && file.kind == Content::kWal && !names_->BelongsTo(*place, file.directory);
      return place->stub ? LostError(file.path, *place, moved) : used;
    }
    *place = again;
  }
  return s.ok() ? IOStatus::Busy(file.path, "is moved too often") : s;
}

bool TieredFileSystem::BringBack(const std::string& directory, const Place& place) const {
  const std::shared_ptr<OpenDatabase> database = databases_.Find(directory);
  return place.stub && place.tier->is_volatile() && database != nullptr &&
         database->recovery_manager() != nullptr && database->recovery_manager()->BringBack().ok();
}

// A stub of a tier in memory is not synced, so power may have taken it, too, or left a part of it
// under its name. Whoever has locked the database has had that recovered: what is not there then
// was deleted.
IOStatus TieredFileSystem::OrLost(const FileRef& file, IOStatus s, bool* lost) {
  uint64_t size = 0;
  if (file.kind != Content::kTable || databases_.Find(file.directory) != nullptr ||
      !(s.ok() || IsMissing(s) || s.IsCorruption())) {
    return s;
  }
  if (s.ok() &&
      (!target_->GetFileSize(file.path, IOOptions(), &size, nullptr).ok() || size > Stub::kSize)) {
    return s;
  }
  uint64_t whole = 0;
  if (!follower_->HasRecipe(file.path, &whole) || (s.ok() && size == whole)) {
    return s;
  }
  *lost = true;
  return IOStatus::IOError(
      file.path, "is lost: it was in memory, and has not even a stub" + std::string(kRecover));
}

IOStatus TieredFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<FSSequentialFile>* result,
                                             IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NewSequentialFile(place.path, options, result, dbg);
  });
}

IOStatus TieredFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                               std::unique_ptr<FSRandomAccessFile>* result,
                                               IODebugContext* /*dbg*/) {
  const Use use(&uses_);
  const uint64_t switches = readers_->switches();
  Tier* tier = nullptr;
  IOStatus s = WithPlace(path, [&](const Place& place) {
    tier = place.tier;
    return OpenReaders::Open(place, options, result);
  });
  if (s.ok() && FileRef(path).counts()) {
    *result = readers_->Add(path, options, tier, std::move(*result), switches);
  }
  return s;
}

IOStatus TieredFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext* dbg) {
  const Use use(&uses_);
  const FileRef file(path);
  std::shared_ptr<OpenDatabase> database = databases_.Find(file.directory);
  IOStatus s = Vacate(file, database.get(), options.io_options, dbg);
  if (!s.ok()) {
    return s;
  }
  if (database != nullptr && database->recovery_manager() != nullptr &&
      file.kind == Content::kTable) {
    // Drops the recipe of a file of this name whose stub was lost.
    database->recovery_manager()->DropTable(file.base);
  }
  if (database == nullptr || file.kind == Content::kOther) {
    s = target_->NewWritableFile(path, options, result, dbg);
    RecoveryManager* const manager = RecoveryManagerOf(file, &database);
    if (s.ok() && manager != nullptr && file.kind == Content::kWal) {  // in a wal_dir
      *result = manager->Track(path, std::move(*result));
    }
    return s;
  }
  auto writer = std::make_unique<TieredWritableFile>(names_.get(), database, path, options,
                                                     WhenChanged(database));
  if (file.kind != Content::kTable) {
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
  const Use use(&uses_);
  IOStatus s = WithPlace(path, [&](const Place& place) {
    IOStatus opened = place.fs()->ReopenWritableFile(place.path, options, result, dbg);
    // Who syncs it, as the recovery manager does with logs of a process that has died, means its
    // name, too.
    return opened.ok() && place.stub && !place.tier->is_volatile() ? names_->SyncStub(path)
                                                                   : opened;
  });
  const FileRef file(path);
  const std::shared_ptr<OpenDatabase> database = databases_.Find(file.directory);
  if (s.ok() && database != nullptr && file.kind == Content::kMeta) {
    *result =
        std::make_unique<FollowedManifest>(std::move(*result), names_->folders(), file.directory,
                                           database->recovery_manager(), WhenChanged(database));
  }
  return s;
}

IOStatus TieredFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                             const FileOptions& options,
                                             std::unique_ptr<FSWritableFile>* result,
                                             IODebugContext* dbg) {
  const Use use(&uses_);
  std::shared_ptr<OpenDatabase> database;
  RecoveryManager* const manager = RecoveryManagerOf(FileRef(old_path), &database);
  if (manager != nullptr) {  // recipes may need what it has
    IOStatus made = NewWritableFile(path, options, result, dbg);
    if (made.ok()) {
      manager->DeleteLater(old_path);
    }
    return made;
  }
  Place old;
  IOStatus s = names_->Resolve(old_path, &old);
  if (!s.ok()) {
    return s;
  }
  if (!old.stub) {
    return target_->ReuseWritableFile(path, old_path, options, result, dbg);
  }
  // The file gets the new name, too: without a stub its name tells which log it is.
  Place now;
  if (Recycle(old, FileRef(old_path), FileRef(path)).ok() && names_->Resolve(path, &now).ok()) {
    return now.fs()->ReuseWritableFile(now.path, now.path, options, result, dbg);
  }
  s = DeleteFile(old_path, options.io_options, dbg);  // there are no links, for one
  return s.ok() || IsMissing(s) ? NewWritableFile(path, options, result, dbg) : s;
}

IOStatus TieredFileSystem::NewRandomRWFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSRandomRWFile>* result,
                                           IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NewRandomRWFile(place.path, options, result, dbg);
  });
}

IOStatus TieredFileSystem::NewMemoryMappedFileBuffer(
    const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NewMemoryMappedFileBuffer(place.path, result);
  });
}

IOStatus TieredFileSystem::NewDirectory(const std::string& path, const IOOptions& options,
                                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) {
  const Use use(&uses_);
  std::unique_ptr<FSDirectory> directory;
  IOStatus s = target_->NewDirectory(path, options, &directory, dbg);
  if (s.ok()) {
    *result = std::make_unique<TieredDirectory>(names_->folders(), &uses_, WithoutSlash(path),
                                                std::move(directory));
  }
  return s;
}

IOStatus TieredFileSystem::GetChildren(const std::string& directory, const IOOptions& options,
                                       std::vector<std::string>* result, IODebugContext* dbg) {
  const Use use(&uses_);
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
  const Use use(&uses_);
  IOStatus s = target_->GetChildrenFileAttributes(directory, options, result, dbg);
  if (!s.ok()) {
    return s;
  }
  result->erase(std::remove_if(result->begin(), result->end(),
                               [](const FileAttributes& file) { return IsOurs(file.name); }),
                result->end());
  for (FileAttributes& file : *result) {
    const FileRef found(directory + "/" + file.name);
    if (s.ok() && file.size_bytes <= Stub::kSize) {
      s = GetFileSize(found.path, options, &file.size_bytes, dbg);
      s = IsMissing(s) ? IOStatus::OK() : s;  // deleted meanwhile
    }
    Place place;
    if (s.ok() && found.counts()) {
      s = names_->Resolve(found.path, &place);
      file.temperature = s.ok() ? place.tier->options().temperature : file.temperature;
    }
  }
  return s;
}

IOStatus TieredFileSystem::FileExists(const std::string& path, const IOOptions& options,
                                      IODebugContext* dbg) {
  const Use use(&uses_);
  IOStatus s = target_->FileExists(path, options, dbg);
  const FileRef file(path);
  const std::shared_ptr<OpenDatabase> database =
      IsMissing(s) && file.base == "CURRENT" ? databases_.Find(file.directory) : nullptr;
  IOStatus checked =
      database != nullptr ? CheckMissingCurrent(names_.get(), *database, path) : IOStatus::OK();
  return checked.ok() ? s : checked;
}

IOStatus TieredFileSystem::Truncate(const std::string& path, size_t size, const IOOptions& options,
                                    IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->Truncate(place.path, size, options, dbg);
  });
}

IOStatus TieredFileSystem::GetFileSize(const std::string& path, const IOOptions& options,
                                       uint64_t* size, IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->GetFileSize(place.path, options, size, dbg);
  });
}

IOStatus TieredFileSystem::GetFileModificationTime(const std::string& path,
                                                   const IOOptions& options, uint64_t* time,
                                                   IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->GetFileModificationTime(place.path, options, time, dbg);
  });
}

IOStatus TieredFileSystem::NumFileLinks(const std::string& path, const IOOptions& options,
                                        uint64_t* count, IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->NumFileLinks(place.path, options, count, dbg);
  });
}

IOStatus TieredFileSystem::AreFilesSame(const std::string& first, const std::string& second,
                                        const IOOptions& options, bool* result,
                                        IODebugContext* dbg) {
  const Use use(&uses_);
  Place places[2];
  IOStatus s = names_->Resolve(first, &places[0]);
  if (s.ok()) {
    s = names_->Resolve(second, &places[1]);
  }
  return s.ok() ? target_->AreFilesSame(places[0].path, places[1].path, options, result, dbg) : s;
}

#ifdef TIERED_HAS_SYNC_FILE
IOStatus TieredFileSystem::SyncFile(const std::string& path, const FileOptions& file_options,
                                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) {
  const Use use(&uses_);
  return WithPlace(path, [&](const Place& place) {
    return place.fs()->SyncFile(place.path, file_options, options, use_fsync, dbg);
  });
}
#endif

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
