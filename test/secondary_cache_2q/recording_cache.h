// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A secondary cache that takes everything, gives nothing, and tells what RocksDB offered.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/advanced_cache.h"
#include "rocksdb/secondary_cache.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Not thread-safe: for a database without background work.
class RecordingCache : public SecondaryCache {
 public:
  struct Offered {
    CacheEntryRole role = CacheEntryRole::kMisc;
    std::string bytes;
    CompressionType type = kNoCompression;
  };
  using Blocks = std::map<std::string, Offered>;  // by key

  const char* Name() const override { return "RecordingCache"; }

  Status Insert(const Slice& key, Cache::ObjectPtr obj, const Cache::CacheItemHelper* helper,
                bool /*force_insert*/) override {
    Offered offered;
    offered.role = helper->role;
    offered.bytes.resize(helper->size_cb(obj));
    Status s = helper->saveto_cb(obj, 0, offered.bytes.size(), offered.bytes.data());
    inserted[key.ToString()] = offered;
    return s;
  }
  Status InsertSaved(const Slice& key, const Slice& bytes, CompressionType type,
                     CacheTier /*source*/) override {
    saved[key.ToString()] = {CacheEntryRole::kMisc, bytes.ToString(), type};
    return Status::OK();
  }
  std::unique_ptr<SecondaryCacheResultHandle> Lookup(const Slice& /*key*/,
                                                     const Cache::CacheItemHelper* /*helper*/,
                                                     Cache::CreateContext* /*context*/,
                                                     bool /*wait*/, bool /*advise_erase*/,
                                                     Statistics* /*stats*/,
                                                     bool& kept_in_sec_cache) override {
    kept_in_sec_cache = false;
    return nullptr;
  }
  bool SupportForceErase() const override { return false; }
  void Erase(const Slice& /*key*/) override {}
  void WaitAll(std::vector<SecondaryCacheResultHandle*> /*handles*/) override {}

  Blocks inserted;
  Blocks saved;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
