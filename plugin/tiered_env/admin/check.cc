// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Finds what is wrong with the files of a database in tiers, and repairs what can be.

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/lost.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/find.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostRounds = 4;  // of repairs: one may make others possible

using Repair = std::function<IOStatus()>;

struct Finding {
  TieredProblem problem;
  Repair repair;  // may be empty
};

// One look at a database.
class Examination {
 public:
  // `closed`: nobody has it open, and so nothing is half done.
  Examination(AdminSession* session, bool closed) : session_(session), closed_(closed) {}

  IOStatus Run() {
    IOStatus s = session_->Look();
    if (s.ok()) {
      FindOrphans();
      CheckTiersAreThere();
      CheckName();
      CheckOwners();
      CheckStubs();
      CheckNeeded();
      CheckLeftovers();
      CheckOtherFolders();
    }
    if (!is_owner_) {  // what seems to be wrong may be right where it belongs
      for (Finding& finding : findings_) {
        finding.repair = nullptr;
      }
    }
    return s;
  }

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  Folders* folders() const { return session_->folders(); }
  const Survey& survey() const { return session_->survey(); }

  void Add(const std::string& path, const std::string& what, bool harmless, Repair repair) {
    findings_.push_back({{path, what, harmless, false}, std::move(repair)});
  }

  void FindOrphans();
  void CheckTiersAreThere();
  void CheckName();
  void CheckOwners();
  void CheckStubs();
  void CheckNeeded();
  void CheckLeftovers();
  void CheckOtherFolders();
  void CheckOtherFolder(const Tier& tier, const std::string& folder, const std::string& ours);

  bool IsThere(const Tier& tier) const { return absent_.count(tier.index()) == 0; }
  // What there is to say of a file that was in memory.
  std::string HowToGet(const std::string& base) const;
  // A file that is needed and not in order. `tier`: where its stub says that it is; null: there is
  // no sound one.
  void AddNeeded(const std::string& base, const LiveTable& need, const std::string& what,
                 const Tier* tier = nullptr);
  IOStatus WriteStub(const std::string& base, const Place& place);
  // What was put aside in our folders.
  Lost LostOnes() const {
    std::string folder;
    folders()->Find(session_->directory(), &folder).PermitUncheckedError();
    return Lost(session_->policy().tiers, folder);
  }
  IOStatus DeleteIn(FileSystem* fs, const std::string& path) {
    return fs->DeleteFile(path, IOOptions(), nullptr);
  }

  AdminSession* const session_;
  const bool closed_;
  std::vector<Survey::Orphan> orphans_;
  bool is_owner_ = true;             // of all folders
  std::set<int> absent_;             // tiers that are not there
  std::set<std::string> not_sound_;  // names with a finding
  std::vector<Finding> findings_;
};

void Examination::FindOrphans() { orphans_ = survey().Orphans(session_->database()); }

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
            std::to_string(count) + " files of the database",
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
    repair = [this] { return DeleteIn(session_->target(), session_->PathOf(kIdentityName)); };
  }
  Add(session_->PathOf(kIdentityName), s.IsNotFound() ? "is missing" : s.ToString(), false, repair);
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

// A sound stub is believed: if its file is in another tier, the paths of tiers have changed places.
void Examination::AddNeeded(const std::string& base, const LiveTable& need, const std::string& what,
                            const Tier* tier) {
  not_sound_.insert(base);
  std::vector<const Survey::Orphan*> candidates;
  for (const Survey::Orphan& orphan : orphans_) {
    uint64_t size = 0;
    if (orphan.base == base && (tier == nullptr || tier == orphan.place.tier) &&
        orphan.place.fs()->GetFileSize(orphan.place.path, IOOptions(), &size, nullptr).ok() &&
        size == need.size) {
      candidates.push_back(&orphan);
    }
  }
  Repair repair;
  std::string found;
  if (candidates.size() == 1) {
    repair = [this, base, place = candidates[0]->place] { return WriteStub(base, place); };
    found = "; it is in " + candidates[0]->place.path;
  } else if (!candidates.empty()) {
    found = "; there are " + std::to_string(candidates.size()) + " such files, one in " +
            candidates[0]->place.path;
  }
  Add(session_->PathOf(base), what + found, false, std::move(repair));
}

IOStatus Examination::WriteStub(const std::string& base, const Place& place) {
  const std::string path = session_->PathOf(base);
  IOStatus s = session_->names()->WriteStub(path + kTemporary, place);
  if (s.ok()) {
    s = session_->target()->RenameFile(path + kTemporary, path, IOOptions(), nullptr);
  }
  return s.ok() ? SyncDirectory(session_->target(), session_->directory()) : s;
}

std::string Examination::HowToGet(const std::string& base) const {
  uint64_t size;
  return session_->fs()->follower()->HasRecipe(session_->PathOf(base), &size)
             ? "; it has a recipe: \"rocktier tier recover\" brings it back"
             : "";
}

