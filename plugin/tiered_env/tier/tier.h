// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/file_system.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What a directory has of what its tier has, for its share: who has least is next. Only what came
// and went since the first look counts. Thread-safe.
class Turn {
 public:
  // Counts what has come or gone since the last call, each byte `weight` times. `used`: bytes that
  // are there now.
  void Count(uint64_t used, double weight) {
    std::lock_guard<std::mutex> lock(mutex_);
    const double before = static_cast<double>(used_.value_or(used));
    has_ += (static_cast<double>(used) - before) * weight;
    used_ = used;
  }
  // Counts bytes that may come.
  void Give(double bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    has_ += bytes;
  }
  // Counts so many at least.
  void SkipTo(double bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    has_ = std::max(has_, bytes);
  }
  double has() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return has_;
  }

 private:
  mutable std::mutex mutex_;
  double has_ = 0;                // bytes, by their weight
  std::optional<uint64_t> used_;  // bytes
};

// A tier at work: where its files are, and how much of it is used. Thread-safe.
class Tier {
 public:
  // `first`: index of the tier's first directory, if this is one of several.
  Tier(TierOptions options, int index, int first, std::shared_ptr<FileSystem> fs)
      : options_(std::move(options)), index_(index), first_(first), fs_(std::move(fs)) {}

  const TierOptions& options() const { return options_; }
  const std::string& name() const { return options_.name; }
  // Names the tier in messages.
  std::string ToString() const {
    return is_home() ? "the database directory" : "tier " + name() + " (" + options_.path + ")";
  }
  int index() const { return index_; }
  int first() const { return first_; }
  // Whether both are directories of one tier.
  bool IsOneWith(const Tier& other) const { return first_ == other.first_; }
  FileSystem* fs() const { return fs_.get(); }
  bool is_home() const { return options_.path.empty(); }
  // What is in it may be gone at the next start.
  bool is_volatile() const { return options_.kind == TierKind::kMemory; }

  // Takes bytes of the budget; false if there are not so many.
  // `left`: bytes that must be left.
  bool Reserve(uint64_t bytes, uint64_t left = 0) {
    uint64_t before = used_.load(std::memory_order_relaxed);
    do {
      if (options_.budget != 0 && before + bytes + left > options_.budget) {
        return false;
      }
    } while (!used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return true;
  }
  bool HasRoom(uint64_t bytes) const {
    return options_.budget == 0 || used() + bytes <= options_.budget;
  }
  // Takes bytes that are used already, whatever the budget.
  void Take(uint64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void Release(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  // The same, of deleted files that are open: they take up room, but nothing is gained by moving
  // others.
  void Hold(uint64_t bytes) {
    held_.fetch_add(bytes, std::memory_order_relaxed);
    Take(bytes);
  }
  void LetGo(uint64_t bytes) {
    Release(bytes);
    held_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  uint64_t used_by_files() const {
    const uint64_t held_now = held();
    const uint64_t all = used();
    return all - std::min(all, held_now);
  }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

  // Files that are being written there (Writing).
  int writers() const { return writers_.load(std::memory_order_relaxed); }
  // Whose turn it is among the directories of a tier (Directories): for files that take of its
  // budget, and for others.
  Turn* turn(bool budgeted) { return budgeted ? &turn_ : &turn_of_others_; }

  // Whether new files may be put there: not if it is read-only, nor for a while after a failure;
  // unless it is home, the last resort.
  bool usable() const { return is_home() || (!read_only() && !failed_lately()); }
  // Whether a failure was a while ago at most, also at home.
  bool failed_lately() const { return Now() < usable_from_.load(std::memory_order_relaxed); }
  bool read_only() const { return read_only_.load(std::memory_order_relaxed); }
  // Returns false if that was known.
  bool SetReadOnly(bool read_only) {
    return read_only_.exchange(read_only, std::memory_order_relaxed) != read_only;
  }
  // Returns false if that was known.
  bool Failed() {
    errors.fetch_add(1, std::memory_order_relaxed);
    const bool known = !usable();
    int64_t pause = kPauseSeconds;
    TEST_SYNC_POINT_CALLBACK("Tier::Failed:Pause", &pause);
    usable_from_.store(Now() + pause, std::memory_order_relaxed);
    return !known;
  }

  // Statistics:
  std::atomic<uint64_t> reads{0};
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> written_bytes{0};
  std::atomic<uint64_t> spills{0};  // files that belonged here and found no room
  std::atomic<uint64_t> moves{0};   // files that were moved here
  std::atomic<uint64_t> moved_bytes{0};
  std::atomic<uint64_t> errors{0};

 private:
  friend class Writing;

  static constexpr int64_t kPauseSeconds = 60;

  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  const TierOptions options_;
  const int index_;
  const int first_;
  const std::shared_ptr<FileSystem> fs_;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> held_{0};  // of these
  std::atomic<int> writers_{0};
  Turn turn_;
  Turn turn_of_others_;
  std::atomic<int64_t> usable_from_{INT64_MIN};
  std::atomic<bool> read_only_{false};
};

// Counts a file that is being written in a tier, as long as it lives.
class Writing {
 public:
  Writing() = default;
  explicit Writing(Tier* tier) : tier_(tier) { Count(1); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  Writing& operator=(Writing&& other) noexcept {
    std::swap(tier_, other.tier_);
    return *this;
  }
  ~Writing() { Count(-1); }

 private:
  void Count(int difference) {
    if (tier_ != nullptr) {
      tier_->writers_.fetch_add(difference, std::memory_order_relaxed);
    }
  }

  Tier* tier_ = nullptr;
};

// Bytes of a volatile tier's budget that must be left when there is something for a level: what
// finds no room there goes to a durable tier, and what was flushed shall not.
inline uint64_t LeftFor(int level, const Tier& tier) {
  return tier.is_volatile() && level > 0 ? tier.options().budget / 8 : 0;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
