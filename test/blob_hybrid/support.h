// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "test/support/open_db.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

using rocktier::Seed;

std::string KeyOf(int i);
// Values of different versions differ. At least 40 bytes.
std::string ValueOf(int i, int version, size_t bytes = 1000);

// Tells whether compactions had several subcompactions. Thread-safe.
class SubcompactionCounter : public EventListener {
 public:
  void OnSubcompactionBegin(const SubcompactionJobInfo& info) override;
  // Of one compaction.
  int most();

 private:
  std::mutex mutex_;
  std::map<int, int> counts_;  // by job
};

// FlushPatience: while it lives, flushes wait so long for a job that frees nothing. One that frees
// something takes longer than FlushGate waits otherwise where each sync takes a second. Without
// sync points it does nothing.
class FlushPatience {
 public:
  explicit FlushPatience(std::chrono::seconds patience);
  ~FlushPatience();
  FlushPatience(const FlushPatience&) = delete;
  FlushPatience& operator=(const FlushPatience&) = delete;
};

// A database with blob files and BlobHybrid, which is removed with it. Values from 200 bytes on are
// large.
class HybridDb : public testing::Test {
 protected:
  HybridDb();
  ~HybridDb() override;

  // Values from 200 bytes on are medium then, and large from 4000 bytes on.
  void UseMedium();
  // RocksDB does not compact by itself.
  void LeaveToTheJob();
  // With options_ and hybrid_ as they are.
  void Open();
  // As any RocksDB would.
  void OpenWithoutPlugin();
  Status TryOpen();
  void Close() { db_.reset(); }

  void Put(int i, int version, size_t bytes = 1000) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), ValueOf(i, version, bytes)));
  }
  void Fill(int from, int to, int version, int step = 1);
  void Flush() { ASSERT_OK(db_->Flush(FlushOptions())); }
  // All of it, the last level included, and nothing twice.
  void Compact();
  std::string Get(const Slice& key, const ReadOptions& options = ReadOptions());
  std::string Get(int i) { return Get(KeyOf(i)); }
  std::set<uint64_t> BlobFiles();
  BlobHybridStats Stats();

  const std::string root_;
  const std::string path_;  // of the database
  Options options_;         // without the plugin
  BlobHybridOptions hybrid_;
  std::unique_ptr<DB> db_;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
