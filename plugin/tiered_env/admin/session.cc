// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/admin/session.h"

#include <utility>
#include <vector>

#include "file/filename.h"
#include "plugin/tiered_env/db/sweep.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/claim.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// A key of IOOptions::property_bag: whoever is asked to lock, as a target with a log device,
// changes nothing beside.
const char* const kLookOnly = "rocktier.look_only";

const char* const kSeeCheck = "; see \"rocktier tier check\"";

}  // namespace

AdminSession::AdminSession(TieredFileSystem* fs, const std::string& directory, bool dry_run)
    : fs_(fs),
      use_(fs->uses()),
      directory_(WithoutSlash(directory)),
      dry_run_(dry_run),
      manifest_(fs, directory_) {}

AdminSession::~AdminSession() {
  if (lock_ != nullptr) {
    folders()->Release(directory_);
    target()->UnlockFile(lock_, IOOptions(), nullptr).PermitUncheckedError();
  }
}

IOStatus AdminSession::Lock() {
  if (!target()->FileExists(PathOf("CURRENT"), IOOptions(), nullptr).ok()) {
    return IOStatus::NotFound(directory_, "has no database: there is no CURRENT");
  }
  IOOptions options;
  if (dry_run_) {
    options.property_bag[kLookOnly] = "";
  }
  return target()->LockFile(PathOf("LOCK"), options, &lock_, nullptr);
}

IOStatus AdminSession::Salvage(const std::vector<std::string>& gone,
                               std::vector<std::string>* given_up) {
  IOStatus s = Lock();
  if (s.IsNotFound() && RecoveryManager::Exists(target(), directory_)) {
    s = target()->LockFile(PathOf("LOCK"), IOOptions(), &lock_, nullptr);
  }
  if (s.ok()) {
    s = Claim(names(), directory_);
  }
  if (s.ok()) {
    OpenDatabase database(fs_, directory_);
    s = fs_->Recover(&database, given_up, gone);
  }
  return s;
}

IOStatus AdminSession::Rehearse(const std::vector<std::string>& gone,
                                RecoveryManager::Rehearsal* result) {
  Database database(fs_, directory_);
  RecoveryManager manager(fs_->relocator(), &database, RecoveryOptions(), nullptr, nullptr);
  return manager.Rehearse(database_->tables(), gone, result);
}

bool AdminSession::BelongsHere(const std::string& base, const LiveTable& file) const {
  return target()->FileExists(PathOf(base), IOOptions(), nullptr).ok() ||
         (file.path_id == 0 && !names()->IsBeside(base, file.size));
}

IOStatus AdminSession::ReadManifest(std::map<std::string, LiveTable>* files) {
  IOStatus s = manifest_.Refresh();
  for (const auto& [number, table] : manifest_.tables()) {
    const std::string base = BaseOf(MakeTableFileName(directory_, number));
    if (BelongsHere(base, table)) {
      (*files)[base] = table;
    }
  }
  for (const auto& [number, blob] : manifest_.blobs()) {
    const std::string base = BaseOf(BlobFileName(directory_, number));
    LiveTable file;
    file.level = -1;
    file.size = blob.size;
    file.column_family = blob.column_family;
    if (BelongsHere(base, file)) {
      (*files)[base] = file;
    }
  }
  return s;
}

// What is installed or deleted meanwhile, by whoever has the database open, is left out. What that
// has of budgets is not taken twice, if it is open through the same FileSystem: new files would not
// find room.
IOStatus AdminSession::Look() {
  std::map<std::string, LiveTable> before;
  std::map<std::string, LiveTable> after;
  survey_ = std::make_unique<Survey>(names(), directory_);
  database_ = std::make_unique<Database>(fs_, directory_, /*counted=*/fs_->IsOpen(directory_));
  IOStatus s = ReadManifest(&before);
  if (s.ok()) {
    s = survey_->Run();
  }
  if (s.ok()) {
    s = ReadManifest(&after);
  }
  if (s.ok()) {
    s = database_->Refresh();
  }
  if (!s.ok()) {
    return s;
  }
  needed_.clear();
  for (const auto& file : after) {
    if (before.count(file.first) > 0) {
      needed_.insert(file);
    }
  }
  for (const Survey::File& file : survey_->files()) {
    if (file.counts) {
      database_->usage()->Take(file.place.tier, "", file.size);
      database_->Add(file.base, file.place.tier, file.size, file.written);
    }
  }
  return s;
}

