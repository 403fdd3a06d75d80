// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/admin/examination.h"

#include <algorithm>

#include "plugin/tiered_env/files/clock.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

IOStatus DeleteFile(FileSystem* fs, const std::string& path) {
  return fs->DeleteFile(path, IOOptions(), nullptr);
}

}  // namespace

IOStatus Examination::Run() {
  IOStatus s = session_->Look();
  s = s.ok() ? CheckManifest() : s;
  if (s.ok()) {
    FindOrphans();
    CheckTiersAreThere();
    CheckName();
    CheckOwners();
    if (manifest_is_whole_) {
      CheckStubs();
      CheckNeeded();
      CheckLeftovers();
    }
    CheckOtherFolders();
  }
  // What seems to be wrong may be right where it belongs.
  if (!is_owner_ || !manifest_is_whole_) {
    for (Finding& finding : findings_) {
      finding.repair = nullptr;
    }
  }
  return s;
}

// What it does not name because of the damage would be called not needed. One of a database that is
// open may have been replaced.
IOStatus Examination::CheckManifest() {
  IOStatus s = session_->CheckManifest();
  if (!s.IsCorruption()) {
    return closed_ ? s : IOStatus::OK();
  }
  manifest_is_whole_ = false;
  Add(session_->directory(),
      "has a MANIFEST that is damaged, and nobody knows which files are needed: nothing is "
      "repaired: " +
          s.ToString(),
      false, nullptr);
  return IOStatus::OK();
}

void Examination::FindOrphans() {
  orphans_ = survey().Orphans(session_->database());
  needed_ = survey().Needed(session_->database());
}

void Examination::CheckTiersAreThere() {
  for (const auto& tier : session_->policy().tiers) {
    const std::string& path = tier->options().path;
    if (tier->is_home() || session_->target()->FileExists(path, IOOptions(), nullptr).ok()) {
      continue;
    }
    absent_.insert(tier->index());
    const size_t count = survey().CountIn(*tier);
    Add(path,
        "is not there: the directory of tier " + tier->name() + ", which has " +
            std::to_string(count) + " files of the database: mount its disk",
        count == 0, nullptr);
  }
}

// The name of the folders, which stubs have, too.
void Examination::CheckName() {
  std::string folder;
  IOStatus s = folders()->Find(session_->directory(), &folder);
  if (s.ok()) {
    return;
  }
  std::set<std::string> names;
  for (const Survey::File& file : survey().files()) {
    if (file.place.stub) {
      const std::string below = file.place.path.substr(file.place.tier->options().path.size() + 1);
      names.insert(below.substr(0, below.find('/')));
    }
  }
  if (s.IsNotFound() && names.empty()) {
    return;
  }
  Repair repair;
  if (names.size() == 1) {
    repair = [this, name = *names.begin()] {
      return folders()->SetName(session_->directory(), name);
    };
  } else if (names.empty()) {
    repair = [this] { return DeleteFile(session_->target(), session_->PathOf(kIdentityName)); };
  }
  Add(session_->PathOf(kIdentityName),
      s.IsNotFound() ? "is missing" : "cannot be used: " + s.ToString(), false, repair);
}

void Examination::CheckOwners() {
  for (const auto& tier : session_->policy().tiers) {
    std::string other;
    const auto ownership = folders()->OwnershipOf(session_->directory(), *tier, &other);
    is_owner_ = is_owner_ && !Folders::IsOfOthers(ownership);
    const Repair take_over = [this, tier = tier.get()] {
      return folders()->TakeOver(session_->directory(), *tier);
    };
    switch (ownership) {
      case Folders::Ownership::kNone:
      case Folders::Ownership::kOurs:
        break;
      case Folders::Ownership::kMoved:
        Add(session_->directory(),
            "was " + other + " when it got its folder in tier " + tier->name(), true, take_over);
        break;
      case Folders::Ownership::kUnknown:
        Add(session_->directory(), "has a folder without a sound OWNER in tier " + tier->name(),
            false, take_over);
        break;
      case Folders::Ownership::kForeign:
        Add(session_->directory(),
            "is not what opened its folder in tier " + tier->name() + " last: " + other +
                " has; \"rocktier tier adopt\" says what would be lost",
            false, nullptr);
        break;
      case Folders::Ownership::kOfOtherTier:
        Add(session_->directory(), "has the folder of another tier in tier " + tier->name(), false,
            nullptr);
        break;
      case Folders::Ownership::kGone:
        Add(session_->directory(),
            "has had a folder in tier " + tier->name() +
                ", which is not there; \"rocktier tier adopt\" says what would be lost",
            false, nullptr);
        break;
      case Folders::Ownership::kCopied:
        Add(session_->directory(),
            "is a copy of " + other + ", or that of this: they share what is in tier " +
                tier->name() + "; delete neither through the plugin",
            false, nullptr);
        break;
    }
  }
}

