// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Who may delete what when a database is opened for writing, or a tool works on it. Nothing that
// could be somebody's only copy: what seems to be nobody's may be the newest files of a home that
// is put back tomorrow, or of a tier whose path is wrong today.
//
//   what                                       when               is
//   a file in a folder that a stub names       always             kept; brought back from lost/
//   *.tiers-tmp in a folder                    all is there       deleted: no stub ever names one
//   a file in a folder that nothing names      all is there       put aside, in lost/ of the folder
//   the same, and the MANIFEST needs its name  always             kept; the LOG says what to do
//   a log in a folder, with records that        always             kept; not opened (CheckLogs())
//   RocksDB would replay, that no stub names,
//   or only one that has lost its bytes
//   a file in lost/ as long as one that the    always             kept; the same
//   MANIFEST needs and that has no stub
//   a file in lost/                            all is there, and  deleted
//                                              it is as old as
//                                              the option
//                                              orphan_retention,
//                                              or a day and too
//                                              much
//                                              (orphan_budget)
//   the second name of an archived log's file  always             deleted: the name, never the file
//   TIERS.tiers-tmp at home                    always             deleted: TIERS is what counts
//   *.tiers-tmp at home                        all is there       deleted: half of a move or a link
//   a stub whose file is gone, and which the   all is there       deleted: the stub
//   MANIFEST does not name
//   the same of a log that RocksDB would not   all is there, the  deleted: the stub. Such a log is
//   replay: by its number, in the archive, in  folder, too        not missed
//   the trash
//   a file in another directory's folder, by   never              kept; the stub alone is deleted
//   a stub that was copied from there                             (Namespace::DeletePlace())
//   the same with TIERS, as when a backup is   never              the same (Folders::MayDelete())
//   restored to a copy, which is not opened
//   recipes, retained logs, SSTs in memory     see recovery_manager.cc
//
// A directory that has stubs, and no TIERS, is not opened at all (Claim()).
//
// All is there: the MANIFEST can be read to its end, each SST and blob file that it names is there
// with its size, or in a directory of the option db_paths, so is each log that RocksDB would
// replay, no stub is damaged or, but for those above, without its file. Of an SST in another path
// than the first of DBOptions::db_paths nothing tells whether that is home: it is missing if a file
// of its name is in a folder, and no stub names it. A database without CURRENT has nothing deleted,
// and none is made in its place while tiers have files of it (TieredFileSystem::FileExists()).
//
// Order of locks: Namespace::mutex(), Folders::sync_mutex_, Folders::mutex_,
// Database::manifest_mutex_, Database::mutex_; those of OpenDatabases, OpenReaders and InfoLogs are
// taken with any of them held but Folders' and Database's, and no other is taken under these three.

#include "plugin/tiered_env/db/sweep.h"

#include <map>
#include <set>

#include "logging/logging.h"
#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kDay = 24 * 60 * 60;  // seconds

bool IsBelow(const std::string& base) { return base.find('/') != std::string::npos; }

}  // namespace

Sweep::Sweep(Namespace* names, const Retention& retention, Survey* survey, Database* database,
             Logger* info_log)
    : names_(names),
      retention_(retention),
      survey_(survey),
      database_(database),
      info_log_(info_log) {}

std::string Sweep::Folder() const {
  std::string folder;
  names_->folders()->Find(survey_->directory(), &folder).PermitUncheckedError();
  return folder;
}

IOStatus Sweep::BringBack() {
  const std::string folder = Folder();
  std::map<std::string, const Survey::File*> wanted;  // by path
  for (const Survey::File& file : survey_->files()) {
    if (file.lost && file.place.stub) {
      wanted[file.place.path] = &file;
    }
  }
  IOStatus s;
  bool found = false;
  if (folder.empty() || wanted.empty()) {
    return s;
  }
  const Lost lost(names_->policy().tiers, folder);
  for (const Lost::File& file : lost.List()) {
    const std::string path = Folders::PathIn(*file.tier, folder + "/" + file.name);
    if (s.ok() && wanted.erase(path) > 0) {
      s = lost.BringBack(file);
      found = true;
      ROCKS_LOG_WARN(info_log_, "tiered_env: %s is back from %s: %s", path.c_str(),
                     file.path.c_str(), s.ToString().c_str());
    }
  }
  return s.ok() && found ? survey_->Run() : s;
}

