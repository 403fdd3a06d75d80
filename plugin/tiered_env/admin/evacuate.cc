// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tools that move the files of a closed database: one, those of a tier, all.

#include <algorithm>
#include <set>
#include <vector>

#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/db/mover.h"
#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/find.h"
#include "plugin/tiered_env/metrics_reporter.h"
#include "plugin/tiered_env/options/text.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/tiered_env_tools.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

Status FindTierOf(const TieredFileSystem& fs, const std::string& name, Tier** result) {
  std::vector<std::string> known;
  for (const auto& tier : fs.names()->policy().tiers) {
    if (tier->name() == name) {
      *result = tier.get();
      return Status::OK();
    }
    known.push_back(tier->name());
  }
  return Status::InvalidArgument("tier " + name, "there is no such tier, but " + Join(known));
}

Database::Misplaced MoveOf(const AdminSession& session, const Survey::File& file, Tier* to) {
  Database::Misplaced move;
  move.base = file.base;
  move.size = file.size;
  move.from = file.place.tier;
  move.to = move.wanted = to;
  move.family = session.database().FamilyOf(file.base);
  return move;
}

// Counts the bytes of moves.
class Meter {
 public:
  explicit Meter(const TieredProgress& progress) : progress_(progress) {}

  void Expect(uint64_t bytes) { total_ += bytes; }
  void Count(uint64_t bytes) {
    files_++;
    done_ = std::min(done_ + bytes, total_);
    if (progress_ != nullptr) {
      progress_(done_, total_);
    }
  }
  uint64_t files() const { return files_; }

