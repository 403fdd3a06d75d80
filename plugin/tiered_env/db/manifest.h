// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugin/tiered_env/tier/placement.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {

class VersionEdit;
namespace log {
class FragmentBufferedReader;
}

namespace tiered_env {

// What a database's MANIFEST says of an SST.
struct LiveTable {
  uint64_t size = 0;  // bytes
  int level = 0;
  uint32_t column_family = 0;
  uint32_t path_id = 0;  // which of DBOptions::db_paths
  Temperature temperature = Temperature::kUnknown;
  std::shared_ptr<const KeyRange> keys;
};

// And of a blob file.
struct LiveBlob {
  uint64_t size = 0;  // bytes
  uint32_t column_family = 0;
};

// Follows a database's MANIFEST, also while it is written, so that the level of each SST is known
// without a word from the database. Not thread-safe.
class Manifest {
 public:
  // `fs` sees the files of `directory`.
  Manifest(FileSystem* fs, std::string directory);
  ~Manifest();

  // Reads what was added. NotFound: there is no database yet.
  IOStatus Refresh();
  // Reads all of it as RocksDB does when it opens the database. Corruption: it is damaged, and not
  // by a crash that tore its end; then Refresh() may have left something out.
  IOStatus Check() const;
  // Makes durable what was read: a process that has died may have left it before it was synced.
  IOStatus Sync();

  const std::map<uint64_t, LiveTable>& tables() const { return tables_; }
  // The blob files that were added and are not all garbage, by number.
  std::map<uint64_t, LiveBlob> blobs() const;
  // The column families that are not dropped, by id: their names.
  const std::map<uint32_t, std::string>& families() const { return families_; }
  // The least number of a log that RocksDB replays when it opens the database, or later.
  uint64_t first_log() const { return first_log_; }
  // Levels of each column family; those without a file below L0 are left out.
  std::map<uint32_t, LevelRange> shapes() const;

 private:
  struct Blob {
    LiveBlob is;
    uint64_t values = 0;  // that are not garbage
  };

  IOStatus ReadCurrent(std::string* name) const;
  IOStatus Open(const std::string& name);
  // One that is of an atomic group when the group is complete: else RocksDB does not either.
  IOStatus Add(const VersionEdit& edit);
  void Apply(const VersionEdit& edit);

  FileSystem* const fs_;
  const std::string directory_;
  std::string name_;
  std::unique_ptr<log::FragmentBufferedReader> reader_;
  std::vector<VersionEdit> group_;  // is not complete yet
  std::map<uint64_t, LiveTable> tables_;
  std::map<uint64_t, Blob> blobs_;  // by number
  std::map<uint32_t, std::string> families_;
  uint64_t first_log_ = 0;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
