// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Finds what is wrong with the files of a database in tiers, and repairs what can be.

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/admin/examination.h"
#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/fs/find.h"
#include "plugin/tiered_env/tiered_env_tools.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr int kMostRounds = 4;  // of repairs: one may make others possible

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
      problem.repairable = finding.repair != nullptr;
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
  RecoveryManager::Rehearsal rehearsal;
  IOStatus s = session->Rehearse({}, &rehearsal);
  result->rebuilt = rehearsal.rebuilt;
  for (const Recovery::Failure& failure : rehearsal.failures) {
    TieredProblem problem;
    problem.path = session->PathOf(failure.base);
    problem.what = "has no recipe that works: " + failure.reason;
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
  AdminSession session(ours, directory, /*dry_run=*/!repair);
  s = session.Lock();
  if (s.IsNotFound() || (!s.ok() && (repair || rebuild))) {
    return s;
  }
  result->open_elsewhere = !s.ok();
  s = CheckDirectories(ours->names()->policy().tiers, session.directory());
  if (s.ok() && repair) {  // a copy of the home has a LOCK of its own
    s = session.folders()->Lock(session.directory());
  }
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
