// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/namespace.h"

#include <algorithm>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Files that are always at home, and never looked at for being a stub.
bool IsNeverStub(const std::string& base) {
  return base == "CURRENT" || base == "LOCK" || base == "IDENTITY" ||
         base.compare(0, 3, "LOG") == 0;
}

// Whether RocksDB gives files such names that can be stubs.
bool MayBeStub(const std::string& base) {
  uint64_t number;
  return ContentOf(WithoutTrash(base), &number) != Content::kOther;
}

}  // namespace

Namespace::Namespace(FileSystem* shown, FileSystem* target, Policy policy,
                     std::vector<std::string> beside, const InfoLogs* info_logs)
    : shown_(shown),
      target_(target),
      policy_(std::move(policy)),
      beside_(std::move(beside)),
      info_logs_(info_logs),
      folders_(target, policy_.tiers,
               [this](const std::string& directory, Tier* tier, const IOStatus& reason) {
                 ReportFailure(directory + "/", tier, reason);
               }) {}

IOStatus Namespace::ReadStub(const std::string& path, Stub* stub) const {
  uint64_t size;
  IOStatus s = target_->GetFileSize(path, IOOptions(), &size, nullptr);
  if (!s.ok() || size == 0 || size > Stub::kSize) {
    return IOStatus::NotFound();
  }
  std::string contents;
  s = ReadSmallFile(target_, path, Stub::kSize, &contents);
  if (!s.ok() && !MayBeStub(BaseOf(path))) {  // somebody else's, who lets nobody read it
    return IOStatus::NotFound();
  }
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

IOStatus Namespace::Resolve(const std::string& path, Place* place) const {
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

bool Namespace::BelongsTo(const Place& place, const std::string& directory) {
  std::string owner;
  return FindOwner(place, directory, &owner);
}

// Looks above, too: a directory's folders are those of the directories in it: archive, lost.
bool Namespace::FindOwner(const Place& place, const std::string& directory, std::string* owner) {
  for (const std::string& candidate : {directory, DirectoryOf(directory)}) {
    std::string folder;
    if (folders_.Find(candidate, &folder).ok()) {
      *owner = candidate;
      const std::string in = Folders::PathIn(*place.tier, folder) + "/";
      return place.path.compare(0, in.size(), in) == 0;
    }
  }
  return false;
}

bool Namespace::IsBeside(const std::string& base, uint64_t size) const {
  return std::any_of(beside_.begin(), beside_.end(), [&](const std::string& directory) {
    uint64_t found = 0;
    return target_->GetFileSize(directory + "/" + base, IOOptions(), &found, nullptr).ok() &&
           found == size;
  });
}

IOStatus Namespace::NewPlace(const std::string& path, Tier* tier, Place* place, bool* at_home) {
  if (!tier->is_home()) {
    return folders_.NewPath(DirectoryOf(path), BaseOf(path), tier, place, at_home);
  }
  place->tier = tier;
  place->path = path;
  place->stub = false;
  return IOStatus::OK();
}

IOStatus Namespace::WriteStub(const std::string& path, const Place& place,
                              std::unique_ptr<FSWritableFile>* file) {
  Stub stub;
  stub.tier = place.tier->name();
  stub.directory = place.tier->options().path;
  stub.path = place.path.substr(stub.directory.size() + 1);
  if (file == nullptr) {
    return WriteSmallFile(target_, path, stub.Encode());
  }
  IOStatus s = target_->NewWritableFile(path, FileOptions(), file, nullptr);
  if (s.ok()) {
    s = (*file)->Append(stub.Encode(), IOOptions(), nullptr);
  }
  return s.ok() ? (*file)->Flush(IOOptions(), nullptr) : s;
}

IOStatus Namespace::SyncStub(const std::string& path) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = target_->ReopenWritableFile(path, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Sync(IOOptions(), nullptr);
  }
  return s.ok() ? file->Close(IOOptions(), nullptr) : s;
}

IOStatus Namespace::SetAside(const std::string& path, const Place& place, Place* aside) {
  *aside = place;
  if (place.stub) {
    return IOStatus::OK();
  }
  aside->path = path + kTemporary;
  return target_->RenameFile(path, aside->path, IOOptions(), nullptr);
}

// Deletes in its own folder alone: a stub may have been copied from another database's directory,
// also together with TIERS.
IOStatus Namespace::DeletePlace(const std::string& path, const Place& place) {
  std::string owner;
  if (!FindOwner(place, DirectoryOf(path), &owner) || !folders_.MayDelete(owner, place)) {
    return IOStatus::OK();
  }
  IOStatus s = place.fs()->DeleteFile(place.path, IOOptions(), nullptr);
  if (s.ok()) {
    folders_.Touch(DirectoryOf(path), *place.tier, Folders::Change::kDeleted);
  }
  return IsMissing(s) ? IOStatus::OK() : s;
}

std::shared_ptr<Logger> Namespace::InfoLog(const std::string& directory) const {
  return info_logs_->Find(target_, directory);
}

void Namespace::LookForReadOnly(const std::string& directory) const {
  for (const auto& tier : policy_.tiers) {
    const bool read_only = !tier->is_home() && IsReadOnly(tier->options().path);
    if (tier->SetReadOnly(read_only)) {
      const std::shared_ptr<Logger> info_log = InfoLog(directory);
      ROCKS_LOG_WARN(info_log, "tiered_env: %s is %s", tier->ToString().c_str(),
                     read_only ? "read-only: what is there stays, and nothing goes there"
                               : "not read-only any more");
    }
  }
}

void Namespace::ReportSpill(const std::string& path, Tier& wanted, const Tier& got,
                            const std::string& family) const {
  wanted.spills.fetch_add(1, std::memory_order_relaxed);
  const std::shared_ptr<Logger> info_log = InfoLog(DirectoryOf(path));
  ROCKS_LOG_INFO(info_log, "tiered_env: %s goes to %s: no room in %s%s%s", path.c_str(),
                 got.ToString().c_str(), wanted.ToString().c_str(),
                 family.empty() ? "" : " for column family ", family.c_str());
}

void Namespace::ReportFailure(const std::string& path, Tier* tier, const IOStatus& reason) const {
  LookForReadOnly(DirectoryOf(path));
  const bool is_news = tier->Failed();
  if (is_news) {
    const std::shared_ptr<Logger> info_log = InfoLog(DirectoryOf(path));
    ROCKS_LOG_WARN(info_log, "tiered_env: no new files for %s for a while: %s",
                   tier->ToString().c_str(), reason.ToString().c_str());
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
