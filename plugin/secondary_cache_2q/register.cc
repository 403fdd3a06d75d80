// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include <memory>
#include <string>

#include "plugin/secondary_cache_2q/block_cache.h"
#include "plugin/secondary_cache_2q/cache.h"
#include "plugin/secondary_cache_2q/listener.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

Status NewTwoQSecondaryCache(const TwoQSecondaryCacheOptions& options,
                             std::shared_ptr<SecondaryCache>* result) {
  auto cache = std::make_shared<TwoQSecondaryCache>();
  *cache->GetOptions<TwoQSecondaryCacheOptions>() = options;
  Status s = cache->PrepareOptions(ConfigOptions());
  if (s.ok()) {
    *result = std::move(cache);
  }
  return s;
}

namespace {

int Register(ObjectLibrary& library) {
  library.AddFactory<SecondaryCache>(
      TwoQSecondaryCache::kClassName(),
      [](const std::string& /*uri*/, std::unique_ptr<SecondaryCache>* guard,
         std::string* /*error*/) {
        *guard = std::make_unique<TwoQSecondaryCache>();
        return guard->get();
      });
  library.AddFactory<EventListener>(
      TwoQSecondaryCacheListener::kClassName(),
      [](const std::string& /*uri*/, std::unique_ptr<EventListener>* guard,
         std::string* /*error*/) {
        *guard = std::make_unique<TwoQSecondaryCacheListener>();
        return guard->get();
      });
  RegisterBlockCaches(library);
  size_t types;
  return static_cast<int>(library.GetFactoryCount(&types));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE

extern "C" int register_secondary_cache_2q(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                           const std::string& /*arg*/) {
  return ROCKSDB_NAMESPACE::secondary_cache_2q::Register(library);
}
