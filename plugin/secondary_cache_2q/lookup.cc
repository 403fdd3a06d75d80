// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/lookup.h"

#include "plugin/secondary_cache_2q/block_check.h"
#include "plugin/secondary_cache_2q/codec.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

Status CreateObject(const Block& block, const Encoding& encoding, const Slice& bytes,
                    const Cache::CacheItemHelper* helper, Cache::CreateContext* context,
                    Cache::ObjectPtr* object, size_t* charge) {
  Slice data = bytes;
  std::unique_ptr<char[]> raw;
  if (encoding.codec != 0) {
    raw = Decompress(static_cast<CompressionType>(encoding.codec), bytes, encoding.raw_size);
    if (raw == nullptr) {
      return Status::Corruption("TwoQSecondaryCache", "a block cannot be decompressed");
    }
    data = Slice(raw.get(), encoding.raw_size);
  }
  if (block.recovered && encoding.type == 0) {
    Status s = CheckBlock(helper->role, data);
    if (!s.ok()) {
      return s;
    }
  }
  Status s = helper->create_cb(data, static_cast<CompressionType>(encoding.type),
                               static_cast<CacheTier>(encoding.source), context,
                               /*allocator=*/nullptr, object, charge);
  // RocksDB's own callback says OK, with no object, where it cannot decompress.
  if (s.ok() && *object == nullptr) {
    return Status::Corruption("TwoQSecondaryCache", "no object can be made of a block");
  }
  return s;
}

PendingResult::~PendingResult() {
  if (read_ != nullptr) {  // given up
    read_.reset();
    observer_->FinishLookup(block_, LookupObserver::Outcome());
  }
}

bool PendingResult::IsReady() {
  if (read_ != nullptr && read_->Poll()) {
    Finish();
  }
  return read_ == nullptr;
}

void PendingResult::Wait() {
  if (read_ != nullptr) {
    read_->Wait();
    Finish();
  }
}

void PendingResult::Finish() {
  Slice bytes;
  Encoding encoding;
  LookupObserver::Outcome outcome;
  outcome.s = read_->Result(&bytes, &encoding);
  outcome.is_other = outcome.s.IsNotFound();
  outcome.promoted = promote_;
  if (outcome.s.ok()) {
    outcome.size = bytes.size();
    outcome.s = CreateObject(*block_, encoding, bytes, helper_, context_, &value_, &size_);
  }
  read_.reset();
  observer_->FinishLookup(block_, outcome);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
