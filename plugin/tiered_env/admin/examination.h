// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/lost.h"
#include "plugin/tiered_env/tiered_env_tools.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

using Repair = std::function<IOStatus()>;

// What is wrong, and what mends it.
struct Finding {
  TieredProblem problem;
  Repair repair;  // may be empty
};

// One look at the files of a database, which says what is wrong with them. CheckTiers() makes one,
// runs it once, and does the repairs as long as it exists. Not thread-safe.
class Examination {
 public:
  // `closed`: nobody has it open, and so nothing is half done.
  Examination(AdminSession* session, bool closed) : session_(session), closed_(closed) {}

  IOStatus Run();

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  Folders* folders() const { return session_->folders(); }
  const Survey& survey() const { return session_->survey(); }

  void Add(const std::string& path, const std::string& what, bool harmless, Repair repair) {
    findings_.push_back({{path, what, harmless, false}, std::move(repair)});
  }

  IOStatus CheckManifest();
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
  // Whether a file is one that a stub is to name.
  bool IsNeeded(const std::string& path) const;
  IOStatus WriteStub(const std::string& base, const Place& place);
  // Puts what was put aside back first.
  IOStatus BringBack(const std::string& base, const Place& place);
  // What was put aside in our folders.
  Lost LostOnes() const;

  AdminSession* const session_;
  const bool closed_;
  std::vector<Survey::Orphan> orphans_;
  std::vector<Survey::Orphan> needed_;  // those that stubs are to name, of lost/, too
  bool manifest_is_whole_ = true;       // else nobody knows what is needed
  bool is_owner_ = true;                // of all folders
  std::set<int> absent_;                // tiers that are not there
  std::set<std::string> not_sound_;     // names with a finding
  std::vector<Finding> findings_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
