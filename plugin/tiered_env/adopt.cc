// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The tool that makes a database the owner of folders that it would not be opened with.

#include "plugin/tiered_env/find.h"
#include "plugin/tiered_env/identity.h"
#include "plugin/tiered_env/visit.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

Status AdoptTiers(FileSystem* fs, const std::string& directory, bool force,
                  TieredAdoption* result) {
  TieredFileSystem* ours;
  *result = TieredAdoption();
  Status s = FindFs(fs, &ours);
  if (!s.ok()) {
    return s;
  }
  Visit visit(ours, directory);
  s = visit.Lock();
  if (s.ok()) {
    s = CheckDirectories(visit.policy().tiers, visit.directory());
  }
  if (s.ok()) {
    s = visit.Look();
  }
  if (!s.ok()) {
    return s;
  }
  std::set<std::string> missing;
  for (const auto& [base, need] : visit.needed()) {
    if (visit.survey().SizeOf(base) != need.size) {
      missing.insert(base);
    }
  }
  for (const Survey::File& file : visit.survey().files()) {
    if (file.lost && !file.counts) {
      missing.insert(file.base);
    }
  }
  result->missing.assign(missing.begin(), missing.end());
  for (const Survey::Orphan& orphan : visit.survey().Orphans(visit.database())) {
    result->unnamed.push_back(orphan.place.path);
  }
  if (force || (result->missing.empty() && result->unnamed.empty())) {
    s = ours->folders()->Adopt(visit.directory());
    result->adopted = s.ok();
  }
  return s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