// If the power fails while a log is archived, both names may be there. RocksDB goes by the one in
// the directory.
IOStatus Sweep::DeleteSecondNames() {
  std::set<std::string> named;
  for (const Survey::File& file : survey_->files()) {
    if (file.place.stub && !IsBelow(file.base)) {
      named.insert(file.place.path);
    }
  }
  IOStatus s;
  std::set<std::string> changed;
  for (const Survey::File& file : survey_->files()) {
    if (s.ok() && IsBelow(file.base) && named.count(file.place.path) > 0) {
      const std::string path = survey_->directory() + "/" + file.base;
      s = names_->target()->DeleteFile(path, IOOptions(), nullptr);
      changed.insert(DirectoryOf(path));
    }
  }
  for (const std::string& directory : changed) {
    s = s.ok() ? SyncDirectory(names_->target(), directory) : s;
  }
  return s;
}

// What was being deleted is not, nor are archived logs, if their tier is there: they never were
// durable in it.
bool Sweep::IsMissed(const Survey::File& file) const {
  uint64_t number;
  if (IsBelow(file.base)) {
    return ContentOf(file.base, &number) != Content::kWal || !survey_->HasFolder(*file.place.tier);
  }
  return file.counts ? database_->SizeOf(file.base) != 0 : !survey_->IsDeletedLog(file, *database_);
}

std::string Sweep::Missing(bool installed) const {
  if (!installed || !database_->CheckManifest().ok()) {
    return "the MANIFEST cannot be read";
  }
  if (!survey_->damaged().empty()) {
    return survey_->damaged().front() + " is a damaged stub";
  }
  for (const Survey::File& file : survey_->files()) {
    if (file.lost && IsMissed(file)) {
      return survey_->directory() + "/" + file.base + " is lost";
    }
  }
  for (const auto& [base, size] : database_->Needed()) {
    if (survey_->SizeOf(base) != size && (survey_->Has(base) || !names_->IsBeside(base, size))) {
      return survey_->directory() + "/" + base + " is missing, or has another size";
    }
  }
  // Of db_paths' other directories Needed() does not know which one is home.
  for (const Survey::Orphan& orphan : survey_->Needed(*database_)) {
    return survey_->directory() + "/" + orphan.base + " is missing, or has another size";
  }
  return "";
}

// RocksDB does not know which logs there were, and would open without it.
IOStatus Sweep::CheckLogs() const {
  for (const Survey::Orphan& orphan : survey_->Needed(*database_)) {
    if (database_->NeedsLog(orphan.base)) {
      return IOStatus::Corruption(survey_->directory() + "/" + orphan.base,
                                  "is missing: no stub names " + orphan.place.path +
                                      "; if its stub was moved to a wal_dir, move it back; else "
                                      "\"rocktier tier check --repair\" writes it anew");
    }
  }
  return IOStatus::OK();
}

void Sweep::ReportNeeded() const {
  for (const Survey::Orphan& orphan : survey_->Needed(*database_)) {
    ROCKS_LOG_ERROR(info_log_,
                    "tiered_env: the database needs %s, whose stub is lost, damaged or old; "
                    "\"rocktier tier check --repair\" brings it back from %s",
                    orphan.base.c_str(), orphan.place.path.c_str());
  }
}

void Sweep::DeleteTemporary() {
  for (const std::string& path : survey_->temporary()) {
    names_->target()->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
  }
}

