// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/collector.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

const char kHotKeysProperty[] = "rocktier.hot_keys";
const char kHotBytesProperty[] = "rocktier.hot_bytes";

void Harvest::Add(const Slice& internal_key, const Slice& value) {
  ParsedInternalKey key;
  if (!ParseInternalKey(internal_key, &key, /*log_err_key=*/false).ok() ||
      key.type == kTypeRangeDeletion) {
    range_deletions_ = true;  // nothing is published
    return;
  }
  if (!IsFirst(key.user_key) || key.type != kTypeValue ||
      !engine_->ralt()->IsHot(space_, key.user_key)) {
    return;
  }
  const uint64_t bytes = key.user_key.size() + value.size();
  hot_keys_++;
  hot_bytes_ += bytes;
  if (!keep_) {
    return;
  }
  if (bytes > engine_->max_record() || kept_bytes_ + bytes > max_bytes_) {
    engine_->counters()->Add(Counter::lost);
    return;
  }
  kept_bytes_ += bytes;
  records_.push_back({key.user_key.ToString(), value.ToString()});
}

bool Harvest::IsFirst(const Slice& user_key) {
  if (any_ && comparator_->Equal(user_key, last_user_key_)) {
    return false;
  }
  any_ = true;
  last_user_key_.assign(user_key.data(), user_key.size());
  return true;
}

void Harvest::Publish(const FileId& file) {
  if (range_deletions_ || records_.empty()) {
    return;
  }
  // The store's order is of bytes, whatever the database's is.
  std::sort(records_.begin(), records_.end(),
            [](const Record& a, const Record& b) { return a.user_key < b.user_key; });
  std::vector<std::string> keys;
  keys.reserve(records_.size());
  std::vector<Store::Record> records;
  for (const Record& record : records_) {
    keys.push_back(EncodeRecordKey(Way::kRetained, file, record.user_key));
    records.push_back({keys.back(), record.value});
  }
  engine_->Retain(file, records);
}

namespace {

class Collector : public InternalTblPropColl {
 public:
  explicit Collector(const std::shared_ptr<Harvest>& harvest) : harvest_(harvest) {}

  const char* Name() const override { return "HotPromotionCollector"; }
  Status InternalAdd(const Slice& key, const Slice& value, uint64_t /*file_size*/) override {
    harvest_->Add(key, value);
    return Status::OK();
  }
  void BlockAdd(uint64_t /*uncompressed*/, uint64_t /*fast*/, uint64_t /*slow*/) override {}
  Status Finish(UserCollectedProperties* properties) override {
    *properties = GetReadableProperties();
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override {
    return {{kHotKeysProperty, std::to_string(harvest_->hot_keys())},
            {kHotBytesProperty, std::to_string(harvest_->hot_bytes())}};
  }

 private:
  const std::shared_ptr<Harvest> harvest_;
};

class CollectorFactory : public InternalTblPropCollFactory {
 public:
  explicit CollectorFactory(const std::shared_ptr<Harvest>& harvest) : harvest_(harvest) {}

  const char* Name() const override { return "HotPromotionCollectorFactory"; }
  InternalTblPropColl* CreateInternalTblPropColl(
      uint32_t /*column_family*/, int /*level*/, int /*levels*/,
      SequenceNumber /*last_level_inclusive_max_seqno_threshold*/) override {
    return new Collector(harvest_);
  }

 private:
  const std::shared_ptr<Harvest> harvest_;
};

// A factory that belongs to another list.
class Borrowed : public InternalTblPropCollFactory {
 public:
  explicit Borrowed(InternalTblPropCollFactory* target) : target_(target) {}

  const char* Name() const override { return target_->Name(); }
  InternalTblPropColl* CreateInternalTblPropColl(uint32_t column_family, int level, int levels,
                                                 SequenceNumber threshold) override {
    return target_->CreateInternalTblPropColl(column_family, level, levels, threshold);
  }

 private:
  InternalTblPropCollFactory* const target_;
};

}  // namespace

InternalTblPropCollFactories WithHarvest(const InternalTblPropCollFactories* others,
                                         const std::shared_ptr<Harvest>& harvest) {
  InternalTblPropCollFactories factories;
  if (others != nullptr) {
    for (const auto& other : *others) {
      factories.push_back(std::make_unique<Borrowed>(other.get()));
    }
  }
  factories.push_back(std::make_unique<CollectorFactory>(harvest));
  return factories;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