 private:
  const TieredProgress& progress_;
  uint64_t files_ = 0;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

// What directories below have taken from the folders must be brought away first.
IOStatus RefuseIfReferenced(const AdminSession& session, const Tier& tier) {
  std::string folder;
  if (tier.is_home() || !session.folders()->Find(session.directory(), &folder).ok()) {
    return IOStatus::OK();
  }
  const std::string prefix = Folders::PathIn(tier, folder) + "/";
  std::set<std::string> would_have_moved;  // and are still there
  for (const Survey::File& file : session.survey().files()) {
    if (session.dry_run()) {
      would_have_moved.insert(file.place.path);
    }
  }
  for (const std::string& path : session.survey().referenced()) {
    if (path.compare(0, prefix.size(), prefix) == 0 && would_have_moved.count(path) == 0) {
      return IOStatus::Busy(path, "is still named by a stub in or below " + session.directory());
    }
  }
  return IOStatus::OK();
}

IOStatus RefuseIfReferenced(const AdminSession& session) {
  IOStatus s;
  for (const auto& tier : session.policy().tiers) {
    s = s.ok() ? RefuseIfReferenced(session, *tier) : s;
  }
  return s;
}

// Moves as the mover would, until nothing is to be moved any more.
IOStatus MoveByPlan(AdminSession* session, const Tier* leaving, Meter* meter) {
  std::vector<Database::Misplaced> files =
      session->database().FindMisplaced(session->policy(), leaving);
  for (const Database::Misplaced& file : files) {
    if (file.to == leaving) {
      return IOStatus::NoSpace(session->PathOf(file.base),
                               "finds no room in any other tier within its budget");
    }
    meter->Expect(file.from != file.to ? file.size : 0);
  }
  std::set<std::string> failed;
  for (;;) {
    files.erase(std::remove_if(files.begin(), files.end(),
                               [&](const Database::Misplaced& file) {
                                 return file.from == file.to || failed.count(file.base) > 0;
                               }),
                files.end());
    if (files.empty()) {
      return IOStatus::OK();
    }
    const auto next = std::min_element(files.begin(), files.end(), MovesBefore);
    IOStatus s = session->Move(*next);
    if (s.IsNoSpace()) {  // full tiers would change places: leave that to the mover
      failed.insert(next->base);
    } else if (!s.ok()) {
      return s;
    } else {
      meter->Count(next->size);
    }
    files = session->database().FindMisplaced(session->policy(), leaving);
  }
}

// Whatever its budget.
IOStatus BringHome(AdminSession* session, const Tier* from, Meter* meter) {
  Tier* const home = session->policy().home_tier();
  std::vector<Database::Misplaced> moves;
  for (const Survey::File& file : session->survey().files()) {
    if (file.place.stub && (from == nullptr || file.place.tier == from) &&
        !session->WouldHaveMoved(file.base)) {
      moves.push_back(MoveOf(*session, file, home));
      meter->Expect(file.size);
    }
  }
  IOStatus s;
  for (size_t i = 0; s.ok() && i < moves.size(); i++) {
    s = session->Move(moves[i], /*anyway=*/true);
    if (s.ok()) {
      meter->Count(moves[i].size);
    }
  }
  return s;
}

IOStatus CheckFreeSpace(const AdminSession& session) {
  uint64_t bytes = 0;
  for (const Survey::File& file : session.survey().files()) {
    bytes += file.place.stub ? file.size : 0;
  }
  uint64_t free = 0;
  IOStatus s = session.target()->GetFreeSpace(session.directory(), IOOptions(), &free, nullptr);
  if (s.ok() && free < bytes) {
    return IOStatus::NoSpace(session.directory(), "has room for " + std::to_string(free) +
                                                      " bytes, and " + std::to_string(bytes) +
                                                      " are in tiers");
  }
  return IOStatus::OK();
}

IOStatus Drain(AdminSession* session, Tier* tier, Meter* meter) {
  IOStatus s = session->TakeOver();
  if (s.ok()) {
    s = MoveByPlan(session, tier, meter);
  }
  if (s.ok() && !session->dry_run()) {
    s = session->Look();
  }
  if (s.ok()) {  // logs, MANIFESTs, what RocksDB will delete
    s = BringHome(session, tier, meter);
  }
  if (s.ok() && !session->dry_run()) {
    s = session->Look();
  }
  if (s.ok()) {
    s = RefuseIfReferenced(*session, *tier);
  }
  return s.ok() && !session->dry_run() ? session->folders()->RemoveFrom(session->directory(), *tier)
                                       : s;
}

// Nothing is removed before the whole database has been found at home.
IOStatus Evacuate(AdminSession* session, Meter* meter) {
  IOStatus s = session->TakeOver();
  if (s.ok()) {
    s = CheckFreeSpace(*session);
  }
  if (s.ok()) {
    s = BringHome(session, nullptr, meter);
  }
  if (!s.ok() || session->dry_run()) {
    return s.ok() ? RefuseIfReferenced(*session) : s;
  }
  s = session->Look();
  for (const auto& [base, need] : session->needed()) {
    uint64_t size = 0;
    if (s.ok()) {
      s = session->target()->GetFileSize(session->PathOf(base), IOOptions(), &size, nullptr);
    }
    if (s.ok() && size != need.size) {
      s = IOStatus::Corruption(session->PathOf(base), "has not the size that the MANIFEST says");
    }
  }
  s = s.ok() ? RefuseIfReferenced(*session) : s;
  if (s.ok()) {
    s = RecoveryManager::Remove(*session->names(), session->directory());
  }
  if (s.ok()) {
    MetricsReporter::Delete(session->target(), session->PathOf(kMetricsName));
    s = session->folders()->Remove(session->directory());
  }
  return s.ok() ? SyncDirectory(session->target(), session->directory()) : s;
}

}  // namespace

Status MoveToTier(FileSystem* fs, const std::string& directory, const std::string& name,
                  const std::string& tier, std::string* later, bool dry_run) {
  TieredFileSystem* ours;
  Tier* to = nullptr;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    s = FindTierOf(*ours, tier, &to);
  }
  if (s.ok() && to->is_volatile()) {
    s = Status::InvalidArgument(to->ToString(),
                                "is in memory: nothing is gained there by what is durable");
  }
  if (!s.ok()) {
    return s;
  }
  AdminSession session(ours, directory, dry_run);
  s = session.TakeOver();
  if (!s.ok()) {
    return s;
  }
  const std::vector<Survey::File>& files = session.survey().files();
  const auto file = std::find_if(files.begin(), files.end(), [&](const Survey::File& candidate) {
    return candidate.counts && candidate.base == BaseOf(name);
  });
  if (file == files.end()) {
    return Status::NotFound(session.PathOf(BaseOf(name)), "is no SST or blob file of the database");
  }
  if (file->place.tier != to) {
    s = session.Move(MoveOf(session, *file, to));
  }
  later->clear();
  for (const Database::Misplaced& plan : session.database().FindMisplaced(session.policy())) {
    if (plan.base == file->base && plan.to != to) {
      *later = plan.to->name();
    }
  }
  return s;
}

