// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The tool that makes a database the owner of folders that it would not be opened with.

#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/files/identity.h"
#include "plugin/tiered_env/files/lost.h"
#include "plugin/tiered_env/fs/find.h"
#include "plugin/tiered_env/tiered_env_tools.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

// Puts logs of another home's aside, durably: this one would be missing them, or replay them
// (CheckLogs()). If the adoption stops before its end, the other home brings them back.
IOStatus PutLogsAside(AdminSession* session) {
  std::string folder;
  IOStatus s = session->folders()->Find(session->directory(), &folder);
  const Lost lost(session->policy().tiers, folder);
  for (const Survey::Orphan& orphan : session->survey().Orphans(session->database())) {
    if (s.ok() && orphan.needed && session->database().NeedsLog(orphan.base)) {
      s = lost.TakeDurably(orphan.place);
    }
  }
  return s;
}

}  // namespace

Status AdoptTiers(FileSystem* fs, const std::string& directory, bool force, TieredAdoption* result,
                  bool dry_run) {
  TieredFileSystem* ours;
  *result = TieredAdoption();
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  AdminSession session(ours, directory, dry_run);
  s = session.Lock();
  if (s.ok()) {
    s = CheckDirectories(session.policy().tiers, session.directory());
  }
  if (s.ok()) {
    s = session.Look();
  }
  if (s.ok() && !force) {  // else what would be lost is not known
    s = session.CheckManifest();
  }
  if (!s.ok()) {
    return s;
  }
  std::set<std::string> missing;
  for (const auto& [base, need] : session.needed()) {
    if (session.survey().SizeOf(base) != need.size) {
      missing.insert(base);
    }
  }
  for (const Survey::File& file : session.survey().files()) {
    if (file.lost && !file.counts && !session.survey().IsDeletedLog(file, session.database())) {
      missing.insert(file.base);
    }
  }
  result->missing.assign(missing.begin(), missing.end());
  for (const Survey::Orphan& orphan : session.survey().Orphans(session.database())) {
    result->unnamed.push_back(orphan.place.path);
  }
  if (!dry_run && (force || (result->missing.empty() && result->unnamed.empty()))) {
    s = session.folders()->Lock(session.directory());
    s = s.ok() ? Status(PutLogsAside(&session)) : s;
    s = s.ok() ? Status(session.folders()->Adopt(session.directory())) : s;
    result->adopted = s.ok();
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
