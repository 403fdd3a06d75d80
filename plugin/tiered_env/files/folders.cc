// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/files/folders.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>

#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kMostIdentity = 64 << 10;
constexpr size_t kMostOfName = 64;  // characters of a directory's name that its folders have, too

std::string FolderNameFor(const std::string& directory, const std::string& suffix) {
  std::string name = BaseOf(directory).substr(0, kMostOfName);
  for (char& c : name) {
    if (isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-') {
      c = '_';
    }
  }
  return name + "-" + suffix;
}

}  // namespace

IOStatus ReadIdentity(FileSystem* fs, const std::string& path, Identity* result) {
  std::string contents;
  IOStatus s = ReadSmallFile(fs, path, kMostIdentity, &contents);
  return s.ok() ? AsIOStatus(Identity::Decode(contents, path, result)) : s;
}

IOStatus Folders::Find(const std::string& directory, std::string* folder) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* found;
  IOStatus s = Load(directory, &found);
  if (s.ok()) {
    *folder = found->identity.folder;
  }
  return s;
}

IOStatus Folders::Load(const std::string& directory, Folder** result) {
  const auto it = folders_.find(directory);
  if (it != folders_.end()) {
    *result = &it->second;
    return IOStatus::OK();
  }
  Identity identity;
  IOStatus s = ReadIdentity(target_, directory + "/" + kIdentityName, &identity);
  if (IsMissing(s)) {
    return IOStatus::NotFound(directory, "has nothing in tiers");
  }
  if (s.ok()) {
    *result = &folders_[directory];
    (*result)->identity = std::move(identity);
  }
  return s;
}

IOStatus Folders::Create(const std::string& directory, Folder** result) {
  Folder folder;
  folder.identity.directory = AbsolutePath(directory);
  folder.identity.folder = FolderNameFor(folder.identity.directory, NewSuffix());
  folder.identity.opening = NewOpening();
  IOStatus s = open_.count(directory) > 0 ? Renew(directory, &folder)
                                          : WriteTiers(directory, folder.identity);
  if (s.ok()) {
    *result = &(folders_[directory] = std::move(folder));
  }
  return s;
}

