// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace rocktier {

// A database with a tier in memory, below a folder. What stays the same as long as it lives follows
// from `setup`, all else from a seed. Not thread-safe.
class MemorySite {
 public:
  MemorySite(const std::string& folder, int setup) : folder_(folder), setup_(setup) {}
  ~MemorySite() { Close(); }
  MemorySite(const MemorySite&) = delete;
  MemorySite& operator=(const MemorySite&) = delete;

  enum Setup { kLeveled, kUniversal, kWalDir, kAllInMemory, kLogDevice, kSetups };
  // Returns whether there can be such a database: kLogDevice needs raw_wal_fs.
  static bool Has(int setup);

  std::string tier() const { return folder_ + "/memory"; }
  std::string older() const { return folder_ + "/older"; }
  std::string directory() const { return folder_ + "/db"; }
  // The FileSystem below the tiers; null: the default one.
  ROCKSDB_NAMESPACE::Status Target(std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem>* target) const;

  ROCKSDB_NAMESPACE::Status Open(uint64_t seed);
  void Close();
  // Number of the batches that it has; also of a database that has none.
  ROCKSDB_NAMESPACE::Status Count(uint64_t* count) const;

  ROCKSDB_NAMESPACE::DB* db() const { return db_.get(); }
  ROCKSDB_NAMESPACE::FileSystem* fs() const { return fs_.get(); }
  const std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*>& families() const { return families_; }
  // In words.
  const std::string& options() const { return options_; }

 private:
  const std::string folder_;
  const int setup_;
  std::string options_;
  std::shared_ptr<ROCKSDB_NAMESPACE::FileSystem> fs_;
  std::unique_ptr<ROCKSDB_NAMESPACE::Env> env_;
  std::unique_ptr<ROCKSDB_NAMESPACE::DB> db_;
  std::vector<ROCKSDB_NAMESPACE::ColumnFamilyHandle*> families_;
};

// Has few retained logs be worth trimming.
void TrimEarly();

// "--memory-child folder setup seed point hits": writes until it is killed; a child without a
// point is killed by others.
bool IsMemoryChild(int argc, char** argv);
int MemoryChildMain(char** argv);

}  // namespace rocktier