Lost Examination::LostOnes() const {
  std::string folder;
  folders()->Find(session_->directory(), &folder).PermitUncheckedError();
  return Lost(session_->policy().tiers, folder);
}

// A sound stub is believed: if its file is in another tier, the paths of tiers have changed places.
void Examination::AddNeeded(const std::string& base, const LiveTable& need, const std::string& what,
                            const Tier* tier) {
  not_sound_.insert(base);
  std::vector<const Survey::Orphan*> candidates;
  for (const Survey::Orphan& orphan : needed_) {
    uint64_t size = 0;
    if (orphan.base == base && (tier == nullptr || tier == orphan.place.tier) &&
        orphan.place.fs()->GetFileSize(orphan.place.path, IOOptions(), &size, nullptr).ok() &&
        (size == need.size || session_->database().NeedsLog(base))) {
      candidates.push_back(&orphan);
    }
  }
  Repair repair;
  std::string found;
  if (candidates.size() == 1) {
    repair = [this, base, place = candidates[0]->place] { return BringBack(base, place); };
    found = "; it is in " + candidates[0]->place.path;
  } else if (!candidates.empty()) {
    found = "; there are " + std::to_string(candidates.size()) + " such files, one in " +
            candidates[0]->place.path;
  }
  Add(session_->PathOf(base), what + found, false, std::move(repair));
}

