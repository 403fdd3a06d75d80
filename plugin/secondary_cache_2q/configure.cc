// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TwoQSecondaryCache that takes its options.

#include <string>
#include <unordered_map>

#include "plugin/secondary_cache_2q/cache.h"
#include "plugin/secondary_cache_2q/options.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// If it fails, RocksDB has set all options back, and has tried to prepare those.
Status TwoQSecondaryCache::ConfigureOptions(
    const ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& options,
    std::unordered_map<std::string, std::string>* unused) {
  configures_ = true;
  Status s = SecondaryCache::ConfigureOptions(config_options, options, unused);
  configures_ = false;
  if (!s.ok()) {
    refused_ = s.ToString();
  }
  return s;
}

// ConfigureOption() prepares nothing: what it sets would be told, and not be so.
Status TwoQSecondaryCache::ParseOption(const ConfigOptions& config_options,
                                       const OptionTypeInfo& info, const std::string& name,
                                       const std::string& value, void* address) {
  const TwoQSecondaryCacheOptions before = options_;
  Status s = SecondaryCache::ParseOption(config_options, info, name, value, address);
  const bool is_made = open_ || !pass_through_.empty();
  if (s.ok() && is_made && !configures_) {
    s = PrepareOptions(config_options);
    if (!s.ok()) {
      options_ = before;
    }
  }
  return s;
}

Status TwoQSecondaryCache::PrepareOptions(const ConfigOptions& config_options) {
  Status s = Validate(options_);
  if (!s.ok()) {
    if (open_) {
      options_ = in_force_;
    }
    return s;
  }
  if (open_ || !pass_through_.empty()) {
    if (!SameButCapacity(options_, in_force_)) {
      const std::string changed = FirstChange(options_, in_force_);
      options_ = in_force_;
      return Status::InvalidArgument(
          "TwoQSecondaryCache: " + changed,
          "cannot be changed: only capacity can be changed after creation");
    }
    return open_ ? SetCapacity(options_.capacity) : Status::OK();
  }
  in_force_ = options_;
  shard_bits_ = ShardBits(options_);
  compression_ = CompressionOf(options_);
  capacity_ = options_.capacity;
  s = OpenStore();
  if (s.IsBusy()) {
    pass_through_ = s.ToString();
    s = Status::OK();
  }
  if (s.ok()) {
    s = SecondaryCache::PrepareOptions(config_options);
  }
  if (s.ok() && open_) {
    StartReporting();
  }
  return s;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
