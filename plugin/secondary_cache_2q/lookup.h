// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "plugin/secondary_cache_2q/block.h"
#include "plugin/secondary_cache_2q/store.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Who is told when a look-up that found a block ends: TwoQSecondaryCache.
class LookupObserver {
 public:
  virtual ~LookupObserver() = default;

  // How a look-up has ended.
  struct Outcome {
    Status s;               // with which an object was made of the block
    bool is_other = false;  // the block is another key's: no object was made
    size_t size = 0;        // stored bytes
    bool promoted = false;  // the primary cache keeps the object
  };
  // Drops the look-up's reference on the block.
  virtual void FinishLookup(Block* block, const Outcome& outcome) = 0;
};

// Makes an object of a block's bytes. Corruption if they cannot be decoded.
Status CreateObject(const Block& block, const Encoding& encoding, const Slice& bytes,
                    const Cache::CacheItemHelper* helper, Cache::CreateContext* context,
                    Cache::ObjectPtr* object, size_t* charge);

// A look-up whose object is there.
class ReadyResult : public SecondaryCacheResultHandle {
 public:
  ReadyResult(Cache::ObjectPtr value, size_t size) : value_(value), size_(size) {}
  bool IsReady() override { return true; }
  void Wait() override {}
  Cache::ObjectPtr Value() override { return value_; }
  size_t Size() override { return size_; }

 private:
  Cache::ObjectPtr const value_;
  const size_t size_;
};

// A look-up whose bytes are still to be read. Used by one thread. The observer must outlive it.
class PendingResult : public SecondaryCacheResultHandle {
 public:
  PendingResult(LookupObserver* observer, Block* block, std::unique_ptr<Read> read,
                const Cache::CacheItemHelper* helper, Cache::CreateContext* context, bool promote)
      : observer_(observer),
        block_(block),
        read_(std::move(read)),
        helper_(helper),
        context_(context),
        promote_(promote) {}
  ~PendingResult() override;

  bool IsReady() override;
  void Wait() override;
  Cache::ObjectPtr Value() override { return value_; }
  size_t Size() override { return size_; }

 private:
  void Finish();

  LookupObserver* const observer_;
  Block* const block_;
  std::unique_ptr<Read> read_;  // null: it has ended
  const Cache::CacheItemHelper* const helper_;
  Cache::CreateContext* const context_;
  const bool promote_;
  Cache::ObjectPtr value_ = nullptr;
  size_t size_ = 0;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
