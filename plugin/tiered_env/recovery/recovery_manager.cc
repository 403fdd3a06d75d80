// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Who may delete what of tiers in memory: recipes and retained logs are the only copies of SSTs
// once the power has failed. sweep.cc has the table of all else.
//
//   what                    when                                   by
//   the recipe of an SST    RocksDB deletes the SST; it is in a    DropTable(), also
//                           durable tier for good; a compaction    volatile.cc, Compacted()
//                           has rewritten it, and the MANIFEST
//                           that does not name it is synced
//   the same                an opening: the MANIFEST is synced     references.cc, CarryOver():
//                           and does not name the SST, or it is    is not kept
//                           durable; all SSTs are there
//   all recipes, segments   CURRENT or the MANIFEST is deleted:    Forget()
//                           the database is destroyed; RepairDB
//                           has brought all SSTs away
//   an older recipe log     the newer one is durable               recipe_log.cc, Rewrite()
//   a log of RocksDB's      RocksDB deletes it, and no recipe      naming.cc, DeleteFile();
//                           refers to it; else it gets our name    segments.cc, Keep()
//   a retained log          no entry of it is referred to, and     segments.cc, Sweep()
//                           the opening has found no log of a
//                           newer home, which may need it, too
//   the same                its archive is durable                 trim.cc, Trim()
//   the same                an opening: the new recipe log is      segment_loader.cc,
//                           durable, no recipe refers to it, all   DeleteUnused()
//                           SSTs are there, and it is this
//                           database's: in its directory or with
//                           its tag; but none while there is one
//                           elsewhere with an id that was never
//                           given: of a newer home (IsAlien())
//   such a one              an operator purges the database, and   DeleteAlien()
//                           nothing of it is missing
//   TIERS-*.tiers-tmp       the trimming has failed; an opening,   trim.cc, Trim();
//                           as above                               segment_loader.cc
//   all of these            DestroyDB deletes the directory, and   naming.cc, DeleteOurs(),
//                           there are no recipes; evacuate has     evacuate.cc, salvage.cc,
//                           all SSTs at home, salvage in durable   volatile.cc, Recover():
//                           tiers; tiers= has no memory any        Remove()
//                           more, all SSTs are there, and no log
//                           is a newer home's. By any of them:
//                           what is in another directory stays
//                           while there is a newer home's log
//   an SST in memory        RocksDB deletes it; its copy in a      naming.cc, DeleteName();
//                           durable tier, and the stub of that,    relocate.cc
//                           are durable
//   the same                DestroyDB, as above: it was rebuilt    naming.cc, DeleteOurs()
//                           when the database was locked
//   the stub of an SST      an operator has given it up; no disk   salvage.cc, Salvage();
//   that cannot be rebuilt  of its logs may be not mounted, or     segment_loader.cc,
//                           they say that it is gone               CheckMounted()

#include "plugin/tiered_env/recovery/recovery_manager.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/recovery/segment_loader.h"
#include "plugin/tiered_env/wal/tracked_file.h"
#include "rocksdb/env.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint32_t kMostCompressed = 3;  // SSTs in a row that are tried
constexpr uint32_t kTryAgain = 32;       // of so many that would follow one is

// Whether what is retained elsewhere is of the database: another one may have its logs there.
bool IsOf(std::string name, const std::string& tag) {
  uint64_t id;
  std::string found;
  if (EndsWith(name, kTemporary)) {
    name.resize(name.size() - strlen(kTemporary));
  }
  return !tag.empty() && WalSegments::ParseName(name, &id, &found) && found == tag;
}

// Whether there are retained logs.
bool HasRetained(FileSystem* fs, const std::string& directory) {
  std::multimap<uint64_t, std::string> files;
  for (const std::string& place : {directory, ArchivalDirectory(directory)}) {
    std::vector<std::string> names;
    fs->GetChildren(place, IOOptions(), &names, nullptr).PermitUncheckedError();
    WalSegments::FindRetained(place, names, &files);
  }
  return !files.empty();
}

}  // namespace

RecoveryManager::RecoveryManager(Relocator* relocator, Database* database,
                                 const RecoveryOptions& options,
                                 std::shared_ptr<RateLimiter> limiter, NotifyMover notify_mover)
    : relocator_(relocator),
      names_(relocator->names()),
      database_(database),
      options_(options),
      limiter_(std::move(limiter)),
      notify_mover_(std::move(notify_mover)),
      recipe_log_(names_->target(), database->directory()),
      log_directories_(database->directory()),
      logs_(names_->shown()) {}

