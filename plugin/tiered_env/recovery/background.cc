// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RecoveryManager that works in the background, trims logs and keeps their budget; and
// its statistics.

#include <algorithm>
#include <chrono>
#include <utility>

#include "logging/logging.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/thread.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/stats.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr auto kWarnEvery = std::chrono::minutes(1);
constexpr auto kPeriod = std::chrono::milliseconds(200);
constexpr uint64_t kSmall = 4 << 20;  // bytes of retained logs that are not worth trimming
constexpr double kMostLeft = 0.9;     // share of bytes, of a log that is worth trimming

}  // namespace

void RecoveryManager::Start() {
  std::lock_guard<std::mutex> lock(mutex_);
  started_ = true;
  StartThreadIfNone();
}

// What it would do can wait.
void RecoveryManager::StartThreadIfNone() {
  if (started_ && !stop_.load() && !thread_.joinable() &&
      !StartThread([this] { Run(); }, &thread_)) {
    ROCKS_LOG_WARN(names_->InfoLog(database_->directory()),
                   "tiered_env: no thread can be had: until one can, retained logs are neither "
                   "trimmed nor deleted, and wal_budget does not hold");
  }
}

void RecoveryManager::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stop_.store(true);
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void RecoveryManager::DeleteLater(const std::string& path) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    StartThreadIfNone();
    if (thread_.joinable() && !stop_.load()) {
      to_delete_.push_back(path);
      return;
    }
  }
  DeleteLogs({path});
}

// Through all of the FileSystem, which has the log kept if recipes need it.
void RecoveryManager::DeleteLogs(const std::vector<std::string>& paths) const {
  for (const std::string& path : paths) {
    names_->shown()->DeleteFile(path, IOOptions(), nullptr).PermitUncheckedError();
  }
}

void RecoveryManager::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_.load()) {
    changed_.wait_for(lock, kPeriod);
    const std::vector<std::string> to_delete = std::move(to_delete_);
    to_delete_.clear();
    lock.unlock();
    DeleteLogs(to_delete);
    const auto now = std::chrono::steady_clock::now();
    {
      std::lock_guard<std::mutex> retained_lock(retained_mutex_);
      logs_.Sweep(&recipe_log_);
      Trim();
      CompactRecipes(now);
    }
    CheckBudget();
    PersistDamaged(now);
    lock.lock();
  }
  const std::vector<std::string> to_delete = std::move(to_delete_);
  lock.unlock();
  DeleteLogs(to_delete);
}

// What cannot be written now uses up space each time that it is tried.
void RecoveryManager::CompactRecipes(std::chrono::steady_clock::time_point now) {
  if (now < compact_from_) {
    return;
  }
  IOStatus s = recipe_log_.Compact();
  if (s.ok()) {
    compact_pause_ = kLeastPause;
    return;
  }
  ROCKS_LOG_WARN(names_->InfoLog(database_->directory()),
                 "tiered_env: cannot write the recipe log anew, the next try is in %lld s: %s",
                 static_cast<long long>(compact_pause_.count()), s.ToString().c_str());
  compact_from_ = std::chrono::steady_clock::now() + compact_pause_;
  compact_pause_ = std::min(2 * compact_pause_, kMostPause);
}

double RecoveryManager::Amplification(const WalSegments::Sizes& sizes) const {
  VolatileStats stats;
  stats.bytes = database_->VolatileBytes();
  stats.retained_bytes = sizes.retained_bytes;
  stats.needed_bytes = sizes.needed_bytes;
  return stats.wal_amplification();
}