// Writes it under another name first: a crash must not leave half of it.
IOStatus Folders::WriteTiers(const std::string& directory, const Identity& identity) {
  const std::string path = directory + "/" + kIdentityName;
  IOStatus s = WriteSmallFile(target_, path + kTemporary, identity.Encode());
  TEST_SYNC_POINT("Folders::Create:BeforeRename");
  if (s.ok()) {
    s = target_->RenameFile(path + kTemporary, path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(target_, directory) : s;
}

// Makes the directories above, too: a start of the machine takes them all.
IOStatus Folders::MakeTier(const Tier& tier) {
  const std::string& path = tier.options().path;
  IOStatus s;
  for (size_t end = 1; s.ok() && end != std::string::npos;) {
    end = path.find('/', end + 1);
    s = target_->CreateDirIfMissing(path.substr(0, end), IOOptions(), nullptr);
  }
  return s;
}

// The tier's own directory must be there, and the folder, if there was one: an unmounted device
// looks like an empty one.
IOStatus Folders::MakeIn(const Tier& tier, const std::string& directory, Folder* folder) {
  if (folder->made.count(tier.index()) > 0) {
    return IOStatus::OK();
  }
  Identity& identity = folder->identity;
  const bool is_there = IsThere(tier, identity.folder);
  if (!is_there && !tier.is_volatile() && identity.tiers.count(tier.name()) > 0) {
    return IOStatus::PathNotFound(PathIn(tier, identity.folder), "is gone");
  }
  IOStatus s = target_->CreateDirIfMissing(PathIn(tier, identity.folder), IOOptions(), nullptr);
  TEST_SYNC_POINT("Folders::MakeIn:BeforeOwner");
  if (s.ok() && !is_there && open_.count(directory) > 0) {
    s = LockIn(tier, folder);
  }
  if (s.ok()) {
    s = WriteOwner(tier, directory, identity);
  }
  if (s.ok() && !tier.is_volatile()) {
    s = SyncDirectory(target_, tier.options().path);
  }
  if (s.ok()) {
    folder->made.insert(tier.index());
    folder->dirty[tier.index()] = Change::kMade;
    identity.tiers[tier.name()] = {identity.opening};
  }
  return s;
}

// Writes it as TIERS is written: others look at it, and the power may fail. No directory in memory
// is synced: it may be gone at any time.
IOStatus Folders::WriteOwner(const Tier& tier, const std::string& directory,
                             const Identity& identity) {
  Identity owner;
  owner.folder = identity.folder;
  owner.directory = AbsolutePath(directory);
  owner.opening = identity.opening;
  owner.tiers[tier.name()] = {identity.opening};
  const std::string path = PathIn(tier, identity.folder + "/" + kOwnerName);
  IOStatus s = WriteSmallFile(target_, path + kTemporary, owner.Encode());
  if (s.ok()) {
    s = target_->RenameFile(path + kTemporary, path, IOOptions(), nullptr);
  }
  return s.ok() && !tier.is_volatile() ? SyncDirectory(target_, DirectoryOf(path)) : s;
}

std::string Folders::NewSuffix() {
  char text[20];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(random_()));
  return text;
}

// TIERS has each id that OWNER may have, whenever this fails or is interrupted, as in Renew(): who
// opens it next may not have the tier at hand, and goes on with what TIERS says.
IOStatus Folders::Begin(const Tier& tier, const std::string& directory, Folder* folder,
                        bool* at_home) {
  IOStatus s = LockReturned(tier, directory, folder);
  if (!s.ok()) {
    return s;
  }
  Identity& identity = folder->identity;
  const bool is_old = identity.version == 1;
  if (is_old) {
    identity.version = Identity::kVersion;
    identity.opening = NewOpening();
  }
  const auto known = identity.tiers.find(tier.name());
  const bool is_new_id =
      known != identity.tiers.end() && known->second.insert(identity.opening).second;
  s = is_old || is_new_id ? WriteTiers(directory, identity) : IOStatus::OK();
  *at_home = !s.ok();
  if (s.ok()) {
    s = MakeIn(tier, directory, folder);
  }
  if (s.ok()) {
    s = WriteTiers(directory, identity);
    *at_home = !s.ok();
  }
  if (!s.ok()) {
    folder->made.erase(tier.index());  // nothing goes there before TIERS says so
  }
  return s;
}

IOStatus Folders::NewPath(const std::string& directory, const std::string& base, Tier* tier,
                          Place* place, bool* at_home) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (s.IsNotFound()) {
    s = Create(directory, &folder);
  }
  bool home_failed = !s.ok();
  if (s.ok() && tier->is_volatile() && !IsThere(*tier, folder->identity.folder)) {
    folder->made.erase(tier->index());  // somebody has cleaned up
    s = MakeTier(*tier);
  }
  if (s.ok() && folder->made.count(tier->index()) == 0) {
    s = Begin(*tier, directory, folder, &home_failed);
  }
  if (at_home != nullptr) {
    *at_home = home_failed;
  }
  if (s.ok()) {
    place->tier = tier;
    place->path = PathIn(*tier, folder->identity.folder + "/" + base + "." + NewSuffix());
    place->stub = true;
  }
  return s;
}

void Folders::Touch(const std::string& directory, const Tier& tier, Change change) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = folders_.find(directory);
  if (it != folders_.end()) {
    Change& noted = it->second.dirty.emplace(tier.index(), change).first->second;
    noted = std::max(noted, change);
  }
}

IOStatus Folders::Sync(const std::string& directory, bool strictly) {
  IOStatus s;
  std::vector<std::pair<Tier*, IOStatus>> tolerated;  // told when no mutex is held
  {
    std::lock_guard<std::mutex> sync_lock(sync_mutex_);
    std::string name;
    std::map<int, Change> dirty;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto it = folders_.find(directory);
      if (it == folders_.end()) {
        return IOStatus::OK();
      }
      name = it->second.identity.folder;
      dirty.swap(it->second.dirty);
    }
    for (const auto& [index, change] : dirty) {
      Tier* const tier = tiers_[static_cast<size_t>(index)].get();
      if (tier->is_volatile()) {  // may be gone, and nothing in it is durable anyway
        continue;
      }
      IOStatus synced = SyncDirectory(tier->fs(), PathIn(*tier, name));
      if (synced.ok()) {
        continue;
      }
      Touch(directory, *tier, change);
      if (strictly || change == Change::kMade) {
        s = synced;
      } else {
        tolerated.emplace_back(tier, synced);
      }
    }
  }
  for (const auto& [tier, reason] : tolerated) {
    failed_(directory, tier, reason);
  }
  return s;
}

