// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/filter.h"

#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// One per compaction; not thread-safe.
class StoreFilter : public CompactionFilter {
 public:
  StoreFilter(StoreFilterFactory* factory, Pressure pressure)
      : factory_(factory), pressure_(pressure), random_(Random::GetTLSInstance()->Next()) {}

  const char* Name() const override { return "HotPromotionFilter"; }

  Decision FilterV2(int /*level*/, const Slice& key, ValueType /*type*/, const Slice& /*value*/,
                    std::string* /*new_value*/, std::string* /*skip_until*/) const override {
    if (Keep(key)) {
      return Decision::kKeep;
    }
    if (factory_->callbacks_.dropped && IsRecord(key)) {
      factory_->callbacks_.dropped(key);
    }
    return Decision::kRemove;
  }

 private:
  bool Keep(const Slice& key) const {
    StoreKey decoded;
    if (!DecodeKey(key, &decoded)) {
      return true;  // the format
    }
    if (!Alive(decoded.file)) {
      return Count(&factory_->dropped_.dead);
    }
    if (decoded.tag == Tag::kFile || pressure_ == Pressure::kNone) {
      return true;
    }
    switch (factory_->policy_->AtEviction(decoded.way == Way::kPromoted, entry_.space,
                                          decoded.user_key, HashOfKey(key),
                                          pressure_ == Pressure::kForced, &random_)) {
      case CopyPolicy::Fate::kCold:
        return Count(&factory_->dropped_.cold);
      case CopyPolicy::Fate::kForced:
        return Count(&factory_->dropped_.forced);
      default:
        return true;
    }
  }

  // Keys come in the order of their SSTs.
  bool Alive(const FileId& file) const {
    if (file != file_) {
      file_ = file;
      alive_ = factory_->callbacks_.alive(file, &entry_);
    }
    return alive_;
  }

  static bool Count(std::atomic<uint64_t>* counter) {
    counter->fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  StoreFilterFactory* const factory_;
  const Pressure pressure_;
  mutable Random random_;
  mutable FileId file_{};
  mutable FileEntry entry_;
  mutable bool alive_ = false;
};

std::unique_ptr<CompactionFilter> StoreFilterFactory::CreateCompactionFilter(
    const CompactionFilter::Context& /*context*/) {
  return std::make_unique<StoreFilter>(this, pressure_.load(std::memory_order_relaxed));
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
