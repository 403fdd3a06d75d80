// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/caches.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <vector>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

struct Registry {
  std::mutex mutex;
  std::condition_variable left;  // a visitor has left a cache
  // Guarded by mutex.
  std::set<TwoQSecondaryCache*> caches;
  std::multiset<TwoQSecondaryCache*> visited;  // once for each visitor
};

// Never destroyed: a cache may be a static object that outlives it.
Registry& TheRegistry() {
  static auto* registry = new Registry();
  return *registry;
}

}  // namespace

void AddCache(TwoQSecondaryCache* cache) {
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.caches.insert(cache);
}

void RemoveCache(TwoQSecondaryCache* cache) {
  Registry& registry = TheRegistry();
  std::unique_lock<std::mutex> lock(registry.mutex);
  registry.caches.erase(cache);
  registry.left.wait(lock, [&] { return registry.visited.count(cache) == 0; });
}

void ForEachCache(const std::function<void(TwoQSecondaryCache*)>& visit) {
  Registry& registry = TheRegistry();
  std::unique_lock<std::mutex> lock(registry.mutex);
  const std::vector<TwoQSecondaryCache*> all(registry.caches.begin(), registry.caches.end());
  for (TwoQSecondaryCache* cache : all) {
    if (registry.caches.count(cache) == 0) {
      continue;  // removed meanwhile
    }
    const auto visitor = registry.visited.insert(cache);
    lock.unlock();
    visit(cache);
    lock.lock();
    registry.visited.erase(visitor);
    registry.left.notify_all();
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
