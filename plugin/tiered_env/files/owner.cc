// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of Folders that knows whose they are. Each opening for writing has an id, a count of
// them and 64 random bits. TIERS has the id of the last one, and for each tier the one that its
// OWNER is known to have; an OWNER that has neither was opened by another home: a copy, an older
// state of this one, or another host's.

#include <algorithm>
#include <iterator>
#include <random>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/pmem/posix.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kCountDigits = 16;  // of an id: so many openings came before it
constexpr char kCounted[] = "0000";  // the first of them

// Ids of a tier in TIERS at most. There are more than two only if its folder can never be synced.
constexpr size_t kMostIds = 16;

constexpr char kAdopt[] = "\"rocktier tier adopt\" says what would be lost, and takes it over";

// Returns 0 if the id counts nothing.
uint64_t CountOf(const std::string& opening) {
  return CountsOpenings(opening) ? strtoull(opening.substr(0, kCountDigits).c_str(), nullptr, 16)
                                 : 0;
}

}  // namespace

// An id that an earlier version gave is random as a whole, and counts nothing: that it begins like
// one that counts has a chance of one in 65536.
bool CountsOpenings(const std::string& opening) {
  return opening.compare(0, sizeof(kCounted) - 1, kCounted) == 0;
}

std::string NewOpening(const std::string& last) {
  std::random_device random;
  char text[2 * kCountDigits + 1];
  snprintf(text, sizeof(text), "%016llx%08x%08x",
           static_cast<unsigned long long>(CountOf(last)) + 1, random(), random());
  return text;
}

bool IsEarlier(const std::string& opening, const std::string& other) {
  return CountOf(opening) < CountOf(other);
}

bool Folders::IsThere(const Tier& tier, const std::string& folder) const {
  return target_->FileExists(PathIn(tier, folder), IOOptions(), nullptr).ok();
}

bool Folders::IsEmpty(const Tier& tier, const std::string& folder) const {
  std::vector<std::string> names;
  return target_->GetChildren(PathIn(tier, folder), IOOptions(), &names, nullptr).ok() &&
         std::all_of(names.begin(), names.end(), [](const std::string& name) {
           return name == "." || name == ".." || name == kOwnerName || name == kFolderLock ||
                  EndsWith(name, kTemporary);
         });
}

// A folder that TIERS does not know, and that has nothing, is what an opening has left that was
// interrupted.
Folders::Ownership Folders::OwnershipIn(const Identity& ours, const std::string& directory,
                                        const Tier& tier, Identity* owner) const {
  const auto known = ours.tiers.find(tier.name());
  const bool had = known != ours.tiers.end();
  if (!target_->FileExists(tier.options().path, IOOptions(), nullptr).ok()) {
    return Ownership::kNone;  // CheckTiers() tells
  }
  if (!IsThere(tier, ours.folder)) {
    return had && !tier.is_volatile() ? Ownership::kGone : Ownership::kNone;
  }
  IOStatus s = ReadIdentity(target_, PathIn(tier, ours.folder + "/" + kOwnerName), owner);
  if (!s.ok()) {
    return Ownership::kUnknown;
  }
  Identity theirs;
  const std::string there = owner->directory + "/" + kIdentityName;
  const bool is_ours = owner->directory == AbsolutePath(directory);
  if (!is_ours && ReadIdentity(target_, there, &theirs).ok() && theirs.folder == ours.folder) {
    bool same = false;
    s = target_->AreFilesSame(directory + "/" + kIdentityName, there, IOOptions(), &same, nullptr);
    if (!s.ok() || !same) {
      return Ownership::kCopied;
    }
  }
  if (owner->version > 1 && owner->tiers.count(tier.name()) == 0) {
    return Ownership::kOfOtherTier;
  }
  if (owner->version > 1 && owner->opening != ours.opening &&
      !(had ? known->second.count(owner->opening) > 0 : IsEmpty(tier, ours.folder))) {
    return Ownership::kForeign;
  }
  return is_ours ? Ownership::kOurs : Ownership::kMoved;
}

Folders::Ownership Folders::OwnershipOf(const std::string& directory, const Tier& tier,
                                        std::string* other) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  Identity owner;
  if (tier.is_home() || !Load(directory, &folder).ok()) {
    return Ownership::kNone;
  }
  const Ownership result = OwnershipIn(folder->identity, directory, tier, &owner);
  *other = owner.directory;
  return result;
}

// A backup is restored without LOCK, perhaps to a copy of the home, or to an older one: there each
// stub is deleted, while the files are those of a database that may be open elsewhere. So may they
// be in a tier that was away when the database was opened. What a home that was moved leaves so is
// an orphan when it is opened.
bool Folders::MayDelete(const std::string& directory, const Place& place) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = folders_.find(directory);
  if (open_.count(directory) > 0 && it != folders_.end() &&
      !IsUnlocked(directory, it->second, *place.tier)) {
    return true;
  }
  Identity ours;
  Identity owner;
  if (!ReadIdentity(target_, directory + "/" + kIdentityName, &ours).ok()) {
    return false;
  }
  const std::string folder = PathIn(*place.tier, ours.folder) + "/";
  return place.path.compare(0, folder.size(), folder) == 0 &&
         OwnershipIn(ours, directory, *place.tier, &owner) == Ownership::kOurs;
}