// Nothing depends on it: what a crash leaves of it has a wrong checksum.
void RecoveryManager::WriteStatistics() const {
  VolatileStats stats;
  AddStats(&stats);
  const std::string path = database_->directory() + "/" + kStatisticsName;
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = names_->target()->NewWritableFile(path + kTemporary, FileOptions(), &file, nullptr);
  if (s.ok()) {
    s = file->Append(EncodeStatistics(stats), IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = file->Close(IOOptions(), nullptr);
  }
  if (s.ok()) {
    s = names_->target()->RenameFile(path + kTemporary, path, IOOptions(), nullptr);
  }
  s.PermitUncheckedError();  // tools show none then
}

void RecoveryManager::Trim() {
  bool trimming = false;
  uint64_t small = kSmall;
  TEST_SYNC_POINT_CALLBACK("RecoveryManager::Trim:Small", &small);
  while (!stop_.load(std::memory_order_relaxed)) {
    const WalSegments::Sizes sizes = logs_.GetSizes();
    const double amplification = Amplification(sizes);
    trimming =
        sizes.retained_bytes > small && amplification > (trimming ? options_.low : options_.high);
    const bool compress = options_.compression != kNoCompression;
    WalSegments::Trimmed trimmed;
    // What would hardly become smaller is not worth it: so each byte that trimming saves costs nine
    // that are written, 24 if sizes are as far off as they can be.
    IOStatus s = logs_.Trim(trimming ? kMostLeft : 0, compress, options_.compression,
                            limiter_.get(), stop_, &trimmed);
    if (s.IsCorruption()) {
      NoteDamaged(s);
      continue;
    }
    if (!s.ok() && !s.IsAborted()) {
      WarnOfTrim(s);
      return;
    }
    if (trimmed.before == 0) {
      return;
    }
    trims_.fetch_add(1, std::memory_order_relaxed);
    trimmed_bytes_.fetch_add(trimmed.before - std::min(trimmed.before, trimmed.after),
                             std::memory_order_relaxed);
    archived_bytes_.fetch_add(trimmed.after, std::memory_order_relaxed);
  }
}

// Warns once a minute: it is tried again soon.
void RecoveryManager::WarnOfTrim(const IOStatus& reason) {
  const auto now = std::chrono::steady_clock::now();
  if (trim_warned_ == std::chrono::steady_clock::time_point() || now - trim_warned_ >= kWarnEvery) {
    trim_warned_ = now;
    ROCKS_LOG_WARN(names_->InfoLog(database_->directory()), "tiered_env: cannot trim a log: %s",
                   reason.ToString().c_str());
  }
}

void RecoveryManager::CheckBudget() {
  if (options_.wal_budget == 0) {
    return;
  }
  const WalSegments::Sizes sizes = logs_.GetSizes();
  const bool full = sizes.retained_bytes + sizes.needed_bytes > options_.wal_budget;
  if (full && !full_.load()) {
    ROCKS_LOG_WARN(
        names_->InfoLog(database_->directory()),
        "tiered_env: logs that are retained have reached wal_budget: SSTs are brought from "
        "volatile tiers to others");
  }
  full_.store(full);
  if (full) {
    database_->PersistOldest();
    const std::shared_ptr<Database> database = database_->weak_from_this().lock();
    if (database != nullptr) {
      notify_mover_(database);
    }
  }
}

void RecoveryManager::AddStats(VolatileStats* stats) const {
  const WalSegments::Sizes sizes = logs_.GetSizes();
  stats->bytes += database_->VolatileBytes();
  stats->recipes += recipe_log_.recipes();
  stats->recipe_bytes += recipe_log_.live_bytes();
  stats->recipe_log_bytes += recipe_log_.bytes();
  stats->recipe_log_written_bytes += recipe_log_.written_bytes();
  stats->segments += sizes.segments;
  stats->retained_bytes += sizes.retained_bytes;
  stats->needed_bytes += sizes.needed_bytes;
  stats->index_bytes += sizes.memory_bytes;
  stats->live_entries += sizes.live_entries;
  stats->live_bytes += sizes.live_bytes;
#define ADD(name) stats->name += name##_.load(std::memory_order_relaxed)
  ADD(tables);
  ADD(table_bytes);
  ADD(entries);
  ADD(references);
  ADD(literal_bytes);
  ADD(trims);
  ADD(trimmed_bytes);
  ADD(archived_bytes);
  ADD(persisted_bytes);
  ADD(damaged_logs);
  ADD(barriers);
  ADD(rebuilt_files);
  ADD(rebuilt_bytes);
  ADD(recovery_micros);
#undef ADD
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
