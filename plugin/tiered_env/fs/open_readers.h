// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/fs/random_access_file.h"
#include "plugin/tiered_env/fs/uses.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The SSTs and blob files that are open for reading: when one is moved, its readers go where it is.
// Must outlive the readers: each is a use until it is gone. Thread-safe.
class OpenReaders {
 public:
  OpenReaders(const Namespace* names, Uses* uses) : names_(names), uses_(uses) {}

  // Opens a file, without direct I/O if its tier has none: RocksDB asks home alone whether that can
  // be.
  static IOStatus Open(const Place& place, const FileOptions& options,
                       std::unique_ptr<FSRandomAccessFile>* result);

  // Counts moves. Called before a file that will be Add()ed is looked for.
  uint64_t switches() const;
  // Returns a reader of a file that was opened in `tier` after `switches`: it goes with the file.
  std::unique_ptr<FSRandomAccessFile> Add(const std::string& path, const FileOptions& options,
                                          Tier* tier, std::unique_ptr<FSRandomAccessFile> file,
                                          uint64_t switches);
  // Called when the file has another place: its readers go there.
  void Switch(const std::string& path);

  // Adds to the statistics of tiers what was not added yet. Unless `fresh`, that of half a second
  // may be missing: reports of many databases do not go through all readers each.
  void AddStats(bool fresh);

 private:
  void Remove(TieredRandomAccessFile* reader);
  // Requires mutex_.
  void SwitchReader(TieredRandomAccessFile* reader);

  const Namespace* const names_;
  Uses* const uses_;

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::unordered_multimap<std::string, TieredRandomAccessFile*> readers_;  // by Normalized() path
  uint64_t switches_ = 0;
  std::chrono::steady_clock::time_point added_;  // the last AddStats() of all
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