std::string Folders::Explain(Ownership ownership, const std::string& directory, const Tier& tier,
                             const Identity& owner) {
  switch (ownership) {
    case Ownership::kCopied:
      return "is a copy of " + owner.directory + ", or that of this: they share what is in tier " +
             tier.name() + "; use checkpoints or backups";
    case Ownership::kForeign:
      return "is not what opened its folder in " + tier.ToString() + " last: " + owner.directory +
             " has, a copy, a newer state of it, or one on another host; " + kAdopt;
    case Ownership::kOfOtherTier:
      return "has the folder of tier " + (owner.tiers.empty() ? "?" : owner.tiers.begin()->first) +
             " in " + tier.ToString() + ": have the paths in tiers= changed places?";
    case Ownership::kGone:
      return "has had a folder in " + tier.ToString() +
             ", which is not there. Mount the tier's disk; if the tier is in memory, give it "
             "kind=memory. Only if the disk is lost: " +
             kAdopt;
    case Ownership::kUnknown:
      return "has a folder without a sound OWNER in " + tier.ToString() +
             "; see \"rocktier tier check\"";
    default:
      return "";
  }
}

// What is in memory is compared with its recipe: it may be what an earlier opening has left on this
// host. What a later one has is not this home's; of two ids of an earlier version nobody knows.
// Elsewhere an OWNER that an earlier version was writing when the power failed may be torn.
std::string Folders::WhyRefused(const std::string& directory, const Folder& folder,
                                const Tier& tier) const {
  Identity owner;
  const Ownership ownership =
      tier.is_home() ? Ownership::kNone : OwnershipIn(folder.identity, directory, tier, &owner);
  const bool tolerated =
      tier.is_volatile()
          ? ownership == Ownership::kUnknown ||
                (ownership == Ownership::kForeign &&
                 (IsEarlier(owner.opening, folder.identity.opening) ||
                  (!CountsOpenings(owner.opening) && !CountsOpenings(folder.identity.opening))))
          : ownership == Ownership::kUnknown && folder.identity.tiers.count(tier.name()) == 0;
  return tolerated ? "" : Explain(ownership, directory, tier, owner);
}

IOStatus Folders::CheckOwners(const std::string& directory, const Folder& folder) const {
  for (const auto& tier : tiers_) {
    const std::string why = WhyRefused(directory, folder, *tier);
    if (!why.empty()) {
      return IOStatus::InvalidArgument(directory, why);
    }
  }
  return IOStatus::OK();
}

// TIERS with the new id, then each OWNER, then TIERS with what OWNERs have: whenever it is
// interrupted, each OWNER has an id that TIERS has, also when the next opening does not name its
// tier. What cannot be written to keeps the one that it has.
IOStatus Folders::Renew(const std::string& directory, Folder* folder,
                        std::map<int, std::string>* failures) {
  folder->identity.version = Identity::kVersion;
  folder->identity.directory = AbsolutePath(directory);
  folder->identity.opening = NewOpening(folder->identity.opening);
  std::vector<Tier*> writable;
  for (const auto& tier : tiers_) {
    const std::string& path = tier->options().path;
    if (!tier->is_home() && !IsReadOnly(path) &&
        target_->FileExists(path, IOOptions(), nullptr).ok()) {
      writable.push_back(tier.get());
      const auto known = folder->identity.tiers.find(tier->name());
      if (known != folder->identity.tiers.end()) {
        known->second.insert(folder->identity.opening);
      }
    }
  }
  IOStatus s = WriteTiers(directory, folder->identity);
  TEST_SYNC_POINT("Folders::Renew:BeforeOwners");
  for (size_t i = 0; s.ok() && i < writable.size(); i++) {
    IOStatus made = MakeIn(*writable[i], directory, folder);
    if (!made.ok()) {
      writable[i]->Failed();
    }
    if (!made.ok() && failures != nullptr) {
      (*failures)[writable[i]->index()] = made.ToString();
    }
  }
  TEST_SYNC_POINT("Folders::Renew:AfterOwners");
  return s.ok() ? WriteTiers(directory, folder->identity) : s;
}

// What an opening that was killed has left may not be durable yet. When TIERS is written, and the
// directory synced with it, names at home become so: those in the folder must be before.
void Folders::NoteOwner(const Tier& tier, Identity* identity) const {
  Identity owner;
  const std::string folder = PathIn(tier, identity->folder);
  IOStatus s = ReadIdentity(target_, folder + "/" + kOwnerName, &owner);
  if (!s.ok() || owner.version == 1) {
    return;
  }
  if (!tier.is_volatile() && !IsReadOnly(tier.options().path)) {
    s = SyncDirectory(tier.fs(), folder);  // before its lost/, from which files are brought back
    const std::string lost = folder + "/" + kLostName;
    if (s.ok() && target_->FileExists(lost, IOOptions(), nullptr).ok()) {
      s = SyncDirectory(tier.fs(), lost);
    }
    s = s.ok() ? SyncDirectory(target_, tier.options().path) : s;
  }
  std::set<std::string>& known = identity->tiers[tier.name()];
  if (s.ok()) {
    known.clear();
  }
  while (known.size() >= kMostIds) {
    known.erase(known.begin());  // the earliest: each begins with its count
  }
  known.insert(owner.opening);
}