void Sweep::DeleteStubsOfNothing() {
  for (const Survey::File& file : survey_->files()) {
    if (file.lost) {
      database_->NoteSwept(file.base);
      names_->target()
          ->DeleteFile(survey_->directory() + "/" + file.base, IOOptions(), nullptr)
          .PermitUncheckedError();
    }
  }
}

void Sweep::PutAside(const std::vector<Survey::Orphan>& orphans) {
  const Lost lost(names_->policy().tiers, Folder());
  for (const Survey::Orphan& orphan : orphans) {
    const bool unfinished = EndsWith(orphan.place.path, kTemporary);
    IOStatus s = unfinished ? orphan.place.fs()->DeleteFile(orphan.place.path, IOOptions(), nullptr)
                            : lost.Take(orphan.place);
    ROCKS_LOG_INFO(info_log_, "tiered_env: %s %s, which nothing names: %s",
                   unfinished ? "deleted" : "put aside, in lost/,", orphan.place.path.c_str(),
                   s.ToString().c_str());
  }
}

void Sweep::Delete(const Lost::File& file, const char* why) {
  IOStatus s = file.tier->fs()->DeleteFile(file.path, IOOptions(), nullptr);
  ROCKS_LOG_INFO(info_log_, "tiered_env: deleted %s, %s: %s", file.path.c_str(), why,
                 s.ToString().c_str());
}

void Sweep::DeleteExpired() {
  const uint64_t now = SecondsSince1970();
  const std::vector<Lost::File> files = Lost(names_->policy().tiers, Folder()).List();
  std::map<const Tier*, uint64_t> bytes;
  for (const Lost::File& file : files) {
    bytes[file.tier] += file.size;
  }
  for (const Lost::File& file : files) {
    const uint64_t age = now - std::min(now, file.since);
    const bool old = age >= retention_.seconds;
    if (old || (age >= kDay && retention_.budget != 0 && bytes[file.tier] > retention_.budget)) {
      Delete(file, old ? "kept for as long as orphan_retention says"
                       : "more than orphan_budget has room for");
      bytes[file.tier] -= file.size;
    }
  }
}

void Sweep::Run(bool installed) {
  names_->target()
      ->DeleteFile(survey_->directory() + "/" + kIdentityName + kTemporary, IOOptions(), nullptr)
      .PermitUncheckedError();
  const std::vector<Survey::Orphan> orphans = survey_->Orphans(*database_);
  ReportNeeded();
  const std::string missing = Missing(installed);
  if (!missing.empty()) {
    if (!orphans.empty()) {
      ROCKS_LOG_WARN(info_log_, "tiered_env: %zu files that nothing names stay where they are: %s",
                     orphans.size(), missing.c_str());
    }
    return;
  }
  DeleteTemporary();
  DeleteStubsOfNothing();
  // What was moved to another tier before a crash is named for good by what is named now.
  if (!orphans.empty() && !SyncDirectory(names_->target(), survey_->directory()).ok()) {
    return;
  }
  PutAside(orphans);
  if (!Folder().empty()) {
    DeleteExpired();
  }
}

IOStatus Sweep::Purge(bool dry_run, uint64_t* files, uint64_t* bytes) {
  *files = *bytes = 0;
  const std::string missing = Missing(/*installed=*/true);
  if (!missing.empty()) {
    return IOStatus::Aborted(survey_->directory(), "has not all that is its own: " + missing);
  }
  if (Folder().empty()) {
    return IOStatus::OK();
  }
  for (const Lost::File& file : Lost(names_->policy().tiers, Folder()).List()) {
    if (!dry_run) {
      Delete(file, "purged");
    }
    (*files)++;
    *bytes += file.size;
  }
  for (const Survey::Orphan& orphan : survey_->Orphans(*database_)) {
    uint64_t size = 0;
    if (dry_run && !EndsWith(orphan.place.path, kTemporary) &&
        orphan.place.fs()->GetFileSize(orphan.place.path, IOOptions(), &size, nullptr).ok()) {
      (*files)++;
      *bytes += size;
    }
  }
  return IOStatus::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
