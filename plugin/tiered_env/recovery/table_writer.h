// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/recovery/table_finder.h"
#include "plugin/tiered_env/tier/usage.h"
#include "rocksdb/file_system.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Writes SSTs that were rebuilt. Recovery has one, and calls it from each of its threads. Takes the
// bytes of files off the budgets of their tiers, and of their column families there, as long as it
// exists: until whoever counts the database's files has done so. Thread-safe.
class TableWriter {
 public:
  TableWriter(Namespace* names, std::string directory)
      : names_(names), directory_(std::move(directory)) {}
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // Takes the bytes of an SST that is there, whatever the budget.
  void Count(const VolatileTable& table);
  // Takes those of a file in a durable tier, off the budget of its column family alone: what a
  // tier's budget has of such files has never kept a recovery from being done.
  void Count(const TableFinder::Durable& file);
  // Writes an SST to its tier or, where that fails, or has no room for it or its column family,
  // durably to another. If budgets of the family leave no tier, the slowest takes it. What has
  // failed lately is tried when no other tier takes it. `in_use`: others read it, and its tier has
  // room for it; see TableFinder::FindInUse().
  IOStatus Write(VolatileTable* table, const Slice& sst, bool in_use);

 private:
  // Writes to the first of `tiers` that takes it or, if the family's budgets leave none, to the
  // slowest that does. Adds to *failed those that fail.
  IOStatus WriteToOneOf(std::vector<Tier*> tiers, Tier* wanted, VolatileTable* table,
                        const Slice& sst, std::vector<Tier*>* failed);
  // Writes to the first of `tiers` that takes it; `beyond`: whatever the family's budgets. Moves
  // those that fail from `tiers` to *failed.
  IOStatus WriteToFirstOf(std::vector<Tier*>* tiers, Tier* wanted, bool beyond,
                          VolatileTable* table, const Slice& sst, std::vector<Tier*>* failed);
  IOStatus WriteTo(Tier* tier, VolatileTable* table, const Slice& sst, bool in_use);
  // Gives `path` to what was written for it.
  IOStatus NameDurably(const std::string& path, const Place& place, const std::string& written);
  // The same, while others read it.
  IOStatus NameInUse(const std::string& path, const Place& place, const std::string& written);
  void Hold(Tier* tier, uint64_t bytes);

  Namespace* const names_;
  const std::string directory_;
  Usage usage_;

  std::mutex mutex_;
  std::vector<std::pair<Tier*, uint64_t>> held_;  // guarded by mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