IOStatus Folders::Claim(const std::string& directory, bool is_database) {
  std::lock_guard<std::mutex> lock(mutex_);
  folders_.erase(directory);  // it may have been put back since
  open_.insert(directory);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  if (s.IsNotFound()) {
    return is_database ? Create(directory, &folder) : IOStatus::OK();
  }
  if (s.ok()) {
    s = LockAll(folder);
  }
  if (s.ok()) {
    s = CheckOwners(directory, *folder);
  }
  if (s.ok()) {
    for (const auto& tier : tiers_) {
      if (!tier->is_home()) {
        NoteOwner(*tier, &folder->identity);
      }
    }
    s = Renew(directory, folder);
  }
  if (!s.ok()) {
    folders_.erase(directory);
    open_.erase(directory);
  }
  return s;
}

IOStatus Folders::CheckOwner(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  folders_.erase(directory);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  return s.ok() ? CheckOwners(directory, *folder) : s.IsNotFound() ? IOStatus::OK() : s;
}

bool Folders::IsOld(const std::string& directory) {
  Identity identity;
  return ReadIdentity(target_, directory + "/" + kIdentityName, &identity).ok() &&
         identity.version == 1;
}

void Folders::Release(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  open_.erase(directory);
  folders_.erase(directory);
}

IOStatus Folders::RemoveVanished(const std::string& folder, bool dry_run) {
  std::string searched;
  for (const auto& tier : tiers_) {
    searched += tier->is_home() ? "" : "; there is none in " + tier->ToString();
  }
  IOStatus result = IOStatus::NotFound(folder, "is no folder of a database" + searched);
  for (const auto& tier : tiers_) {
    Identity owner;
    Identity theirs;
    if (tier->is_home() || !IsName(folder) ||
        !ReadIdentity(target_, PathIn(*tier, folder + "/" + kOwnerName), &owner).ok()) {
      continue;
    }
    IOStatus s = ReadIdentity(target_, owner.directory + "/" + kIdentityName, &theirs);
    if (s.ok() ? theirs.folder == folder : !IsMissing(s)) {
      return IOStatus::InvalidArgument(
          PathIn(*tier, folder),
          "is the folder of the database " + owner.directory + ", which is there");
    }
    Descriptor lock;
    s = LockFolder(*tier, folder, &lock);
    result = s.ok() && !dry_run ? DeleteAll(target_, PathIn(*tier, folder)) : s;
    if (!result.ok()) {
      return result;
    }
  }
  return result;
}

// A folder that was its own stays so if nothing can be written there: TIERS goes on to know the id
// that its OWNER has. What was not stays another home's.
IOStatus Folders::Adopt(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  Folder* folder;
  IOStatus s = Load(directory, &folder);
  std::set<std::string> own;
  for (const auto& tier : tiers_) {
    Identity owner;
    const Ownership ownership = s.ok() && !tier->is_home()
                                    ? OwnershipIn(folder->identity, directory, *tier, &owner)
                                    : Ownership::kNone;
    if (ownership == Ownership::kOurs || ownership == Ownership::kMoved) {
      own.insert(tier->name());
    }
  }
  for (const auto& tier : tiers_) {  // whoever had them is an earlier one now
    Identity owner;
    if (s.ok() && !tier->is_home() &&
        ReadIdentity(target_, PathIn(*tier, folder->identity.folder + "/" + kOwnerName), &owner)
            .ok() &&
        IsEarlier(folder->identity.opening, owner.opening)) {
      folder->identity.opening = owner.opening;
    }
  }
  for (const auto& tier : tiers_) {
    if (s.ok() && !tier->is_home()) {
      NoteOwner(*tier, &folder->identity);
    }
  }
  if (s.ok()) {
    auto& known = folder->identity.tiers;
    for (auto it = known.begin(); it != known.end();) {
      it = own.count(it->first) > 0 ? std::next(it) : known.erase(it);
    }
    std::map<int, std::string> failures;
    s = Renew(directory, folder, &failures);
    s = s.ok() ? CheckAdopted(directory, *folder, failures) : s;
  }
  folders_.erase(directory);
  return s;
}

IOStatus Folders::CheckAdopted(const std::string& directory, const Folder& folder,
                               const std::map<int, std::string>& failures) const {
  std::string left;
  for (const auto& tier : tiers_) {
    if (!WhyRefused(directory, folder, *tier).empty()) {
      const auto failure = failures.find(tier->index());
      left.append(left.empty() ? "" : ", ").append(tier->ToString()).append(": ");
      left += failure == failures.end() ? "is read-only" : failure->second;
    }
  }
  return left.empty()
             ? IOStatus::OK()
             : IOStatus::IOError(directory, "has not adopted what cannot be written to (" + left +
                                                "). Make room there, or mount it for writing, and "
                                                "adopt again");
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