Status DrainTier(FileSystem* fs, const std::string& directory, const std::string& tier,
                 uint64_t* moved, const TieredProgress& progress, bool dry_run) {
  TieredFileSystem* ours;
  Tier* leaving = nullptr;
  *moved = 0;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    s = FindTierOf(*ours, tier, &leaving);
  }
  if (s.ok() && leaving->is_home()) {
    s = Status::InvalidArgument("tier home",
                                "cannot be drained: it has the files that are never moved");
  }
  if (s.ok()) {
    AdminSession session(ours, directory, dry_run);
    Meter meter(progress);
    s = Drain(&session, leaving, &meter);
    *moved = meter.files();
  }
  return s;
}

Status PurgeTiers(FileSystem* fs, const std::string& directory, uint64_t* files, uint64_t* bytes,
                  const std::vector<std::string>& folders, bool dry_run) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  *files = *bytes = 0;
  if (s.ok()) {
    AdminSession session(ours, directory, dry_run);
    s = session.TakeOver();
    // Of wrong folders it is told before anything is deleted.
    for (const std::string& folder : folders) {
      s = s.ok() ? ours->names()->folders()->RemoveVanished(folder, /*dry_run=*/true) : s;
    }
    if (s.ok()) {
      s = session.Purge(files, bytes);
    }
    for (const std::string& folder : folders) {
      s = s.ok() && !dry_run ? ours->names()->folders()->RemoveVanished(folder, false) : s;
    }
  }
  return s;
}

Status RecoverTiers(FileSystem* fs, const std::string& directory) {
  TieredFileSystem* ours;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    AdminSession session(ours, directory);
    s = session.TakeOver();
  }
  return s;
}

Status RehearseRecovery(FileSystem* fs, const std::string& directory, TieredLoss* result,
                        const std::vector<std::string>& gone) {
  TieredFileSystem* ours;
  *result = TieredLoss();
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  AdminSession session(ours, directory, /*dry_run=*/true);
  s = session.TakeOver();
  if (!s.ok()) {
    return s;
  }
  std::set<std::string> lost;
  for (const Survey::File& file : session.survey().files()) {
    if (file.lost && file.place.tier->is_volatile() && session.NeedOf(file.base) != nullptr) {
      lost.insert(file.base);
    }
  }
  result->lost.assign(lost.begin(), lost.end());
  if (lost.empty()) {
    return s;
  }
  RecoveryManager::Rehearsal rehearsal;
  s = session.Rehearse(gone, &rehearsal);
  for (const Recovery::Failure& failure : rehearsal.failures) {
    if (lost.count(failure.base) > 0) {
      result->for_good.push_back(failure.base + ": " + failure.reason);
    }
  }
  std::sort(result->for_good.begin(), result->for_good.end());
  if (!result->for_good.empty()) {
    result->refusal = rehearsal.refusal;
  }
  return s;
}

Status SalvageTiers(FileSystem* fs, const std::string& directory,
                    std::vector<std::string>* given_up, const std::vector<std::string>& gone) {
  TieredFileSystem* ours;
  given_up->clear();
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    AdminSession session(ours, directory);
    s = session.Salvage(gone, given_up);
  }
  return s;
}

Status EvacuateTiers(FileSystem* fs, const std::string& directory, uint64_t* moved,
                     const TieredProgress& progress, bool dry_run) {
  TieredFileSystem* ours;
  *moved = 0;
  Status s = FindFs(fs, &ours);
  if (s.ok()) {
    AdminSession session(ours, directory, dry_run);
    Meter meter(progress);
    s = Evacuate(&session, &meter);
    *moved = meter.files();
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