IOStatus Examination::WriteStub(const std::string& base, const Place& place) {
  const std::string path = session_->PathOf(base);
  IOStatus s = SyncDirectory(place.fs(), DirectoryOf(place.path));  // it may not be durable yet
  if (s.ok()) {
    s = session_->names()->WriteStub(path + kTemporary, place);
  }
  if (s.ok()) {
    s = session_->target()->RenameFile(path + kTemporary, path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(session_->target(), session_->directory()) : s;
}

IOStatus Examination::BringBack(const std::string& base, const Place& place) {
  for (const Lost::File& file : LostOnes().List()) {
    if (file.path == place.path) {
      Place back = place;
      back.path = DirectoryOf(DirectoryOf(file.path)) + "/" + file.name;
      IOStatus s = LostOnes().BringBack(file);
      return s.ok() ? WriteStub(base, back) : s;
    }
  }
  return WriteStub(base, place);
}

std::string Examination::HowToGet(const std::string& base) const {
  uint64_t size;
  return session_->fs()->follower()->HasRecipe(session_->PathOf(base), &size)
             ? "; it has a recipe: \"rocktier tier recover\" brings it back"
             : "";
}

// Checks that each is sound and has its file.
void Examination::CheckStubs() {
  for (const std::string& path : survey().damaged()) {
    const std::string base = path.substr(session_->directory().size() + 1);
    const LiveTable* need = session_->NeedOf(base);
    if (need != nullptr) {
      AddNeeded(base, *need,
                "is a damaged stub of a file that the MANIFEST needs" + HowToGet(base));
    } else {
      Add(path, "is a damaged stub of a file that the MANIFEST does not need", true,
          [this, path] { return DeleteFile(session_->target(), path); });
    }
  }
  for (const Survey::File& file : survey().files()) {
    if (!file.lost || !IsThere(*file.place.tier)) {
      continue;
    }
    const std::string what =
        "is lost: " + file.place.tier->ToString() + " has no " + file.place.path;
    const LiveTable* need = file.counts ? session_->NeedOf(file.base) : nullptr;
    const std::string path = session_->PathOf(file.base);
    if (need != nullptr) {
      AddNeeded(file.base, *need, what + HowToGet(file.base), file.place.tier);
    } else if (file.counts || survey().IsDeletedLog(file, session_->database())) {
      Add(path, what + ", which the MANIFEST does not need", true,
          [this, path] { return DeleteFile(session_->target(), path); });
    } else {
      Add(path, what, false, nullptr);
    }
  }
}

// Checks that each file of the MANIFEST is there.
void Examination::CheckNeeded() {
  for (const Survey::File& file : survey().files()) {
    const LiveTable* need = file.counts ? session_->NeedOf(file.base) : nullptr;
    if (need != nullptr && !file.lost && file.size != need->size) {
      AddNeeded(file.base, *need,
                "has " + std::to_string(file.size) + " bytes, and the MANIFEST says " +
                    std::to_string(need->size) + HowToGet(file.base));
    }
  }
  for (const auto& [base, need] : session_->needed()) {
    if (!survey().Has(base)) {
      AddNeeded(base, need, "is missing, and the MANIFEST needs it" + HowToGet(base) + kBeside);
    }
  }
  for (const Survey::Orphan& orphan : needed_) {  // which may be in another one of db_paths
    if (not_sound_.count(orphan.base) == 0) {
      const bool is_log = session_->database().NeedsLog(orphan.base);
      LiveTable need;
      need.size = session_->database().SizeOf(orphan.base);
      AddNeeded(orphan.base, need,
                is_log ? "is missing, a log that RocksDB would replay"
                       : std::string("is missing, and the MANIFEST needs it") + kBeside);
    }
  }
}

bool Examination::IsNeeded(const std::string& path) const {
  return std::any_of(needed_.begin(), needed_.end(),
                     [&](const Survey::Orphan& orphan) { return orphan.place.path == path; });
}

// What is being written or deleted in a database that is open looks the same.
void Examination::CheckLeftovers() {
  if (!closed_) {
    return;
  }
  for (const std::string& path : survey().temporary()) {
    Add(path, "is left from interrupted work", true,
        [this, path] { return DeleteFile(session_->target(), path); });
  }
  for (const Survey::Orphan& orphan : orphans_) {
    if (orphan.needed || not_sound_.count(orphan.base) > 0) {
      continue;  // was reported
    }
    Repair repair;
    if (EndsWith(orphan.place.path, kTemporary)) {  // no stub ever names it
      repair = [this, place = orphan.place] { return DeleteFile(place.fs(), place.path); };
    } else if (survey().damaged().empty() && not_sound_.empty()) {  // which may stand for it
      repair = [this, place = orphan.place] { return LostOnes().Take(place); };
    }
    Add(orphan.place.path, "is named by no stub", true, std::move(repair));
  }
  for (const Lost::File& file : LostOnes().List()) {
    if (IsNeeded(file.path)) {
      continue;  // was reported
    }
    const uint64_t now = SecondsSince1970();
    Add(file.path,
        "was put aside " + std::to_string(now - std::min(now, file.since)) +
            " seconds ago, as nothing names it, and has " + std::to_string(file.size) +
            " bytes: \"rocktier tier purge\" deletes it",
        true, nullptr);
  }
}

// Touches none of them: their databases may be elsewhere.
void Examination::CheckOtherFolders() {
  std::string ours;
  folders()->Find(session_->directory(), &ours).PermitUncheckedError();
  for (const auto& tier : session_->policy().tiers) {
    std::vector<std::string> names;
    if (tier->is_home() ||
        !session_->target()->GetChildren(tier->options().path, IOOptions(), &names, nullptr).ok()) {
      continue;
    }
    for (const std::string& name : names) {
      CheckOtherFolder(*tier, name, ours);
    }
  }
}

void Examination::CheckOtherFolder(const Tier& tier, const std::string& folder,
                                   const std::string& ours) {
  Identity owner;
  Identity theirs;
  const std::string path = Folders::PathIn(tier, folder);
  if (folder == ours || folder == "." || folder == ".." ||
      !ReadIdentity(session_->target(), path + "/" + kOwnerName, &owner).ok()) {
    return;
  }
  const std::string there = owner.directory + "/" + kIdentityName;
  IOStatus s = ReadIdentity(session_->target(), there, &theirs);
  if (!s.ok() || theirs.folder != folder) {
    Add(path,
        "was of " + owner.directory +
            ", which does not name it; if that is gone for good, \"rocktier tier purge --folder=" +
            folder + "\" deletes the folder",
        true, nullptr);
  }
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
