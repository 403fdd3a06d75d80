// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/options.h"

#include <cstddef>

#include "plugin/hot_promotion/slow.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

using Options = HotPromotionOptions;

constexpr uint64_t kMinBudget = 1 << 20;
constexpr uint64_t kMinPromotionCache = 64 << 10;

Status Invalid(const std::string& option, const std::string& reason) {
  return Status::InvalidArgument("HotPromotionTable: " + option, reason);
}

Status AtLeast(const char* option, uint64_t value, uint64_t minimum) {
  if (value >= minimum) {
    return Status::OK();
  }
  return Invalid(option + ("=" + std::to_string(value)),
                 "must be at least " + std::to_string(minimum) + " bytes");
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"path", {offsetof(Options, path), OptionType::kString}},
      {"budget", {offsetof(Options, budget), OptionType::kUInt64T}},
      {"slow", {offsetof(Options, slow), OptionType::kString}},
      {"promotion_cache", {offsetof(Options, promotion_cache), OptionType::kUInt64T}},
      {"slow_read_micros", {offsetof(Options, slow_read_micros), OptionType::kUInt64T}},
      {"retention", {offsetof(Options, retention), OptionType::kBoolean}},
      {"scan_records", {offsetof(Options, scan_records), OptionType::kUInt32T}},
      {"ralt_bytes", {offsetof(Options, ralt_bytes), OptionType::kUInt64T}},
      {"ralt_buffer_bytes", {offsetof(Options, ralt_buffer_bytes), OptionType::kUInt64T}},
      {"direct_io", {offsetof(Options, direct_io), OptionType::kBoolean}},
  };
  return types;
}

Status Validate(const Options& options) {
  if (options.path.empty()) {
    return Status::OK();
  }
  if (options.path[0] != '/') {
    return Invalid("path=" + options.path, "must be absolute");
  }
  Status s = AtLeast("budget", options.budget, kMinBudget);
  if (s.ok()) {
    s = AtLeast("promotion_cache", options.promotion_cache, kMinPromotionCache);
  }
  SlowFiles slow;
  return s.ok() ? SlowFiles::Parse(options.slow, &slow) : s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
