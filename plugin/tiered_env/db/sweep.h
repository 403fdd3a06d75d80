// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/files/lost.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// How long, and how much of it, is kept of what nothing names.
struct Retention {
  uint64_t seconds = 0;
  uint64_t budget = 0;  // bytes in each tier; 0: no limit
};

// What is done away with when a database is opened, or a tool works on it: sweep.cc has the table
// of who may delete what. The database must be locked. Not thread-safe.
class Sweep {
 public:
  // `info_log` may be null.
  Sweep(Namespace* names, const Retention& retention, Survey* survey, Database* database,
        Logger* info_log);

  // Puts back what stubs name and an opening has put aside; then the survey is made again.
  IOStatus BringBack();
  // Deletes, for good, the second name of a file that has one in the directory and one below it.
  IOStatus DeleteSecondNames();
  // Corruption: a log that RocksDB would replay has no stub. Requires what Run() does.
  IOStatus CheckLogs() const;
  // Does all the rest. Database::Refresh() must have succeeded, or `installed` is false.
  void Run(bool installed);
  // Deletes what was put aside, however old. Aborted, and nothing is, while anything is missing.
  // With `dry_run` nothing is; what Run() would have put aside counts, too.
  IOStatus Purge(bool dry_run, uint64_t* files, uint64_t* bytes);

 private:
  // Returns what of the database is not there; empty if nothing.
  std::string Missing(bool installed) const;
  // Returns whether a lost file is missed.
  bool IsMissed(const Survey::File& file) const;
  void ReportNeeded() const;
  void DeleteTemporary();
  void DeleteStubsOfNothing();
  void PutAside(const std::vector<Survey::Orphan>& orphans);
  void DeleteExpired();
  void Delete(const Lost::File& file, const char* why);
  std::string Folder() const;

  Namespace* const names_;
  const Retention retention_;
  Survey* const survey_;
  Database* const database_;
  Logger* const info_log_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
