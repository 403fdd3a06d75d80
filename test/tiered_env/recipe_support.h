// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A database in memory, its log and its SSTs, for tests of recipes.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugin/tiered_env/recipe/make.h"
#include "plugin/tiered_env/recipe/rebuild.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"

namespace rocktier {

namespace rocksdb = ROCKSDB_NAMESPACE;
namespace tiered = ROCKSDB_NAMESPACE::tiered_env;

struct LoggedEntry {
  rocksdb::SequenceNumber sequence = 0;
  rocksdb::SequenceNumber batch = 0;
  rocksdb::ValueType type = rocksdb::kTypeValue;
  std::string key;
  std::string value;

  tiered::Entry ToEntry() const;
};

// The entries of a log, cut into segments.
class FakeLog : public tiered::ReferenceSource, public tiered::EntrySource {
 public:
  void Add(LoggedEntry entry);
  // As if every other one had been written by WritePrepared: its `sequence` is another one, the SST
  // has `batch`.
  void NumberByBatch();

  // Of 1000 entries that are asked for, this many are offered.
  void Offer(uint32_t permille, uint64_t seed);

  bool Take(const tiered::Entry& entry, tiered::Reference* reference) override;
  bool Get(const tiered::Reference& reference, tiered::Entry* entry) override;

  size_t size() const { return entries_.size(); }
  LoggedEntry* At(const tiered::Reference& reference) { return &entries_[IndexOf(reference)]; }
  // Since Offer().
  const std::vector<tiered::Reference>& taken() const { return taken_; }
  void Lose(const tiered::Reference& reference) { lost_[IndexOf(reference)] = true; }
  void Reset() { lost_.clear(); }

 private:
  static constexpr size_t kPerSegment = 700;
  static uint64_t SegmentOf(size_t index);
  static size_t IndexOf(const tiered::Reference& reference);

  std::vector<LoggedEntry> entries_;
  std::multimap<std::pair<rocksdb::SequenceNumber, uint64_t>, size_t> by_fingerprint_;
  std::vector<tiered::Reference> taken_;
  std::map<size_t, bool> lost_;
  uint32_t permille_ = 1000;
  std::mt19937_64 random_;
};

struct Sst {
  std::string bytes;
  std::shared_ptr<const rocksdb::TableProperties> properties;
};

class MemoryDb {
 public:
  MemoryDb() : env_(rocksdb::NewMemEnv(rocksdb::Env::Default())) {}
  ~MemoryDb();

  rocksdb::Options BaseOptions() const;
  rocksdb::Status Open(const rocksdb::Options& options);
  rocksdb::DB* db() const { return db_.get(); }
  rocksdb::Env* env() const { return env_.get(); }

  // What has been written since the database was opened; call it before Flush().
  void ReadLog(FakeLog* log) const;
  std::vector<Sst> ReadSsts() const;

 private:
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
};

// Rebuilds `recipe` in a buffer of exactly its size.
rocksdb::Status RebuildTo(const std::string& recipe, tiered::EntrySource* entries,
                          std::string* result);

}  // namespace rocktier
