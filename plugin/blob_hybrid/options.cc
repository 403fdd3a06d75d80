// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/options.h"

#include <cstddef>

#include "plugin/blob_hybrid/listener.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

namespace {

using Options = BlobHybridOptions;

constexpr double kMinSpaceAmplification = 1.1;

Status Invalid(const std::string& option, const std::string& reason) {
  return Status::InvalidArgument("BlobHybrid: " + option, reason);
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"gc_garbage_ratio", {offsetof(Options, gc_garbage_ratio), OptionType::kDouble}},
      {"max_space_amplification",
       {offsetof(Options, max_space_amplification), OptionType::kDouble}},
      {"space_floor", {offsetof(Options, space_floor), OptionType::kUInt64T}},
      {"gc_bytes_per_second", {offsetof(Options, gc_bytes_per_second), OptionType::kUInt64T}},
      {"readahead_size", {offsetof(Options, readahead_size), OptionType::kUInt64T}},
      {"user_filter_factory", OptionTypeInfo::AsCustomSharedPtr<CompactionFilterFactory>(
                                  offsetof(Options, user_filter_factory),
                                  OptionVerificationType::kByName, OptionTypeFlags::kAllowNull)},
  };
  return types;
}

Status Validate(const Options& options) {
  // Written so that NaN fails, too.
  if (!(options.gc_garbage_ratio > 0 && options.gc_garbage_ratio <= 1)) {
    return Invalid("gc_garbage_ratio=" + std::to_string(options.gc_garbage_ratio),
                   "must be above 0, and at most 1");
  }
  if (options.max_space_amplification != 0 &&
      !(options.max_space_amplification >= kMinSpaceAmplification)) {
    return Invalid("max_space_amplification=" + std::to_string(options.max_space_amplification),
                   "must be 0, or at least " + std::to_string(kMinSpaceAmplification));
  }
  if (options.user_filter != nullptr && options.user_filter_factory != nullptr) {
    return Invalid("user_filter and user_filter_factory", "only one of them can be given");
  }
  return Status::OK();
}

bool HasListener(const DBOptions& db) {
  for (const auto& listener : db.listeners) {
    if (listener != nullptr && listener->IsInstanceOf(BlobHybridListener::kClassName())) {
      return true;
    }
  }
  return false;
}

Status ValidateFamily(const DBOptions& db, const ColumnFamilyOptions& family) {
  if (!HasListener(db)) {
    return Invalid("listeners", "the line listeners={id=BlobHybridListener} is missing");
  }
  if (!family.enable_blob_files) {
    return Invalid("enable_blob_files", "the line enable_blob_files=true is missing");
  }
  if (family.enable_blob_garbage_collection) {
    return Invalid("enable_blob_garbage_collection",
                   "must be false: it would move live values by their age in addition");
  }
  if (family.compaction_filter != nullptr) {
    return Invalid("compaction_filter",
                   "would be used in the place of BlobHybrid: give it as user_filter");
  }
  if (family.compaction_style != kCompactionStyleLevel) {
    return Invalid("compaction_style", "only kCompactionStyleLevel is supported yet");
  }
  if (family.comparator != nullptr && family.comparator->timestamp_size() > 0) {
    return Invalid("comparator",
                   "has user-defined timestamps: RocksDB cannot read their keys from blob files");
  }
  return Status::OK();
}

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
