// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "plugin/blob_hybrid/filter.h"
#include "rocksdb/compaction_filter.h"

namespace ROCKSDB_NAMESPACE {

class DB;
class DBImpl;
class Env;

namespace blob_hybrid {

class GcFamily;
class GcScheduler;

// The open databases of the process that use the plugin: from the first event that their listener
// sees to their close. The listener enters them; factories and tables, which RocksDB does not tell
// which database they work for, find them here by the folder of SSTs. Thread-safe.
class Databases {
 public:
  static Databases* Instance();

  // Takes in a family at its first event. Null if the family does not use the plugin. DB is one of
  // RocksDB's own (DBImpl).
  std::shared_ptr<GcFamily> Notice(DB* db, uint32_t family);

  // Ends the job of a database, which is about to be closed.
  void Forget(DB* db);

  // Finds what runs the jobs of a database. Null if it is not known.
  std::shared_ptr<GcScheduler> Find(DB* db);

  // Finds the blob files of the family of a compaction that is under way, which is told by its
  // inputs. False if there are none that values are to be moved out of, or the family is not known.
  bool FindBlobFiles(const CompactionFilter::Context& compaction, const BlobHybridOptions& options,
                     BlobFiles* files);

  // Tells whether a flush is to leave medium values in its SST, by its folder. False if the family
  // is not known.
  bool IsCrowdedFamily(const Env* env, const std::string& folder, uint32_t family);

 private:
  // The database, and its scheduler; null if it is not known. `is_it` tells which of those that
  // have this folder, each in an Env of its own; it is called with mutex_ held, so that none of
  // them is closed.
  std::pair<DBImpl*, std::shared_ptr<GcScheduler>> FindByFolder(
      const std::string& folder, uint32_t family, const std::function<bool(DBImpl*)>& is_it);

  std::mutex mutex_;
  std::map<DB*, std::shared_ptr<GcScheduler>> schedulers_;
  // The databases by folder of SSTs and number of the family. Databases of one folder are in
  // several Envs.
  std::map<std::pair<std::string, uint32_t>, std::set<DBImpl*>> folders_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
