// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/options.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "plugin/hot_promotion/table/slow.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

using Options = HotPromotionOptions;

constexpr uint64_t kMostMetricsInterval = 24 * 60 * 60;  // seconds
constexpr char kMetricsEnd[] = ".prom";
constexpr uint64_t kMinBudget = 1 << 20;
constexpr uint64_t kMinPromotionCache = 64 << 10;
constexpr int kLeastOpenFiles = 20;  // RocksDB takes no less
constexpr uint64_t kOpenFilesShare = 4;

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
      {"metrics_interval", {offsetof(Options, metrics_interval), OptionType::kUInt64T}},
      {"metrics_file", {offsetof(Options, metrics_file), OptionType::kString}},
      {"store_open_files", {offsetof(Options, store_open_files), OptionType::kInt}},
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
  if (s.ok() && (options.store_open_files < 0 ||
                 (options.store_open_files > 0 && options.store_open_files < kLeastOpenFiles))) {
    s = Invalid("store_open_files=" + std::to_string(options.store_open_files),
                "must be 0 or at least " + std::to_string(kLeastOpenFiles));
  }
  if (s.ok() && options.metrics_interval > kMostMetricsInterval) {
    s = Invalid("metrics_interval=" + std::to_string(options.metrics_interval),
                "must be at most 86400 seconds");
  }
  const std::string& metrics = options.metrics_file;
  if (s.ok() && !metrics.empty() && (metrics[0] != '/' || !Slice(metrics).ends_with(kMetricsEnd))) {
    s = Invalid("metrics_file=" + metrics, "must be absolute, and end in .prom");
  }
  SlowFiles slow;
  return s.ok() ? SlowFiles::Parse(options.slow, &slow) : s;
}

Status ValidateChange(const Options& before, const Options& after) {
  const auto changed = [](const char* name) {
    return Invalid(name, "cannot be changed while the database is open");
  };
  if (before.path != after.path) {
    return changed("path");
  }
  if (before.budget != after.budget) {
    return changed("budget");
  }
  if (before.promotion_cache != after.promotion_cache) {
    return changed("promotion_cache");
  }
  if (before.ralt_bytes != after.ralt_bytes) {
    return changed("ralt_bytes");
  }
  if (before.ralt_buffer_bytes != after.ralt_buffer_bytes) {
    return changed("ralt_buffer_bytes");
  }
  if (before.metrics_interval != after.metrics_interval) {
    return changed("metrics_interval");
  }
  if (before.metrics_file != after.metrics_file) {
    return changed("metrics_file");
  }
  if (before.direct_io != after.direct_io) {
    return changed("direct_io");
  }
  return before.store_open_files == after.store_open_files ? Status::OK()
                                                           : changed("store_open_files");
}

int StoreOpenFiles(const Options& options, int max_open_files) {
  if (options.store_open_files > 0) {
    return options.store_open_files;
  }
  uint64_t files = max_open_files >= 0 ? max_open_files : std::numeric_limits<int>::max();
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    files = std::min<uint64_t>(files, limit.rlim_cur);
  }
  return std::max(kLeastOpenFiles, static_cast<int>(files / kOpenFilesShare));
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