RecoveryManager::~RecoveryManager() { Stop(); }

bool RecoveryManager::Exists(FileSystem* fs, const std::string& directory) {
  std::vector<std::string> names;
  fs->GetChildren(directory, IOOptions(), &names, nullptr).PermitUncheckedError();
  return std::any_of(names.begin(), names.end(), IsKept);
}

bool RecoveryManager::HasRecipes(FileSystem* fs, const std::string& directory) {
  RecipeLog recipe_log(fs, directory);
  RecipeLog::Contents contents;
  if (!recipe_log.Load(&contents).ok() || !contents.recipes.empty()) {
    return true;
  }
  return recipe_log.bytes() == 0 && HasRetained(fs, directory);  // it is lost
}

IOStatus RecoveryManager::Remove(const Namespace& names, const std::string& directory) {
  FileSystem* const fs = names.target();
  RecipeLog::Contents contents;
  RecipeLog(fs, directory).Load(&contents).PermitUncheckedError();  // damaged: is removed, too
  const std::string tag = RecipeLog::TagOf(contents);
  SegmentLoader loader(names.shown(), fs, directory, nullptr);
  IOStatus s = loader.Find(contents);
  if (!s.ok()) {  // a newer home's logs may be there
    return s;
  }
  const bool newer = !loader.alien().empty();
  if (newer) {
    ROCKS_LOG_WARN(names.InfoLog(directory),
                   "tiered_env: retained logs that are not in %s stay: some are of a newer state "
                   "of the database than this one",
                   directory.c_str());
  }
  std::vector<std::string> bases = FindLogDirectories(fs, directory, contents.directories);
  std::reverse(bases.begin(), bases.end());  // who is interrupted must find the others
  for (const std::string& base : bases) {
    const bool at_home = IsAtHome(directory, base);
    for (const std::string& place : {ArchivalDirectory(base), base}) {
      std::vector<std::string> files;
      IOStatus listed = fs->GetChildren(place, IOOptions(), &files, nullptr);
      if (s.ok() && !IsMissing(listed)) {
        s = listed;
      }
      // The recipe log last: retained logs without one are taken for those of a database that has
      // lost it.
      std::stable_partition(files.begin(), files.end(), [](const std::string& name) {
        uint64_t id;
        std::string its_tag;
        return WalSegments::ParseName(name, &id, &its_tag);
      });
      for (const std::string& name : files) {
        if (s.ok() && IsKept(name) && (at_home || (!newer && IsOf(name, tag)))) {
          s = fs->DeleteFile(place + "/" + name, IOOptions(), nullptr);
        }
      }
    }
  }
  return s;
}

IOStatus RecoveryManager::DeleteAlien(const Namespace& names, const std::string& directory,
                                      bool dry_run, uint64_t* files, uint64_t* bytes) {
  RecipeLog::Contents contents;
  SegmentLoader loader(names.shown(), names.target(), directory, nullptr);
  IOStatus s = RecipeLog(names.target(), directory).Load(&contents);
  if (s.ok()) {
    s = loader.Find(contents);
  }
  for (const auto& [id, path] : loader.alien()) {
    uint64_t size = 0;
    if (s.ok()) {
      s = names.shown()->GetFileSize(path, IOOptions(), &size, nullptr);
    }
    if (s.ok() && !dry_run) {
      s = names.shown()->DeleteFile(path, IOOptions(), nullptr);
    }
    *files += s.ok() ? 1 : 0;
    *bytes += s.ok() ? size : 0;
  }
  return s;
}