void Folders::Renamed(const std::string& from, const std::string& to) {
  std::lock_guard<std::mutex> lock(mutex_);
  folders_.erase(to);
  auto node = folders_.extract(from);
  if (!node.empty()) {
    node.key() = to;
    folders_.insert(std::move(node));
  }
  Folder* folder;
  Identity identity;
  if (!ReadIdentity(target_, to + "/" + kIdentityName, &identity).ok() || !Load(to, &folder).ok() ||
      folder->identity.version == 1) {
    return;
  }
  // A folder whose OWNER cannot be written is known as one that was moved.
  folder->identity.directory = AbsolutePath(to);
  for (const auto& tier : tiers_) {
    Identity owner;
    if (!tier->is_home() && OwnershipIn(folder->identity, to, *tier, &owner) == Ownership::kMoved) {
      std::set<std::string> ids = {folder->identity.opening};
      if (!WriteOwner(*tier, to, folder->identity).ok() && owner.version > 1) {
        ids.insert(owner.opening);  // it has the one or the other
      }
      folder->identity.tiers[tier->name()] = std::move(ids);
    }
  }
  WriteTiers(to, folder->identity).PermitUncheckedError();
}

IOStatus Folders::Remove(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (s.IsNotFound()) {
    return IOStatus::OK();
  }
  // Nobody shall miss what is gone if this is interrupted.
  if (s.ok() && !folder->identity.tiers.empty()) {
    Identity without = folder->identity;
    without.tiers.clear();
    s = WriteTiers(directory, without);
  }
  for (const auto& tier : tiers_) {
    Identity owner;
    if (!s.ok() || tier->is_home()) {
      continue;
    }
    const Ownership ownership = OwnershipIn(folder->identity, directory, *tier, &owner);
    if (ownership == Ownership::kCopied || ownership == Ownership::kForeign ||
        ownership == Ownership::kOfOtherTier) {
      s = IOStatus::InvalidArgument(directory, Explain(ownership, directory, *tier, owner));
    } else {
      s = DeleteAll(target_, PathIn(*tier, folder->identity.folder));
    }
  }
  if (s.ok()) {
    s = target_->DeleteFile(directory + "/" + kIdentityName, IOOptions(), nullptr);
  }
  if (s.ok()) {
    folders_.erase(directory);
  }
  return s;
}

IOStatus Folders::TakeOver(const std::string& directory, const Tier& tier) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (s.ok() && folder->identity.version == 1) {
    folder->identity.version = Identity::kVersion;
    folder->identity.opening = NewOpening();
    s = WriteTiers(directory, folder->identity);
  }
  if (s.ok()) {
    s = WriteOwner(tier, directory, folder->identity);
  }
  if (s.ok()) {
    folder->identity.tiers[tier.name()] = {folder->identity.opening};
    s = WriteTiers(directory, folder->identity);
  }
  return s;
}

// Takes the ids that the folders have.
IOStatus Folders::SetName(const std::string& directory, const std::string& folder) {
  std::lock_guard<std::mutex> lock(mutex_);
  folders_.erase(directory);
  Folder named;
  Identity& identity = named.identity;
  identity.folder = folder;
  identity.directory = AbsolutePath(directory);
  IOStatus s = LockAll(&named);
  if (!s.ok()) {
    return s;
  }
  for (const auto& tier : tiers_) {
    Identity owner;
    if (!tier->is_home() &&
        ReadIdentity(target_, PathIn(*tier, folder + "/" + kOwnerName), &owner).ok() &&
        owner.version > 1) {
      identity.opening =
          IsEarlier(owner.opening, identity.opening) ? identity.opening : owner.opening;
      NoteOwner(*tier, &identity);
    }
  }
  if (identity.opening.empty()) {
    identity.opening = NewOpening();
  }
  s = WriteTiers(directory, identity);
  if (s.ok()) {
    folders_[directory] = std::move(named);
  }
  return s;
}

IOStatus Folders::RemoveFrom(const std::string& directory, const Tier& tier) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (!s.ok()) {
    return s.IsNotFound() ? IOStatus::OK() : s;
  }
  folder->made.erase(tier.index());
  folder->dirty.erase(tier.index());
  if (folder->identity.tiers.erase(tier.name()) > 0) {
    s = WriteTiers(directory, folder->identity);
  }
  if (s.ok()) {
    s = DeleteAll(target_, PathIn(tier, folder->identity.folder));
  }
  return s.ok() && !tier.is_volatile() ? SyncDirectory(target_, tier.options().path) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
