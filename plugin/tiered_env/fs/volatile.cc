// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TieredFileSystem that is of tiers in memory.

#include <algorithm>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/file_system.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/wal/log_directories.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

bool TieredFileSystem::HasVolatileTier() const {
  return std::any_of(names_->policy().tiers.begin(), names_->policy().tiers.end(),
                     [](const auto& tier) { return tier->is_volatile(); });
}

IOStatus TieredFileSystem::MakeVolatileTiers() const {
  IOStatus s;
  for (const auto& tier : names_->policy().tiers) {
    if (s.ok() && tier->is_volatile()) {
      s = names_->folders()->MakeTier(*tier);
    }
  }
  return s;
}

// What another home's opening has put aside of memory is brought back before it would be rebuilt:
// logs may be gone.
IOStatus TieredFileSystem::BringBackAside(OpenDatabase* database) {
  Survey survey(names_.get(), database->directory());
  const std::shared_ptr<Logger> info_log = names_->InfoLog(database->directory());
  return survey.Run().ok()
             ? Sweep(names_.get(), setup_.retention, &survey, database, info_log.get()).BringBack()
             : IOStatus::OK();  // who looks next says so
}

// Recipes without a MANIFEST are never of a database that was destroyed: who destroys one says so
// before (RecoveryManager::Forget()). So as long as there are any, and nothing tells which are
// needed, nothing is thrown away.
IOStatus TieredFileSystem::Recover(OpenDatabase* database, std::vector<std::string>* given_up,
                                   const std::vector<std::string>& gone) {
  const Use use(&uses_);
  const std::string& directory = database->directory();
  const bool has_recipes = RecoveryManager::Exists(target_.get(), directory);
  if (!HasVolatileTier() && !has_recipes) {
    return IOStatus::OK();
  }
  IOStatus s = MakeVolatileTiers();
  if (s.ok()) {
    s = BringBackAside(database);
  }
  if (!s.ok()) {
    return s;
  }
  s = database->Refresh();
  if (s.ok()) {
    s = database->CheckManifest();
  }
  const bool is_known = s.ok();
  if (is_known) {  // what it does not name is forgotten, so it must not name that again
    s = database->SyncManifest();
    if (!s.ok()) {
      return s;
    }
  }
  if (given_up != nullptr) {
    const std::map<uint64_t, LiveTable> tables = database->tables();
    return RecoveryManager(relocator_.get(), database, setup_.recovery, nullptr, nullptr)
        .Salvage(is_known ? &tables : nullptr, gone, given_up);
  }
  if (!is_known && RecoveryManager::HasRecipes(target_.get(), directory)) {
    return IOStatus::Corruption(
        directory, "has SSTs in memory, and nothing tells which: " + s.ToString() +
                       "; bring CURRENT and the MANIFEST back, or have \"rocktier tier recover "
                       "--salvage\" bring all that there are away, for RepairDB(). If it was "
                       "being destroyed, call DestroyDB() again");
  }
  auto manager = std::make_unique<RecoveryManager>(
      relocator_.get(), database, setup_.recovery, limiter_,
      [this](const std::shared_ptr<Database>& changed) { Changed(changed); });
  s = manager->Recover(is_known ? database->tables() : std::map<uint64_t, LiveTable>());
  if (s.ok() && HasVolatileTier()) {
    database->SetRecoveryManager(std::move(manager));
  } else if (s.ok() && manager->complete()) {  // nothing is in memory any more
    manager.reset();
    s = RecoveryManager::Remove(*names_, directory);
  }
  return s;
}

RecoveryManager* TieredFileSystem::RecoveryManagerOf(
    const FileRef& file, std::shared_ptr<OpenDatabase>* database) const {
  const auto find = [&](const std::string& directory) {
    std::shared_ptr<OpenDatabase> found = databases_.Find(directory);
    return found == nullptr && file.kind == Content::kWal ? databases_.FindByWalDir(directory)
                                                          : found;
  };
  *database = find(file.directory);
  if (*database == nullptr && HasNameOfArchive(file.directory)) {
    *database = find(DirectoryOf(file.directory));
  }
  return *database == nullptr ? nullptr : (*database)->recovery_manager();
}

