// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/files/info_logs.h"
#include "plugin/tiered_env/files/stub.h"
#include "plugin/tiered_env/tier/policy.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Namespace: what names in directories stand for. A file at home, under the name itself, or one in
// a tier, if there is a stub. TieredFileSystem makes one of its options; whatever looks for files,
// writes them or gives them another place goes by it. Thread-safe.
class Namespace {
 public:
  // `shown`: the FileSystem that has each file under its name, wherever it is. `target`: that of
  // home. `beside`: directories of the option db_paths. All pointers must outlive this object.
  Namespace(FileSystem* shown, FileSystem* target, Policy policy, std::vector<std::string> beside,
            const InfoLogs* info_logs);

  FileSystem* shown() const { return shown_; }
  FileSystem* target() const { return target_; }
  const Policy& policy() const { return policy_; }
  Folders* folders() { return &folders_; }

  // Held by whoever changes what a name stands for: one such change at a time.
  std::mutex* mutex() { return &mutex_; }

  // Finds where a file is, or would be: at home if it does not exist. An error if its stub is
  // damaged, or is of a tier that the options do not name.
  IOStatus Resolve(const std::string& path, Place* place) const;
  // Returns whether a stub keeps its meaning in this directory.
  bool BelongsTo(const Place& place, const std::string& directory);
  // Returns whether a directory of the option db_paths has a file.
  bool IsBeside(const std::string& base, uint64_t size) const;

  // Finds where a new file in a tier can be; makes the folder. `at_home`: see Folders::NewPath().
  IOStatus NewPlace(const std::string& path, Tier* tier, Place* place, bool* at_home = nullptr);
  // Writes a stub under a file's name, over what is there; durably, unless `file` takes it, to be
  // synced.
  IOStatus WriteStub(const std::string& path, const Place& place,
                     std::unique_ptr<FSWritableFile>* file = nullptr);
  // Makes a stub durable.
  IOStatus SyncStub(const std::string& path);
  // Frees the name of a file that is at home: it has another place then.
  IOStatus SetAside(const std::string& path, const Place& place, Place* aside);
  // Deletes what a stub that is gone stood for, unless that may be another home's.
  IOStatus DeletePlace(const std::string& path, const Place& place);

  // Returns the LOG of the database in the directory; null if it has none of ours.
  std::shared_ptr<Logger> InfoLog(const std::string& directory) const;
  // Finds out which tiers are read-only, and tells what has changed in the LOG of the database in
  // `directory`.
  void LookForReadOnly(const std::string& directory) const;
  // Tells that a file finds no room in the tier where it belongs. `family`: the column family whose
  // budget there is used up; empty: it is not that.
  void ReportSpill(const std::string& path, Tier& wanted, const Tier& got,
                   const std::string& family = "") const;
  // Tells that a file cannot be written to a tier, which is not used for a while.
  void ReportFailure(const std::string& path, Tier* tier, const IOStatus& reason) const;

 private:
  IOStatus ReadStub(const std::string& path, Stub* stub) const;
  // Finds the directory whose folder has a file that a stub in `directory` leads to. False: it is
  // in none that belongs to it.
  bool FindOwner(const Place& place, const std::string& directory, std::string* owner);

  FileSystem* const shown_;
  FileSystem* const target_;
  const Policy policy_;
  const std::vector<std::string> beside_;
  const InfoLogs* const info_logs_;
  Folders folders_;
  std::mutex mutex_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