IOStatus RecoveryManager::Recover(const std::map<uint64_t, LiveTable>& tables) {
  const auto start = std::chrono::steady_clock::now();
  Recovery recovery(names_, database_->directory(), &recipe_log_, options_.recovery_threads);
  IOStatus s = recovery.Run(tables, database_->blobs(), database_->families());
  if (s.ok()) {
    s = recipe_log_.Start(recovery.keep());
  }
  if (!s.ok()) {
    return s;
  }
  logs_.SetTag(recipe_log_.tag());
  carried_ = recovery.carried();
  complete_ = recovery.complete();
  recovery.Restore(&logs_, &log_directories_);
  // What RocksDB is about to replay it takes for durable, once it has written SSTs of it.
  s = logs_.Sync();
  for (auto it = recovery.without_recipe().begin(); s.ok() && it != recovery.without_recipe().end();
       ++it) {
    s = AddTable(it->base, it->place, it->size, Purpose(), /*anyway=*/true);
    if (s.IsNotSupported()) {
      s = BringAway(*it);
      if (s.ok()) {
        DropTable(it->base);
      }
    }
  }
  if (s.ok()) {
    s = Barrier();
  }
  if (s.ok()) {
    recovery.DeleteUnused();
  }
  rebuilt_files_ = recovery.rebuilt_files();
  rebuilt_bytes_ = recovery.rebuilt_bytes();
  recovery_micros_ = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                               std::chrono::steady_clock::now() - start)
                                               .count());
  return s;
}

IOStatus RecoveryManager::BringAway(const Recovery::Present& table) {
  Database::Misplaced move;
  move.base = table.base;
  move.size = table.size;
  move.from = table.place.tier;
  return relocator_->BringAway(database_, &move, limiter_.get());
}

std::unique_ptr<FSWritableFile> RecoveryManager::Track(const std::string& path,
                                                       std::unique_ptr<FSWritableFile>&& file) {
  uint64_t number;
  ContentOf(path, &number);
  auto log = std::make_shared<ActiveLog>(names_->shown(), path);
  logs_.Created(number, log_directories_.PathOf(path), log);
  return std::make_unique<TrackedFile>(std::move(file), std::move(log));
}

IOStatus RecoveryManager::AddLogDirectory(const std::string& directory) {
  std::vector<std::string> names;
  IOStatus s = names_->shown()->GetChildren(directory, IOOptions(), &names, nullptr);
  const std::string spelling = log_directories_.SpellingOf(directory);
  if ((s.ok() || IsMissing(s)) && spelling != database_->directory()) {
    s = recipe_log_.AddDirectory(NameOfLogDirectory(database_->directory(), spelling));
  }
  for (const std::string& name : names) {
    uint64_t number;
    if (s.ok() && ContentOf(name, &number) == Content::kWal) {
      logs_.Found(number, spelling + "/" + name, /*complete=*/false);
    }
  }
  return s;
}

bool RecoveryManager::IsWorthTrying(const Purpose& purpose) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = compressed_.find(purpose);
  return it == compressed_.end() || it->second.in_a_row < kMostCompressed ||
         ++it->second.skipped % kTryAgain == 0;
}

void RecoveryManager::NoteAdded(const Purpose& purpose, bool left) {
  std::lock_guard<std::mutex> lock(mutex_);
  StartThreadIfNone();
  if (!left) {
    compressed_.erase(purpose);
  } else if (++compressed_[purpose].in_a_row == kMostCompressed) {
    ROCKS_LOG_WARN(
        names_->InfoLog(database_->directory()),
        "tiered_env: SSTs of level %d of column family %u go straight to other tiers from now on, "
        "for their blocks are compressed, and so are not found in write-ahead logs. To have them "
        "in memory, set kNoCompression for this level in compression_per_level (or as "
        "compression); "
        "one in %u is tried",
        purpose.level, purpose.column_family, kTryAgain);
  }
}

