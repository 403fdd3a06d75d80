// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/metrics_reporter.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A database that is locked through a TieredFileSystem, with what keeps its SSTs in volatile tiers.
// Thread-safe.
class OpenDatabase : public Database {
 public:
  using Database::Database;

  // Returns null if there are no such tiers.
  RecoveryManager* recovery_manager() const { return manager_.get(); }
  // Called before the database is known to others.
  void SetRecoveryManager(std::unique_ptr<RecoveryManager> manager) {
    manager_ = std::move(manager);
  }

  // Called when reports of the database begin, and with null when they end: then none is being made
  // any more.
  void SetReporter(std::unique_ptr<MetricsReporter> reporter) { reporter_ = std::move(reporter); }
  // Seconds from one block of statistics in the LOG to the next: stats_dump_period_sec. 0: there is
  // one when the database is closed.
  std::atomic<uint64_t> log_period{600};  // RocksDB's default

  void OnPersisted(const std::string& base, uint64_t bytes) override {
    if (manager_ != nullptr) {
      manager_->DropTable(base);
      manager_->Persisted(bytes);
    }
  }

 private:
  std::unique_ptr<RecoveryManager> manager_;
  std::unique_ptr<MetricsReporter> reporter_;  // goes before what it reports of
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
