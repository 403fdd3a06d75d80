// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "tools/check/stack.h"

#include <algorithm>
#include <map>
#include <memory>

#include "rocksdb/configurable.h"
#include "rocksdb/convenience.h"
#include "rocksdb/file_system.h"
#ifdef ROCKTIER_HAS_RAW_WAL_FS
#include "plugin/raw_wal_fs/options.h"
#endif
#ifdef ROCKTIER_HAS_TIERED_ENV
#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#endif

namespace ROCKSDB_NAMESPACE {
namespace rocktier {
namespace check {

namespace {

#ifdef ROCKTIER_HAS_TIERED_ENV
void AddTiers(const tiered_env::TieredOptions& options, Stack* stack,
              std::vector<std::string>* refused) {
  std::vector<tiered_env::TierOptions> tiers;
  const Status s = tiered_env::CheckTieredOptions(options, &tiers);
  if (!s.ok()) {
    refused->push_back(s.ToString());
  }
  for (const tiered_env::TierOptions& tier : tiers) {
    const bool has_temperature = tier.temperature != Temperature::kUnknown;
    stack->tiers.push_back({tier.name, tier.path, tier.kind == tiered_env::TierKind::kMemory,
                            has_temperature ? tiered_env::PrintTemperature(tier.temperature) : "",
                            tier.budget});
  }
  stack->orphan_budget = options.orphan_budget;
  stack->device_above = !stack->device.empty();
}
#endif

#ifdef ROCKTIER_HAS_RAW_WAL_FS
void AddDevice(const raw_wal_fs::RawWalOptions& options, Stack* stack,
               std::vector<std::string>* refused) {
  const Status s = raw_wal_fs::Validate(options);
  if (!s.ok()) {
    refused->push_back(s.ToString());
  }
  stack->device = options.device;
  stack->device_size = options.size;
  stack->standby = options.standby;
}
#endif

// Sets an option alone. Of several at once, RocksDB prepares what it has set if one of them is
// wrong, and that opens devices.
void SetOption(const std::string& id, const std::string& name, const std::string& value,
               FileSystem* fs, std::vector<std::string>* refused) {
  ConfigOptions config;
  config.invoke_prepare_options = false;
  const Status s = fs->ConfigureOption(config, name, value);
  if (!s.ok()) {
    refused->push_back(id + ": " + name + "=" + value + ": " +
                       (s.IsNotFound() ? "there is no such option" : s.ToString()));
  }
}

// Adds a FileSystem, which is made but not prepared, and those below it.
void AddFileSystem(const std::string& text, Stack* stack, std::vector<std::string>* refused) {
  ConfigOptions config;
  config.invoke_prepare_options = false;
  config.ignore_unsupported_options = false;
  std::string id;
  OptionMap options;
  std::shared_ptr<FileSystem> fs;
  Status s = Configurable::GetOptionsMap(text, /*default_id=*/"", &id, &options);
  if (s.ok()) {
    s = FileSystem::CreateFromString(config, id, &fs);
  }
  if (!s.ok() || fs == nullptr) {
    refused->push_back("file_system=" + text + ": " +
                       (s.ok() ? "there is none of this name" : s.ToString()));
    return;
  }
  const std::string target = ValueOf(options, "target");
  options.erase("target");
  for (const auto& [name, value] :
       std::map<std::string, std::string>(options.begin(), options.end())) {
    SetOption(id, name, value, fs.get(), refused);
  }
#ifdef ROCKTIER_HAS_TIERED_ENV
  if (const auto* tiers = fs->GetOptions<tiered_env::TieredOptions>()) {
    AddTiers(*tiers, stack, refused);
  }
#endif
#ifdef ROCKTIER_HAS_RAW_WAL_FS
  if (const auto* device = fs->GetOptions<raw_wal_fs::RawWalOptions>()) {
    AddDevice(*device, stack, refused);
  }
#endif
  if (!target.empty()) {
    AddFileSystem(target, stack, refused);
  }
}

}  // namespace

bool Stack::HasMemory() const {
  return std::any_of(tiers.begin(), tiers.end(), [](const Tier& tier) { return tier.in_memory; });
}

Stack StackOf(const std::string& file_system, std::vector<std::string>* refused) {
  Stack stack;
  if (!file_system.empty()) {
    AddFileSystem(file_system, &stack, refused);
  }
  return stack;
}

CacheText CacheOf(const std::string& value, uint64_t otherwise) {
  CacheText cache;
  const size_t scheme = value.find("://");
  if (scheme == std::string::npos) {
    cache.memory = BytesOf(MapOf(value), "capacity", BytesIn(value, otherwise));
    return cache;
  }
  // {id={lru+2q://capacity=...;secondary_cache={...}}}
  const OptionMap options =
      MapOf(value.substr(scheme + 3, value.find_last_not_of('}') - scheme - 2) +
            (value.find("secondary_cache={") == std::string::npos ? "" : "}"));
  cache.memory = BytesOf(options, "capacity", otherwise);
  const OptionMap second = MapOf(ValueOf(options, "secondary_cache"));
  cache.path = ValueOf(second, "path");
  const uint64_t capacity = BytesOf(second, "capacity", 0);
  cache.capacity = cache.path.empty() ? 0 : capacity;
  cache.memory += cache.path.empty() ? capacity : 0;
  return cache;
}

}  // namespace check
}  // namespace rocktier
}  // namespace ROCKSDB_NAMESPACE
