// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of TwoQSecondaryCache that lets its blocks survive compactions.

#include "plugin/secondary_cache_2q/cache.h"
#include "plugin/secondary_cache_2q/hash.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

void TwoQSecondaryCache::BeginCarry(const CarryBegin& begin) {
  if (carrier_ != nullptr) {
    carrier_->Begin(begin);
  }
}

void TwoQSecondaryCache::AddCarryOutput(const std::string& id, const CarriedSst& sst) {
  if (carrier_ != nullptr) {
    carrier_->AddOutput(id, sst);
  }
}

void TwoQSecondaryCache::EndCarry(const CarryEnd& end) {
  if (carrier_ != nullptr) {
    carrier_->End(end);
  }
}

void TwoQSecondaryCache::TEST_WaitForCarry() {
  if (carrier_ != nullptr) {
    carrier_->TEST_Wait();
  }
}

bool TwoQSecondaryCache::HasFile(uint64_t file) const {
  for (const auto& shard : shards_) {
    if (shard->HasFile(file)) {
      return true;
    }
  }
  return false;
}

std::vector<Shard::Held> TwoQSecondaryCache::ListFile(uint64_t file) const {
  std::vector<Shard::Held> held;
  for (const auto& shard : shards_) {
    shard->ListFile(file, &held);
  }
  return held;
}

// Takes the block in the form in which RocksDB would offer it.
void TwoQSecondaryCache::Carry(const CaughtBlock& block, uint64_t age) {
  // Below a TieredSecondaryCache only blocks that are compressed in their SST are offered, as they
  // are there.
  const bool saved = only_saved_.load(std::memory_order_relaxed);
  const Slice bytes = saved ? block.compressed : block.bytes;
  const uint64_t hash = KeyHash(block.key);
  if (!bytes.empty() && ShardFor(hash).WantsCarried(block.key, hash, bytes.size(), age)) {
    KeepSaved(Taken{block.key, hash, /*lasting=*/true, /*is_carried=*/true, age}, bytes,
              saved ? block.type : kNoCompression, CacheTier::kVolatileTier);
  }
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
