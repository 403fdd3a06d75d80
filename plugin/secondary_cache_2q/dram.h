// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>

#include "plugin/secondary_cache_2q/store.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// storage=dram: one allocation per block holds the bookkeeping, the key and the bytes; the charge
// is what the allocator says it takes.
class DramStore : public Store {
 public:
  Room Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                char** bytes) override;
  void Commit(Block* /*block*/) override {}
  void Destroy(Block* block) override;
  Slice View(const Block* block) const override;
  std::unique_ptr<Read> NewRead(Block* block) override;
  bool ChargesMetadata() const override { return true; }
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
