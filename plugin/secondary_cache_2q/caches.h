// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The open caches of the process, for the listener and for statistics. Thread-safe.

#pragma once

#include <functional>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

class TwoQSecondaryCache;

// Adds a cache that is open from now on.
void AddCache(TwoQSecondaryCache* cache);

// Removes a cache that goes, if it was added. Waits until nobody visits it any more.
void RemoveCache(TwoQSecondaryCache* cache);

// Calls `visit` for every cache. No lock is held meanwhile: a cache whose file does not answer
// holds up who visits it, and who removes it, and nobody else.
void ForEachCache(const std::function<void(TwoQSecondaryCache*)>& visit);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