IOStatus TieredFileSystem::NoteWalDir(const std::shared_ptr<OpenDatabase>& database,
                                      const std::string& wal_dir) {
  if (database->recovery_manager() == nullptr) {
    return IOStatus::OK();
  }
  const bool elsewhere = !wal_dir.empty() && wal_dir != database->directory();
  IOStatus s = elsewhere ? database->recovery_manager()->AddLogDirectory(wal_dir) : IOStatus::OK();
  if (!s.ok()) {  // recovery would not look for logs that are retained there
    return s;
  }
  databases_.NoteWalDir(database, elsewhere ? wal_dir : "");
  return s;
}

// Their recipes are dropped, before the SSTs are deleted, which iterators and old Versions,
// checkpoints, backups and DisableFileDeletions() can put off: until then the sequence-number
// bitmaps would show as live what no recovery needs. The MANIFEST that does not name them is
// synced: VersionSet::LogAndApply() has returned OK to whoever calls the listener. So every
// recovery goes by a MANIFEST without them, as after their deletion, before which RocksDB waits for
// no more than that.
//
// Whoever still has them reads the files, which stay in memory until they are deleted: so does an
// iterator; so do a checkpoint and a backup, which copy from memory what is there; and the mover,
// which drops a recipe that is not there any more. If the power fails, these are gone, or
// unfinished, too. Only if the memory's directory vanishes under an open database are such files
// not rebuilt: RocksDB has deleted them, as it were, and who opens one again hears that it is lost.
//
// What the MANIFEST names nevertheless is needed. That it does not name a file would not be enough:
// a later record, which says so, may not be synced yet.
void TieredFileSystem::Compacted(const std::vector<std::string>& inputs) {
  const Use use(&uses_);
  std::shared_ptr<OpenDatabase> fresh;
  for (const std::string& path : inputs) {
    std::shared_ptr<OpenDatabase> database;
    const FileRef file(path);
    RecoveryManager* const manager = RecoveryManagerOf(file, &database);
    if (manager == nullptr || !manager->Has(file.base)) {
      continue;
    }
    if (database != fresh && !database->Refresh().ok()) {
      return;  // their deletion will do it
    }
    fresh = database;
    if (database->SizeOf(file.base) == 0) {
      manager->DropTable(file.base);
    }
  }
}

void TieredFileSystem::Persist(const std::shared_ptr<OpenDatabase>& database) {
  IOStatus s = database->Refresh();
  if (s.IsNotFound()) {  // it was destroyed
    return;
  }
  bool moved = true;
  while (moved) {  // what the mover has just taken is there at the next look
    moved = false;
    for (Database::Misplaced& file : database->FindVolatile(names_->policy())) {
      IOStatus result = relocator_->BringAway(database.get(), &file, nullptr);
      relocator_->Report(database->directory() + "/" + file.base, file, result);
      moved = moved || result.ok();
      s = s.ok() ? result : s;
    }
  }
  if (!s.ok() && database->VolatileBytes() > 0) {
    ROCKS_LOG_WARN(names_->InfoLog(database->directory()), "tiered_env: SSTs stay in memory: %s",
                   s.ToString().c_str());
  }
}

// If it is interrupted, the next opening would forget all that the new MANIFEST does not name yet.
IOStatus TieredFileSystem::Shelter(const std::shared_ptr<OpenDatabase>& database) {
  database->recovery_manager()->Close();
  Persist(database);
  const uint64_t left = database->VolatileBytes();
  return left == 0 ? database->recovery_manager()->Forget()
                   : IOStatus::IOError(database->directory(),
                                       "cannot be repaired: " + std::to_string(left) +
                                           " bytes in memory cannot be brought to other tiers; "
                                           "\"rocktier tier df\" tells what is full");
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
