// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/table/hot_record_collector.h"

#include <algorithm>
#include <cstring>

#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

const char kHotKeysProperty[] = "rocktier.hot_keys";
const char kHotBytesProperty[] = "rocktier.hot_bytes";

namespace {

// Most bytes for a kept record besides itself: its pointer, while the array of pointers grows.
constexpr uint64_t kOverhead = 3 * sizeof(char*);

constexpr int kMaxLength = 5;  // of a varint32

// Takes a length and the bytes that follow it.
Slice TakeSlice(const char** input) {
  uint32_t size = 0;
  const char* const begin = GetVarint32Ptr(*input, *input + kMaxLength, &size);
  *input = begin + size;
  return Slice(begin, size);
}

}  // namespace

void HotRecordCollector::Add(const Slice& internal_key, const Slice& value) {
  ParsedInternalKey key;
  if (!ParseInternalKey(internal_key, &key, /*log_err_key=*/false).ok() ||
      key.type == kTypeRangeDeletion) {
    range_deletions_ = true;  // nothing is published
    return;
  }
  if (!IsFirst(key.user_key) || key.type != kTypeValue ||
      !engine_->policy().IsHot(space_, key.user_key)) {
    return;
  }
  const uint64_t bytes = key.user_key.size() + value.size();
  hot_keys_++;
  hot_bytes_ += bytes;
  if (!keep_) {
    return;
  }
  const size_t size = VarintLength(key.user_key.size()) + VarintLength(value.size()) + bytes;
  if (!engine_->policy().Fits(bytes) || kept_bytes_ + size + kOverhead > max_bytes_) {
    engine_->counters()->Add(Counter::lost);
    return;
  }
  kept_bytes_ += size + kOverhead;
  char* const record = arena_.Allocate(size);
  char* end = EncodeVarint32(record, static_cast<uint32_t>(key.user_key.size()));
  memcpy(end, key.user_key.data(), key.user_key.size());
  end = EncodeVarint32(end + key.user_key.size(), static_cast<uint32_t>(value.size()));
  memcpy(end, value.data(), value.size());
  records_.push_back(record);
}

bool HotRecordCollector::IsFirst(const Slice& user_key) {
  if (any_ && comparator_->Equal(user_key, last_user_key_)) {
    return false;
  }
  any_ = true;
  last_user_key_.assign(user_key.data(), user_key.size());
  return true;
}

void HotRecordCollector::Publish(const FileId& file) {
  if (range_deletions_ || records_.empty()) {
    return;
  }
  // The store's order is of bytes, whatever the database's is.
  if (comparator_ != BytewiseComparator()) {
    std::sort(records_.begin(), records_.end(), [](const char* a, const char* b) {
      return TakeSlice(&a).compare(TakeSlice(&b)) < 0;
    });
  }
  size_t position = 0;
  engine_->Retain(file, [&](Slice* user_key, Slice* value) {
    if (position == records_.size()) {
      return false;
    }
    const char* record = records_[position++];
    *user_key = TakeSlice(&record);
    *value = TakeSlice(&record);
    return true;
  });
}

namespace {

class Collector : public InternalTblPropColl {
 public:
  explicit Collector(const std::shared_ptr<HotRecordCollector>& hot_records)
      : hot_records_(hot_records) {}

  const char* Name() const override { return "HotPromotionCollector"; }
  Status InternalAdd(const Slice& key, const Slice& value, uint64_t /*file_size*/) override {
    hot_records_->Add(key, value);
    return Status::OK();
  }
  void BlockAdd(uint64_t /*uncompressed*/, uint64_t /*fast*/, uint64_t /*slow*/) override {}
  Status Finish(UserCollectedProperties* properties) override {
    *properties = GetReadableProperties();
    return Status::OK();
  }
  UserCollectedProperties GetReadableProperties() const override {
    return {{kHotKeysProperty, std::to_string(hot_records_->hot_keys())},
            {kHotBytesProperty, std::to_string(hot_records_->hot_bytes())}};
  }

 private:
  const std::shared_ptr<HotRecordCollector> hot_records_;
};

class CollectorFactory : public InternalTblPropCollFactory {
 public:
  explicit CollectorFactory(const std::shared_ptr<HotRecordCollector>& hot_records)
      : hot_records_(hot_records) {}

  const char* Name() const override { return "HotPromotionCollectorFactory"; }
  InternalTblPropColl* CreateInternalTblPropColl(
      uint32_t /*column_family*/, int /*level*/, int /*levels*/,
      SequenceNumber /*last_level_inclusive_max_seqno_threshold*/) override {
    return new Collector(hot_records_);
  }

 private:
  const std::shared_ptr<HotRecordCollector> hot_records_;
};

// Borrowed: a factory that belongs to another list.
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

InternalTblPropCollFactories WithHotRecordCollector(
    const InternalTblPropCollFactories* others,
    const std::shared_ptr<HotRecordCollector>& hot_records) {
  InternalTblPropCollFactories factories;
  if (others != nullptr) {
    for (const auto& other : *others) {
      factories.push_back(std::make_unique<Borrowed>(other.get()));
    }
  }
  factories.push_back(std::make_unique<CollectorFactory>(hot_records));
  return factories;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
