// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/properties.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "db/blob/blob_index.h"
#include "db/blob/blob_log_format.h"
#include "plugin/blob_hybrid/subcompaction.h"
#include "util/string_util.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

const char kMediumValuesProperty[] = "rocktier.medium_values";
const char kMediumBytesProperty[] = "rocktier.medium_bytes";
const char kReferencesProperty[] = "rocktier.references";
const char kSketchProperty[] = "rocktier.sketch";
const char kEntitiesProperty[] = "rocktier.entities";

namespace {

// "number:bytes" each, separated by commas.
std::string ToString(const References& references) {
  std::string text;
  for (const auto& [number, bytes] : references) {
    text += (text.empty() ? "" : ",") + std::to_string(number) + ":" + std::to_string(bytes);
  }
  return text;
}

References Sorted(const std::unordered_map<uint64_t, uint64_t>& bytes_by_file) {
  References references(bytes_by_file.begin(), bytes_by_file.end());
  std::sort(references.begin(), references.end());
  return references;
}

bool Skip(char c, Slice* text) {
  const bool there = text->starts_with(Slice(&c, 1));
  text->remove_prefix(there ? 1 : 0);
  return there;
}

// Counts the references of one SST. Used by one thread.
class ClassCounter : public InternalTblPropColl {
 public:
  ClassCounter(uint64_t large, uint64_t separated, std::shared_ptr<Counters> counters)
      : large_(large), separated_(separated), counters_(std::move(counters)) {}

  const char* Name() const override { return "BlobHybridClassCounter"; }

  Status InternalAdd(const Slice& key, const Slice& value, uint64_t /*file_size*/) override {
    ParsedInternalKey parsed;
    Status s = ParseInternalKey(key, &parsed, /*log_err_key=*/false);
    if (!s.ok()) {
      return s;
    }
    if (parsed.type == kTypeBlobIndex) {
      return Count(parsed, value);
    }
    // RocksDB 11 has large columns of these in blob files.
    entities_ += parsed.type == kTypeWideColumnEntity ? 1 : 0;
    if (parsed.type != kTypeRangeDeletion) {
      sketch_.Add(parsed.user_key, 0, parsed.user_key.size() + value.size(),
                  parsed.type == kTypeDeletion || parsed.type == kTypeSingleDeletion);
    }
    if (separated_ > 0 && parsed.type == kTypeValue && value.size() >= separated_) {
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
    UserCollectedProperties properties{{kMediumValuesProperty, std::to_string(values_)},
                                       {kMediumBytesProperty, std::to_string(bytes_)},
                                       {kSketchProperty, sketch_.Finish()}};
    // One that refers to most of a large family's blob files tells little by it, and each open
    // table keeps its properties in memory.
    if (references_.size() <= kMostReferences) {
      properties[kReferencesProperty] = ToString(Sorted(references_));
    }
    if (entities_ > 0) {
      properties[kEntitiesProperty] = std::to_string(entities_);
    }
    return properties;
  }

 private:
  Status Count(const ParsedInternalKey& key, const Slice& reference) {
    const Slice& user_key = key.user_key;
    BlobIndex index;
    const Status s = index.DecodeFrom(reference);
    if (s.ok() && !index.IsInlined()) {
      const uint64_t bytes =
          index.size() + BlobLogRecord::CalculateAdjustmentForRecordHeader(user_key.size());
      references_[index.file_number()] += bytes;
      sketch_.Add(user_key, bytes, user_key.size() + reference.size(), /*deletion=*/false);
      // Without the second condition such values would be taken for a log for ever: no merge gets
      // rid of them.
      if (index.size() < large_ && !IsNotedLarge(user_key, key.sequence)) {
        values_++;
        bytes_ += bytes;
      }
    }
    return s;
  }

  const uint64_t large_;
  const uint64_t separated_;
  const std::shared_ptr<Counters> counters_;
  uint64_t values_ = 0;
  uint64_t bytes_ = 0;  // as blob files count them: with headers and keys
  uint64_t entities_ = 0;
  std::unordered_map<uint64_t, uint64_t> references_;
  SketchBuilder sketch_;
};

class ClassCounterFactory : public InternalTblPropCollFactory {
 public:
  ClassCounterFactory(uint64_t large, uint64_t separated, std::shared_ptr<Counters> counters)
      : large_(large), separated_(separated), counters_(std::move(counters)) {}

  const char* Name() const override { return "BlobHybridClassCounterFactory"; }
  InternalTblPropColl* CreateInternalTblPropColl(
      uint32_t /*column_family*/, int /*level*/, int /*levels*/,
      SequenceNumber /*last_level_inclusive_max_seqno_threshold*/) override {
    return new ClassCounter(large_, separated_, counters_);
  }

 private:
  const uint64_t large_;
  const uint64_t separated_;
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
                                              uint64_t large, uint64_t separated,
                                              const std::shared_ptr<Counters>& counters) {
  InternalTblPropCollFactories factories;
  if (others != nullptr) {
    for (const auto& other : *others) {
      factories.push_back(std::make_unique<Borrowed>(other.get()));
    }
  }
  factories.push_back(std::make_unique<ClassCounterFactory>(large, separated, counters));
  return factories;
}

namespace {

// Reads a number. 0 if it is not there, or no number that counts bytes or entries of a file.
uint64_t NumberOf(const UserCollectedProperties& properties, const char* name) {
  const auto it = properties.find(name);
  if (it == properties.end()) {
    return 0;
  }
  Slice text(it->second);
  uint64_t number = 0;
  return ConsumeDecimalNumber(&text, &number) && text.empty() && number <= kMostBytes ? number : 0;
}

}  // namespace

uint64_t MediumBytesOf(const UserCollectedProperties& properties) {
  return NumberOf(properties, kMediumBytesProperty);
}

bool SaysAll(const UserCollectedProperties& properties) {
  return properties.count(kReferencesProperty) > 0 && properties.count(kEntitiesProperty) == 0;
}

SketchPtr SketchOf(const UserCollectedProperties& properties) {
  const auto it = properties.find(kSketchProperty);
  return it == properties.end() ? nullptr : DecodeSketch(it->second);
}

uint64_t BytesIn(const References& references, uint64_t blob) {
  const auto it =
      std::lower_bound(references.begin(), references.end(), std::make_pair(blob, uint64_t{0}));
  return it != references.end() && it->first == blob ? it->second : 0;
}

std::shared_ptr<const References> ReferencesOf(const UserCollectedProperties& properties) {
  const auto it = properties.find(kReferencesProperty);
  if (it == properties.end()) {
    return nullptr;
  }
  auto references = std::make_shared<References>();
  Slice text(it->second);
  while (!text.empty()) {
    uint64_t number = 0;
    uint64_t bytes = 0;
    if (references->size() == kMostReferences) {
      return nullptr;
    }
    if (!ConsumeDecimalNumber(&text, &number) || !Skip(':', &text) ||
        !ConsumeDecimalNumber(&text, &bytes) ||
        (!text.empty() && (!Skip(',', &text) || text.empty()))) {
      return nullptr;
    }
    if (bytes > kMostBytes || (!references->empty() && number <= references->back().first)) {
      return nullptr;
    }
    references->emplace_back(number, bytes);
  }
  references->shrink_to_fit();
  return references;
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
