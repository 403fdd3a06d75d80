// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/block_cache.h"

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "plugin/secondary_cache_2q/options.h"
#include "rocksdb/advanced_cache.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

using OptionMap = std::unordered_map<std::string, std::string>;
using TypeMap = std::unordered_map<std::string, OptionTypeInfo>;

// A block cache for the registry, which takes unique objects only, while the cache makers give
// shared ones. Forwards the calls that CacheWrapper answers itself: else what the secondary cache
// says would not reach the LOG.
class OwnedBlockCache : public CacheWrapper {
 public:
  explicit OwnedBlockCache(std::shared_ptr<Cache> target) : CacheWrapper(std::move(target)) {}
  const char* Name() const override { return target_->Name(); }
  std::string GetPrintableOptions() const override { return target_->GetPrintableOptions(); }
  Status GetSecondaryCacheCapacity(size_t& size) const override {
    return target_->GetSecondaryCacheCapacity(size);
  }
  Status GetSecondaryCachePinnedUsage(size_t& size) const override {
    return target_->GetSecondaryCachePinnedUsage(size);
  }
  void DisownData() override { target_->DisownData(); }
};

// The text without one pair of braces around all of it. RocksDB 9 takes them off nested values, 11
// leaves them on.
std::string Unbraced(const std::string& text) {
  const bool braced = text.size() >= 2 && text.front() == '{' && text.back() == '}';
  return braced ? text.substr(1, text.size() - 2) : text;
}

const TypeMap& LruTypes() {
  using O = LRUCacheOptions;
  static const TypeMap types = {
      {"capacity", {offsetof(O, capacity), OptionType::kSizeT}},
      {"num_shard_bits", {offsetof(O, num_shard_bits), OptionType::kInt}},
      {"strict_capacity_limit", {offsetof(O, strict_capacity_limit), OptionType::kBoolean}},
      {"high_pri_pool_ratio", {offsetof(O, high_pri_pool_ratio), OptionType::kDouble}},
      {"low_pri_pool_ratio", {offsetof(O, low_pri_pool_ratio), OptionType::kDouble}},
  };
  return types;
}

const TypeMap& HyperTypes() {
  using O = HyperClockCacheOptions;
  static const TypeMap types = {
      {"capacity", {offsetof(O, capacity), OptionType::kSizeT}},
      {"num_shard_bits", {offsetof(O, num_shard_bits), OptionType::kInt}},
      {"strict_capacity_limit", {offsetof(O, strict_capacity_limit), OptionType::kBoolean}},
      {"estimated_entry_charge", {offsetof(O, estimated_entry_charge), OptionType::kSizeT}},
  };
  return types;
}

// Makes a secondary cache, or, without `opens`, only says what is wrong with its options.
Status MakeSecondary(const std::string& text, bool opens, std::shared_ptr<SecondaryCache>* cache) {
  ConfigOptions config;
  config.invoke_prepare_options = opens;
  Status s = SecondaryCache::CreateFromString(config, text, cache);
  if (s.ok() && !opens && *cache != nullptr) {
    const auto* ours = (*cache)->GetOptions<TwoQSecondaryCacheOptions>();
    s = ours == nullptr ? s : Validate(*ours);
    cache->reset();
  }
  return s;
}

template <typename Options>
Status Make(const TypeMap& types, OptionMap arguments, Options options, bool opens,
            std::shared_ptr<Cache>* cache) {
  const ConfigOptions config;
  const auto secondary = arguments.find("secondary_cache");
  if (secondary == arguments.end()) {
    return Status::InvalidArgument("block_cache: secondary_cache", "is required");
  }
  std::string text = Unbraced(secondary->second);
  OptionMap named;
  if (StringToMap(text, &named).ok() && named.count("id") == 0) {
    text = "id=TwoQSecondaryCache;" + text;
  }
  arguments.erase(secondary);
  OptionMap unused;
  Status s = OptionTypeInfo::ParseType(config, arguments, types, &options, &unused);
  if (s.ok() && !unused.empty()) {
    s = Status::InvalidArgument("block_cache: unknown option", unused.begin()->first);
  }
  if (s.ok() && options.capacity == 0) {
    s = Status::InvalidArgument("block_cache: capacity", "is required and must not be 0");
  }
  if (s.ok()) {
    s = MakeSecondary(text, opens, &options.secondary_cache);
  }
  if (s.ok()) {
    *cache = options.MakeSharedCache();
    if (*cache == nullptr) {
      std::string all;
      s = OptionTypeInfo::SerializeType(config, types, &options, &all);
      s = s.ok() ? Status::InvalidArgument(
                       "block_cache: " + all,
                       "num_shard_bits must be below 20, pool ratios and their sum from 0 to 1")
                 : s;
    }
  }
  return s;
}

Cache* Create(const std::string& id, bool opens, std::unique_ptr<Cache>* guard,
              std::string* error) {
  const std::string uri = Unbraced(id);
  const size_t colon = uri.find("://");
  OptionMap arguments;
  std::shared_ptr<Cache> cache;
  Status s = StringToMap(uri.substr(colon + 3), &arguments);
  if (s.ok() && uri.compare(0, colon, "lru+2q") == 0) {
    LRUCacheOptions options;
    options.capacity = 0;
    s = Make(LruTypes(), arguments, options, opens, &cache);
  } else if (s.ok()) {
    s = Make(HyperTypes(), arguments, HyperClockCacheOptions(0, /*_estimated_entry_charge=*/0),
             opens, &cache);
  }
  if (!s.ok()) {
    *error = s.ToString();
    return nullptr;
  }
  *guard = std::make_unique<OwnedBlockCache>(std::move(cache));
  return guard->get();
}

}  // namespace

void RegisterBlockCaches(ObjectLibrary& library, bool opens) {
  for (const char* scheme : {"lru+2q", "{lru+2q", "hyper+2q", "{hyper+2q"}) {
    library.AddFactory<Cache>(
        ObjectLibrary::PatternEntry(scheme, /*optional=*/false).AddSeparator("://"),
        [opens](const std::string& id, std::unique_ptr<Cache>* guard, std::string* error) {
          return Create(id, opens, guard, error);
        });
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
