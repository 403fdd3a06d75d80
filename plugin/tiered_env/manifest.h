// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "plugin/tiered_env/placement.h"
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
};

// Follows a database's MANIFEST, also while it is written, so that the level of each SST is known without a
// word from the database. Not thread-safe.
class Manifest {
 public:
  // `fs` sees the files of `directory`.
  Manifest(FileSystem* fs, std::string directory);
  ~Manifest();

  // Reads what was added. NotFound: there is no database yet.
  IOStatus Refresh();

  const std::map<uint64_t, LiveTable>& tables() const { return tables_; }
  // Those that were added and are not all garbage.
  std::set<uint64_t> blobs() const;
  // Bytes of such a file, once it is complete.
  uint64_t SizeOfBlob(uint64_t number) const;
  // By column family; those without a file below L0 are left out.
  std::map<uint32_t, Shape> shapes() const;

 private:
  IOStatus ReadCurrent(std::string* name) const;
  IOStatus Open(const std::string& name);
  void Apply(const VersionEdit& edit);

  FileSystem* const fs_;
  const std::string directory_;
  std::string name_;
  std::unique_ptr<log::FragmentBufferedReader> reader_;
  std::map<uint64_t, LiveTable> tables_;
  std::map<uint64_t, uint64_t> values_in_blobs_;  // by number, those that are not garbage
  std::map<uint64_t, uint64_t> sizes_of_blobs_;   // by number
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