// That each is sound and has its file.
void Examination::CheckStubs() {
  for (const std::string& path : survey().damaged()) {
    const std::string base = path.substr(session_->directory().size() + 1);
    const LiveTable* need = session_->NeedOf(base);
    if (need != nullptr) {
      AddNeeded(base, *need,
                "is a damaged stub of a file that the MANIFEST needs" + HowToGet(base));
    } else {
      Add(path, "is a damaged stub of a file that the MANIFEST does not need", true,
          [this, path] { return DeleteIn(session_->target(), path); });
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
    } else if (file.counts) {
      Add(path, what + ", which the MANIFEST does not need", true,
          [this, path] { return DeleteIn(session_->target(), path); });
    } else {
      Add(path, what, false, nullptr);
    }
  }
}

// That each file of the MANIFEST is there.
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
}

// What is being written or deleted in a database that is open looks the same.
void Examination::CheckLeftovers() {
  if (!closed_) {
    return;
  }
  for (const std::string& path : survey().temporary()) {
    Add(path, "is left from interrupted work", true,
        [this, path] { return DeleteIn(session_->target(), path); });
  }
  for (const Survey::Orphan& orphan : orphans_) {
    if (orphan.needed || not_sound_.count(orphan.base) > 0) {
      continue;  // was reported
    }
    Repair repair;
    if (EndsWith(orphan.place.path, kTemporary)) {  // no stub ever names it
      repair = [this, place = orphan.place] { return DeleteIn(place.fs(), place.path); };
    } else if (survey().damaged().empty() && not_sound_.empty()) {  // which may stand for it
      repair = [this, place = orphan.place] { return LostOnes().Take(place); };
    }
    Add(orphan.place.path, "is named by no stub", true, std::move(repair));
  }
  for (const Lost::File& file : LostOnes().List()) {
    const uint64_t now = Lost::Now();
    Add(file.path,
        "was named by nothing " + std::to_string(now - std::min(now, file.since)) +
            " seconds ago, and has " + std::to_string(file.size) +
            " bytes: \"rocktier tier purge\" deletes it",
        true, nullptr);
  }
}

// They are of other databases, which may be elsewhere: never touched.
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

bool Contains(const std::vector<Finding>& findings, const TieredProblem& problem) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.problem.path == problem.path && finding.problem.what == problem.what;
  });
}

void Sum(const AdminSession& session, TieredCheck* result) {
  result->files = session.needed().size();
  result->bytes = 0;
  for (const auto& [base, need] : session.needed()) {
    result->bytes += need.size;
  }
}

// What is found twice is not a passing state of a database that is open.
IOStatus CheckOpen(AdminSession* session, TieredCheck* result) {
  Examination first(session, /*closed=*/false);
  IOStatus s = first.Run();
  if (s.ok()) {
    Examination second(session, /*closed=*/false);
    s = second.Run();
    for (const Finding& finding : second.findings()) {
      if (Contains(first.findings(), finding.problem)) {
        result->problems.push_back(finding.problem);
      }
    }
  }
  return s;
}

IOStatus CheckClosed(AdminSession* session, bool repair, TieredCheck* result) {
  for (int round = 0; round < kMostRounds; round++) {
    Examination examination(session, /*closed=*/true);
    IOStatus s = examination.Run();
    if (!s.ok()) {
      return s;
    }
    size_t repaired = 0;
    std::vector<TieredProblem> left;
    for (const Finding& finding : examination.findings()) {
      TieredProblem problem = finding.problem;
      if (repair && finding.repair != nullptr && round + 1 < kMostRounds) {
        IOStatus done = finding.repair();
        problem.repaired = done.ok();
        problem.what += done.ok() ? "" : "; cannot be repaired: " + done.ToString();
      }
      (problem.repaired ? result->problems : left).push_back(problem);
      repaired += problem.repaired ? 1 : 0;
    }
    if (repaired == 0) {
      result->problems.insert(result->problems.end(), left.begin(), left.end());
      break;
    }
  }
  return IOStatus::OK();
}

IOStatus CheckRecipes(AdminSession* session, TieredCheck* result) {
  std::vector<Recovery::Failure> failures;
  IOStatus s = session->Rehearse(&failures, &result->rebuilt);
  for (const Recovery::Failure& failure : failures) {
    TieredProblem problem;
    problem.path = session->PathOf(failure.base);
    problem.what = failure.reason;
    result->problems.push_back(problem);
  }
  return s;
}

}  // namespace

Status CheckTiers(FileSystem* fs, const std::string& directory, bool repair, TieredCheck* result,
                  bool rebuild) {
  *result = TieredCheck();
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  AdminSession session(ours, directory);
  s = session.Lock();
  if (s.IsNotFound() || (!s.ok() && (repair || rebuild))) {
    return s;
  }
  result->open_elsewhere = !s.ok();
  s = CheckDirectories(ours->names()->policy().tiers, session.directory());
  if (!s.ok()) {
    return s;
  }
  s = result->open_elsewhere ? CheckOpen(&session, result) : CheckClosed(&session, repair, result);
  if (s.ok() && rebuild) {
    s = CheckRecipes(&session, result);
  }
  if (s.ok()) {
    Sum(session, result);
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
