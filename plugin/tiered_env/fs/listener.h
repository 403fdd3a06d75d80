// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/tiered_env/tier/expected_level.h"
#include "rocksdb/listener.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Tells the TieredFileSystem below a database the level and column family of each SST and blob file
// before it is written, and that compactions have taken the place of SSTs. Without it the
// FileSystem goes by the write-lifetime hint, by the MANIFEST once the SST is installed, and by the
// deletion of SSTs. Thread-safe.
class TieredEnvListener : public EventListener {
 public:
  static const char* kClassName() { return "TieredEnvListener"; }
  const char* Name() const override { return kClassName(); }

  void OnCompactionBegin(DB* db, const CompactionJobInfo& info) override;
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& info) override;
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override;
  void OnTableFileCreated(const TableFileCreationInfo& info) override;
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override;
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override;

 private:
  std::mutex mutex_;
  // Key: name of the database and job. Guarded by mutex_.
  std::map<std::pair<std::string, int>, ExpectedLevel> compactions_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
