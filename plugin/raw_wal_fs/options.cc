// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/options.h"

#include <algorithm>
#include <cstddef>

#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/convenience.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

using Options = RawWalOptions;

constexpr uint64_t kMostMetricsInterval = 24 * 60 * 60;  // seconds
constexpr uint64_t kMostFailoverLatency = 60 * 1000;     // milliseconds
constexpr uint64_t kMostFailbackAfter = 24 * 60 * 60;    // seconds
constexpr char kMetricsEnd[] = ".prom";

Status Invalid(const std::string& option, uint64_t value, const std::string& rule) {
  return Status::InvalidArgument("RawWalFileSystem: " + option + "=" + std::to_string(value), rule);
}

bool IsPowerOfTwo(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

// An option that has one of two values.
template <typename Enum>
struct Choice {
  Enum value;
  const char* name;
  Enum other;
  const char* other_name;
};

template <typename Enum>
OptionTypeInfo ChoiceInfo(size_t offset, const Choice<Enum>& choice) {
  OptionTypeInfo info(static_cast<int>(offset), OptionType::kEnum);
  info.SetParseFunc([choice](const ConfigOptions&, const std::string& name,
                             const std::string& value, void* address) {
    if (value != choice.name && value != choice.other_name) {
      return Status::InvalidArgument(
          "RawWalFileSystem: " + name + "=" + value,
          std::string("not one of: ") + choice.name + ", " + choice.other_name);
    }
    *static_cast<Enum*>(address) = value == choice.name ? choice.value : choice.other;
    return Status::OK();
  });
  info.SetSerializeFunc([choice](const ConfigOptions&, const std::string&, const void* address,
                                 std::string* value) {
    *value = *static_cast<const Enum*>(address) == choice.value ? choice.name : choice.other_name;
    return Status::OK();
  });
  info.SetEqualsFunc(
      [](const ConfigOptions&, const std::string&, const void* a, const void* b, std::string*) {
        return *static_cast<const Enum*>(a) == *static_cast<const Enum*>(b);
      });
  return info;
}

// Checks what only makes sense with a standby.
Status ValidateCopies(const Options& options) {
  const bool both = options.durable == Durable::kBoth;
  if (options.hedge && both) {
    return Status::InvalidArgument("RawWalFileSystem: hedge=true",
                                   "returns when one of the two has a write, and durable=both when "
                                   "both have it: leave one out");
  }
  if ((options.hedge || both) && options.standby.empty()) {
    const std::string option = both ? "durable=both" : "hedge=true";
    return Status::InvalidArgument("RawWalFileSystem: " + option,
                                   "needs a standby, a directory on another disk: standby=");
  }
  return Status::OK();
}

// Returns whether one of the tiers, "NAME={kind=memory;...};...", is in memory.
bool HasMemory(const std::string& tiers) {
  std::unordered_map<std::string, std::string> all;
  if (!StringToMap(tiers, &all).ok()) {
    return false;
  }
  return std::any_of(all.begin(), all.end(), [](const auto& tier) {
    std::unordered_map<std::string, std::string> options;
    return StringToMap(tier.second, &options).ok() && options["kind"] == "memory";
  });
}

}  // namespace

const std::unordered_map<std::string, OptionTypeInfo>& OptionTypes() {
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      {"device", {offsetof(Options, device), OptionType::kString}},
      {"size", {offsetof(Options, size), OptionType::kUInt64T}},
      {"segment_size", {offsetof(Options, segment_size), OptionType::kUInt64T}},
      {"block_size", {offsetof(Options, block_size), OptionType::kUInt32T}},
      {"on_full", ChoiceInfo<OnFull>(offsetof(Options, on_full),
                                     {OnFull::kFail, "fail", OnFull::kSpill, "spill"})},
      {"standby", {offsetof(Options, standby), OptionType::kString}},
      {"hedge", {offsetof(Options, hedge), OptionType::kBoolean}},
      {"durable", ChoiceInfo<Durable>(offsetof(Options, durable),
                                      {Durable::kBoth, "both", Durable::kOne, "one"})},
      {"failover_latency", {offsetof(Options, failover_latency), OptionType::kUInt64T}},
      {"failback_after", {offsetof(Options, failback_after), OptionType::kUInt64T}},
      {"metrics_interval", {offsetof(Options, metrics_interval), OptionType::kUInt64T}},
      {"metrics_file", {offsetof(Options, metrics_file), OptionType::kString}},
      {"tail_size", {offsetof(Options, tail_size), OptionType::kUInt64T}},
  };
  return types;
}

Status Validate(const Options& options) {
  if (options.device.empty()) {
    return Status::InvalidArgument("RawWalFileSystem: device", "is required");
  }
  if (!IsPowerOfTwo(options.segment_size) || options.segment_size < (64 << 10) ||
      options.segment_size > (1 << 30)) {
    return Invalid("segment_size", options.segment_size, "must be a power of two from 64K to 1G");
  }
  if (options.block_size != 0 && options.block_size != 512 && options.block_size != 4096) {
    return Invalid("block_size", options.block_size, "must be 0, 512 or 4096");
  }
  if (options.tail_size % 8192 != 0 || options.tail_size < (32 << 10) ||
      options.tail_size > Stub::kMaxTail) {
    return Invalid("tail_size", options.tail_size, "must be a multiple of 8K from 32K to 64M");
  }
  if (options.metrics_interval > kMostMetricsInterval) {
    return Invalid("metrics_interval", options.metrics_interval, "must be at most 86400 seconds");
  }
  if (!options.standby.empty() && options.standby[0] != '/') {
    return Status::InvalidArgument("RawWalFileSystem: standby=" + options.standby,
                                   "must be an absolute path");
  }
  Status s = ValidateCopies(options);
  if (!s.ok()) {
    return s;
  }
  if (options.failover_latency == 0 || options.failover_latency > kMostFailoverLatency) {
    return Invalid("failover_latency", options.failover_latency,
                   "must be from 1 to 60000 milliseconds");
  }
  if (options.failback_after > kMostFailbackAfter) {
    return Invalid("failback_after", options.failback_after, "must be at most 86400 seconds");
  }
  const std::string& file = options.metrics_file;
  if (!file.empty() && (file[0] != '/' || !Slice(file).ends_with(kMetricsEnd))) {
    return Status::InvalidArgument("RawWalFileSystem: metrics_file=" + file,
                                   "must be absolute, and end in .prom");
  }
  return Status::OK();
}

Status CheckTarget(const FileSystem& target) {
  const Customizable* tiered = &target;
  while (tiered != nullptr && !tiered->IsInstanceOf("TieredFileSystem")) {  // a wrapper of it
    tiered = tiered->Inner();
  }
  std::string tiers;
  if (tiered == nullptr || !tiered->GetOption(ConfigOptions(), "tiers", &tiers).ok() ||
      !HasMemory(tiers)) {
    return Status::OK();
  }
  return Status::InvalidArgument(
      "RawWalFileSystem: target=TieredFileSystem",
      "has SSTs in memory, which are rebuilt from logs that it must see: have it above, "
      "id=TieredFileSystem;...;target={id=RawWalFileSystem;...}. The database opens so as it is");
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
