// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "plugin/hot_promotion/store/format.h"
#include "rocksdb/compaction_filter.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// How badly the hot store needs room, which evictions make. Other compactions drop dead records
// only: they take newly added records most often, and these must not be judged before others.
enum class Pressure : int {
  kNone,   // records of SSTs that are gone are dropped
  kCold,   // and those that have not answered a read of late and are not hot, or were retained
  kForced  // and a part of the others
};

// Callbacks that tell which records are worth their place. They must be thread-safe.
struct Judge {
  std::function<bool(const FileId&, FileEntry*)> alive;
  std::function<bool(uint64_t space, const Slice& user_key)> hot;
  // Whether the record answered a read since this was last asked; may be empty.
  std::function<bool(const Slice& key)> used;
  std::function<void(const Slice& key)> dropped;  // told of records that are; may be empty
};

struct Dropped {
  std::atomic<uint64_t> dead{0};
  std::atomic<uint64_t> cold{0};
  std::atomic<uint64_t> forced{0};
};

// Drops records of the hot store that are of no use when they are compacted.
class StoreFilterFactory : public CompactionFilterFactory {
 public:
  explicit StoreFilterFactory(const Judge& judge) : judge_(judge) {}

  const char* Name() const override { return "HotPromotionFilter"; }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override;

  void Set(Pressure pressure) { pressure_.store(pressure, std::memory_order_relaxed); }
  const Dropped& dropped() const { return dropped_; }

 private:
  friend class StoreFilter;

  const Judge judge_;
  std::atomic<Pressure> pressure_{Pressure::kNone};
  Dropped dropped_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