const LiveTable* AdminSession::NeedOf(const std::string& base) const {
  const auto it = needed_.find(base);
  return it == needed_.end() ? nullptr : &it->second;
}

IOStatus AdminSession::LookOnly() {
  IOStatus s = Lock();
  if (s.ok()) {
    s = CheckClaim(names(), directory_);
  }
  if (s.ok()) {
    s = Look();
  }
  return s.ok() ? CheckSound() : s;
}

IOStatus AdminSession::TakeOver() {
  if (dry_run_) {
    return LookOnly();
  }
  IOStatus s = Lock();
  if (s.ok()) {
    s = Claim(names(), directory_);
  }
  if (s.ok()) {
    OpenDatabase database(fs_, directory_);
    s = fs_->Recover(&database);
  }
  if (s.ok()) {
    s = Look();
  }
  if (s.ok()) {
    s = Sweep(names(), fs_->retention(), survey_.get(), database_.get(), nullptr).BringBack();
  }
  if (s.ok()) {
    s = CheckSound();
  }
  if (s.ok() && DeleteUnneeded()) {
    s = Look();
  }
  if (s.ok()) {
    Sweep(names(), fs_->retention(), survey_.get(), database_.get(), nullptr)
        .Run(/*installed=*/true);
  }
  return s;
}

bool AdminSession::IsUnneeded(const std::string& base) const {
  uint64_t number;
  const Content content = ContentOf(WithoutTrash(base), &number);
  return base.find('/') == std::string::npos &&
         (content == Content::kTable || content == Content::kBlob) && NeedOf(base) == nullptr;
}

bool AdminSession::DeleteUnneeded() {
  std::vector<std::string> unneeded;
  for (const std::string& path : survey_->damaged()) {
    unneeded.push_back(path);  // others are not sound
  }
  for (const Survey::File& file : survey_->files()) {
    if (file.lost) {
      unneeded.push_back(PathOf(file.base));
    }
  }
  for (const std::string& path : unneeded) {
    target()->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return !unneeded.empty();
}

IOStatus AdminSession::CheckSound() {
  IOStatus s = CheckManifest();  // what it does not name any more could be the newest of all
  if (!s.ok()) {
    return s;
  }
  for (const std::string& path : survey_->damaged()) {
    if (!IsUnneeded(path.substr(directory_.size() + 1))) {
      return IOStatus::Corruption(path, std::string("is damaged") + kSeeCheck);
    }
  }
  for (const Survey::File& file : survey_->files()) {
    if (file.lost && dry_run_ && file.place.tier->is_volatile()) {
      continue;
    }
    if (file.lost && !IsUnneeded(file.base) && !survey_->IsDeletedLog(file, *database_)) {
      return IOStatus::Corruption(PathOf(file.base), "is lost: " + file.place.tier->ToString() +
                                                         " has no " + file.place.path + kSeeCheck);
    }
    const LiveTable* need = file.counts ? NeedOf(file.base) : nullptr;
    if (need != nullptr && need->size != file.size) {
      return IOStatus::Corruption(
          PathOf(file.base), std::string("has not the size that the MANIFEST says") + kSeeCheck);
    }
  }
  for (const auto& [base, need] : needed_) {
    if (!survey_->Has(base)) {
      return IOStatus::Corruption(PathOf(base), std::string("is missing") + kBeside + kSeeCheck);
    }
  }
  for (const Survey::Orphan& orphan : survey_->Needed(*database_)) {
    if (!dry_run_ || !orphan.place.tier->is_volatile()) {
      return IOStatus::Corruption(
          PathOf(orphan.base), "has no stub of " + orphan.place.path +
                                   (database_->NeedsLog(orphan.base) ? "" : kBeside) + kSeeCheck);
    }
  }
  return IOStatus::OK();
}

IOStatus AdminSession::Purge(uint64_t* files, uint64_t* bytes) {
  IOStatus s = Sweep(names(), fs_->retention(), survey_.get(), database_.get(), nullptr)
                   .Purge(dry_run_, files, bytes);
  return s.ok() ? RecoveryManager::DeleteAlien(*names(), directory_, dry_run_, files, bytes) : s;
}

IOStatus AdminSession::Move(const Database::Misplaced& file, bool anyway) {
  if (dry_run_) {
    IOStatus s = Relocator::TakeRoom(database_.get(), file, anyway);
    if (s.ok()) {
      database_->AddCopy(file.base, file.to, file.size, file.family);
      would_have_moved_.insert(file.base);
    }
    return s;
  }
  return fs_->relocator()->Move(database_.get(), file, nullptr, anyway);
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
