// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plugin/secondary_cache_2q/chunked_array.h"
#include "plugin/secondary_cache_2q/store.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// storage=dram: one allocation per block holds the bookkeeping, the key and the bytes; the charge
// is what the allocator says it takes.
class DramStore : public Store {
 public:
  explicit DramStore(uint32_t shards);
  ~DramStore() override;

  Room Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                char** bytes) override;
  bool Keep(Block* block) override;
  void Commit(Block* /*block*/) override {}
  Block* Pin(uint32_t shard, BlockId id, uint64_t hash) override;
  Block* Detach(uint32_t shard, BlockId id) override;
  void Release(Block* block) override;
  Slice View(const Block* block) const override;
  std::unique_ptr<Read> NewRead(Block* block, const Slice& key) override;
  bool CanMove() const override { return true; }
  void Move(uint32_t shard, BlockId from, BlockId to) override;
  void Truncate(uint32_t shard, BlockId ids) override;
  bool ChargesMetadata() const override { return true; }
  size_t MemoryUsage(uint32_t shard) const override;

 private:
  // What is known of an id: its block, or the next free id.
  union Entry {
    Block* block;
    uint64_t next_free;  // and 1, or 0; twice, and 1: no address is odd
  };
  // Guarded by the shard's mutex.
  struct Part {
    ChunkedArray<Entry> entries;
    uint64_t free = 0;
  };

  static bool IsFree(const Entry& entry) { return (entry.next_free & 1) != 0; }
  static void PutFree(Part* part, BlockId id);

  std::vector<Part> parts_;
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
