// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A TestSecondaryCache for RocksDB's cache/lru_cache_test.cc, in the place of the one defined
// there: the same interface for counting and for injected results, but the blocks are in a
// TwoQSecondaryCache. See README.md.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rocksdb/secondary_cache.h"
#include "test/upstream/secondary_cache_2q/two_q_from_environment.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {

class TestSecondaryCache : public SecondaryCacheWrapper {
 public:
  // What a look-up of a key does.
  enum ResultType {
    SUCCESS,
    FAIL,            // finds nothing
    DEFER,           // is not ready before WaitAll()
    DEFER_AND_FAIL,  // is not ready before WaitAll(), and then has found nothing
  };
  using ResultMap = std::unordered_map<std::string, ResultType>;

  explicit TestSecondaryCache(size_t capacity, bool insert_saved = false)
      : SecondaryCacheWrapper(NewTwoQFromEnvironment(capacity)), insert_saved_(insert_saved) {}

  const char* Name() const override { return "TestSecondaryCache"; }

  void InjectFailure() { inject_failure_ = true; }
  void ResetInjectFailure() { inject_failure_ = false; }
  void SetResultMap(ResultMap&& map) { result_map_ = std::move(map); }
  uint32_t num_inserts() const { return num_inserts_; }
  uint32_t num_lookups() const { return num_lookups_; }

  // As upstream's: the tests count on blocks going straight into the primary cache.
  bool SupportForceErase() const override { return false; }

  Status Insert(const Slice& key, Cache::ObjectPtr value, const Cache::CacheItemHelper* helper,
                bool force_insert) override {
    if (inject_failure_) {
      return Status::Corruption("injected");
    }
    ++num_inserts_;
    return target()->Insert(key, value, helper, force_insert);
  }

  Status InsertSaved(const Slice& key, const Slice& saved, CompressionType type = kNoCompression,
                     CacheTier source = CacheTier::kVolatileTier) override {
    if (inject_failure_) {
      return Status::Corruption("injected");
    }
    if (!insert_saved_) {
      return Status::OK();
    }
    ++num_inserts_;
    return target()->InsertSaved(key, saved, type, source);
  }

  std::unique_ptr<SecondaryCacheResultHandle> Lookup(
      const Slice& key, const Cache::CacheItemHelper* helper, Cache::CreateContext* create_context,
      bool wait, bool advise_erase, Statistics* stats, bool& kept_in_sec_cache) override {
    std::string key_string = key.ToString();
    TEST_SYNC_POINT_CALLBACK("TestSecondaryCache::Lookup", &key_string);
    auto found = result_map_.find(key_string);
    ResultType type = found == result_map_.end() ? SUCCESS : found->second;
    kept_in_sec_cache = false;
    if (type == FAIL) {
      return nullptr;
    }
    ++num_lookups_;
    std::unique_ptr<SecondaryCacheResultHandle> handle =
        target()->Lookup(key, helper, create_context, wait, advise_erase, stats, kept_in_sec_cache);
    if (handle == nullptr || type == SUCCESS) {
      return handle;
    }
    return std::make_unique<DeferredHandle>(target(), std::move(handle), helper,
                                            type == DEFER_AND_FAIL);
  }

  void WaitAll(std::vector<SecondaryCacheResultHandle*> handles) override {
    std::vector<SecondaryCacheResultHandle*> plain;
    for (SecondaryCacheResultHandle* handle : handles) {
      if (auto* deferred = dynamic_cast<DeferredHandle*>(handle)) {
        deferred->Wait();
      } else {
        plain.push_back(handle);
      }
    }
    target()->WaitAll(plain);
  }

 private:
  class DeferredHandle : public SecondaryCacheResultHandle {
   public:
    DeferredHandle(SecondaryCache* cache, std::unique_ptr<SecondaryCacheResultHandle> target,
                   const Cache::CacheItemHelper* helper, bool fail)
        : cache_(cache), target_(std::move(target)), helper_(helper), fail_(fail) {}

    bool IsReady() override { return ready_; }

    void Wait() override {
      cache_->WaitAll({target_.get()});
      ready_ = true;
      if (fail_ && target_->Value() != nullptr) {
        helper_->del_cb(target_->Value(), /*allocator=*/nullptr);
      }
    }

    Cache::ObjectPtr Value() override { return fail_ ? nullptr : target_->Value(); }
    size_t Size() override { return fail_ ? 0 : target_->Size(); }

   private:
    SecondaryCache* const cache_;
    const std::unique_ptr<SecondaryCacheResultHandle> target_;
    const Cache::CacheItemHelper* const helper_;
    const bool fail_;
    bool ready_ = false;
  };

  const bool insert_saved_;
  bool inject_failure_ = false;
  uint32_t num_inserts_ = 0;
  uint32_t num_lookups_ = 0;
  ResultMap result_map_;
};

}  // namespace ROCKSDB_NAMESPACE
