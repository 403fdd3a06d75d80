// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/properties.h"

#include <string>

#include "db/blob/blob_index.h"
#include "db/blob/blob_log_format.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

const char kMediumValuesProperty[] = "rocktier.medium_values";
const char kMediumBytesProperty[] = "rocktier.medium_bytes";

namespace {

// Of one SST. Used by one thread.
class ClassCounter : public InternalTblPropColl {
 public:
  ClassCounter(const ValueClasses& classes, bool flush, std::shared_ptr<Counters> counters)
      : classes_(classes), flush_(flush), counters_(std::move(counters)) {}

  const char* Name() const override { return "BlobHybridClassCounter"; }

  Status InternalAdd(const Slice& key, const Slice& value, uint64_t /*file_size*/) override {
    ParsedInternalKey parsed;
    Status s = ParseInternalKey(key, &parsed, /*log_err_key=*/false);
    if (!s.ok()) {
      return s;
    }
    if (parsed.type == kTypeBlobIndex) {
      return Count(parsed.user_key, value);
    }
    if (flush_ && parsed.type == kTypeValue && value.size() >= classes_.medium) {
      counters_->not_separated++;
    }
    return Status::OK();
  }

  void BlockAdd(uint64_t /*uncompressed*/, uint64_t /*fast*/, uint64_t /*slow*/) override {}

  Status Finish(UserCollectedProperties* properties) override {
    *properties = GetReadableProperties();
    return Status::OK();
  }

  UserCollectedProperties GetReadableProperties() const override {
    return {{kMediumValuesProperty, std::to_string(values_)},
            {kMediumBytesProperty, std::to_string(bytes_)}};
  }

 private:
  Status Count(const Slice& user_key, const Slice& reference) {
    BlobIndex index;
    const Status s = index.DecodeFrom(reference);
    if (s.ok() && !index.IsInlined() && index.size() < classes_.large) {
      values_++;
      bytes_ += index.size() + BlobLogRecord::CalculateAdjustmentForRecordHeader(user_key.size());
    }
    return s;
  }

  const ValueClasses classes_;
  const bool flush_;
  const std::shared_ptr<Counters> counters_;
  uint64_t values_ = 0;
  uint64_t bytes_ = 0;  // as blob files count them: with headers and keys
};

class ClassCounterFactory : public InternalTblPropCollFactory {
 public:
  ClassCounterFactory(const ValueClasses& classes, bool flush, std::shared_ptr<Counters> counters)
      : classes_(classes), flush_(flush), counters_(std::move(counters)) {}

  const char* Name() const override { return "BlobHybridClassCounterFactory"; }
  InternalTblPropColl* CreateInternalTblPropColl(
      uint32_t /*column_family*/, int /*level*/, int /*levels*/,
      SequenceNumber /*last_level_inclusive_max_seqno_threshold*/) override {
    return new ClassCounter(classes_, flush_, counters_);
  }

 private:
  const ValueClasses classes_;
  const bool flush_;
  const std::shared_ptr<Counters> counters_;
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

InternalTblPropCollFactories WithClassCounter(const InternalTblPropCollFactories* others,
                                              const ValueClasses& classes, bool flush,
                                              const std::shared_ptr<Counters>& counters) {
  InternalTblPropCollFactories factories;
  if (others != nullptr) {
    for (const auto& other : *others) {
      factories.push_back(std::make_unique<Borrowed>(other.get()));
    }
  }
  factories.push_back(std::make_unique<ClassCounterFactory>(classes, flush, counters));
  return factories;
}

uint64_t MediumBytesOf(const UserCollectedProperties& properties) {
  const auto it = properties.find(kMediumBytesProperty);
  if (it == properties.end()) {
    return 0;
  }
  Slice text(it->second);
  uint64_t bytes = 0;
  return ConsumeDecimalNumber(&text, &bytes) && text.empty() ? bytes : 0;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
