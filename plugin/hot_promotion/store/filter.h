// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "plugin/hot_promotion/policy/copy_policy.h"
#include "plugin/hot_promotion/store/format.h"
#include "rocksdb/compaction_filter.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// Pressure: how badly the hot store needs room, which evictions make. Other compactions drop dead
// records only: they take newly added records most often, and these must not be judged before
// others.
enum class Pressure : int {
  kNone,   // records of SSTs that are gone are dropped
  kCold,   // and those that are not worth their place
  kForced  // and a part of the others
};

// StoreCallbacks: what the store asks its owner, and what it tells. Must be thread-safe.
struct StoreCallbacks {
  // Gives what is known of an SST; false if it is gone.
  std::function<bool(const FileId&, FileEntry*)> alive;
  // Tells of a record that was dropped; may be empty.
  std::function<void(const Slice& key)> dropped;
  // Tells of an SST that the store has records of when it is opened.
  std::function<void(const FileId&, const FileEntry&)> found;
};

// Counts of records that were dropped, and why.
struct Dropped {
  std::atomic<uint64_t> dead{0};
  std::atomic<uint64_t> cold{0};
  std::atomic<uint64_t> forced{0};
};

// Drops records of the hot store that are of no use when they are compacted: those of SSTs that are
// gone, and in evictions those that the policy says are not worth their place.
class StoreFilterFactory : public CompactionFilterFactory {
 public:
  // `policy` lives longer.
  StoreFilterFactory(CopyPolicy* policy, const StoreCallbacks& callbacks)
      : policy_(policy), callbacks_(callbacks) {}

  const char* Name() const override { return "HotPromotionFilter"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;

  void Set(Pressure pressure) { pressure_.store(pressure, std::memory_order_relaxed); }
  const Dropped& dropped() const { return dropped_; }

 private:
  friend class StoreFilter;

  CopyPolicy* const policy_;
  const StoreCallbacks callbacks_;
  std::atomic<Pressure> pressure_{Pressure::kNone};
  Dropped dropped_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