IOStatus RecoveryManager::AddTable(const std::string& base, const Place& place, uint64_t size,
                                   const Purpose& purpose, bool anyway) {
  if (!anyway) {
    DropTable(base);
  }
  logs_.Index(&recipe_log_, names_->InfoLog(database_->directory()).get());
  std::unique_ptr<MemoryMappedFileBuffer> sst;
  IOStatus s = place.fs()->NewMemoryMappedFileBuffer(place.path, &sst);
  if (s.ok() && sst->GetLen() < size) {
    s = IOStatus::Corruption(place.path, "is shorter than what was written");
  }
  if (!s.ok()) {
    return s;
  }
  std::string recipe;
  RecipeSummary summary;
  std::set<uint64_t> used;
  {
    WalSegments::Source source(&logs_);
    MakeRecipe(Slice(static_cast<const char*>(sst->GetBase()), size), &source, &recipe, &summary);
    TEST_SYNC_POINT("RecoveryManager::AddTable:WithSource");
    used = source.used();
  }
  if (recipe.size() >= summary.size / 2 && !anyway) {
    s = IOStatus::NotSupported(base, "has too little that is in write-ahead logs");
  } else {
    s = SyncLogs(base, used);
    s = s.ok() ? recipe_log_.AddRecipe(base, recipe) : s;
  }
  if (s.ok() && anyway) {
    std::lock_guard<std::mutex> lock(drop_mutex_);
    carried_.erase(base);  // the new one has its references
  }
  if (s.IsNotSupported() && !warned_.exchange(true)) {
    ROCKS_LOG_WARN(
        names_->InfoLog(database_->directory()),
        "tiered_env: %s goes to a durable tier, as others will: a recipe must be smaller than half "
        "of its SST, and this one would have %llu of %llu bytes. %llu of %llu entries are in "
        "write-ahead logs, and %llu blocks are compressed. See \"Memory\" in the README: "
        "compression_per_level, the listener, the last level",
        base.c_str(), static_cast<unsigned long long>(recipe.size()),
        static_cast<unsigned long long>(summary.size),
        static_cast<unsigned long long>(summary.references),
        static_cast<unsigned long long>(summary.entries),
        static_cast<unsigned long long>(summary.compressed_blocks));
  }
  NoteAdded(purpose, s.IsNotSupported() && 2 * summary.compressed_blocks > summary.blocks);
  if (!s.ok()) {
    logs_.Release(recipe);
    return s;
  }
  added_.fetch_add(1, std::memory_order_release);
  tables_.fetch_add(1, std::memory_order_relaxed);
  table_bytes_.fetch_add(summary.size, std::memory_order_relaxed);
  recipe_bytes_.fetch_add(recipe.size(), std::memory_order_relaxed);
  entries_.fetch_add(summary.entries, std::memory_order_relaxed);
  references_.fetch_add(summary.references, std::memory_order_relaxed);
  literal_bytes_.fetch_add(summary.literal_bytes, std::memory_order_relaxed);
  ROCKS_LOG_INFO(
      names_->InfoLog(database_->directory()),
      "tiered_env: recipe of %s, %llu bytes: %zu bytes, %llu of %llu entries by reference",
      base.c_str(), static_cast<unsigned long long>(summary.size), recipe.size(),
      static_cast<unsigned long long>(summary.references),
      static_cast<unsigned long long>(summary.entries));
  return s;
}

// Before there is a recipe that needs them: a log that fails here was needed by no recipe before,
// as far as it was not durable.
IOStatus RecoveryManager::SyncLogs(const std::string& base, const std::set<uint64_t>& segments) {
  IOStatus s = logs_.Sync(segments);
  TEST_SYNC_POINT("RecoveryManager::SyncLogs:LogsAreSynced");
  if (s.ok()) {
    return s;
  }
  ROCKS_LOG_WARN(names_->InfoLog(database_->directory()),
                 "tiered_env: %s goes to a durable tier, for a log that it could be rebuilt of "
                 "cannot be synced: %s",
                 base.c_str(), s.ToString().c_str());
  return IOStatus::NotSupported(base, "needs a log that cannot be synced");
}

// RocksDB may delete an SST that has just been moved to a durable tier.
void RecoveryManager::DropTable(const std::string& base) {
  std::lock_guard<std::mutex> lock(drop_mutex_);
  std::string recipe;
  IOStatus s = recipe_log_.ReadRecipe(base, &recipe);
  if (s.ok() && carried_.erase(base) == 0) {
    logs_.Release(recipe);
  }
  if (!s.IsNotFound()) {
    // Should that not be written, the recipe is of a file that no MANIFEST names.
    recipe_log_.Drop(base).PermitUncheckedError();
  }
}

IOStatus RecoveryManager::Barrier() {
  const auto done = [this] {
    return synced_.load(std::memory_order_acquire) >= added_.load(std::memory_order_acquire);
  };
  if (done()) {
    return IOStatus::OK();
  }
  std::lock_guard<std::mutex> barrier_lock(barrier_mutex_);
  const uint64_t added = added_.load(std::memory_order_acquire);
  if (done()) {
    return IOStatus::OK();
  }
  barriers_.fetch_add(1, std::memory_order_relaxed);
  IOStatus s = recipe_log_.Sync();
  if (s.ok()) {
    synced_.store(added, std::memory_order_release);
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
