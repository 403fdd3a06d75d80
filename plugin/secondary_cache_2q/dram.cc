// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/dram.h"

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "plugin/secondary_cache_2q/hash.h"

#ifdef ROCKSDB_MALLOC_USABLE_SIZE
#include <malloc.h>
#endif

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

size_t UsableSize(void* memory, size_t requested) {
#ifdef ROCKSDB_MALLOC_USABLE_SIZE
  (void)requested;
  return malloc_usable_size(memory) + sizeof(size_t);  // and the allocator's own header
#else
  (void)memory;
  return requested + sizeof(size_t);
#endif
}

}  // namespace

DramStore::DramStore(uint32_t shards) : parts_(shards) {}

DramStore::~DramStore() {
  for (const Part& part : parts_) {
    for (size_t id = 0; id < part.entries.size(); id++) {
      if (!IsFree(part.entries[id])) {
        Release(part.entries[id].block);
      }
    }
  }
}

Store::Room DramStore::Allocate(uint32_t shard, const Slice& key, size_t size, Block** block,
                                char** bytes) {
  if (size > std::numeric_limits<uint32_t>::max() ||
      key.size() > std::numeric_limits<uint16_t>::max()) {
    return Room::kNever;
  }
  const size_t total = sizeof(Block) + key.size() + size;
  void* memory = malloc(total);
  if (memory == nullptr) {
    return Room::kBusy;
  }
  auto* result = new (memory) Block();
  char* key_data = static_cast<char*>(memory) + sizeof(Block);
  memcpy(key_data, key.data(), key.size());
  result->key_data = key_data;
  result->key_size = static_cast<uint16_t>(key.size());
  result->shard = shard;
  result->file = FileOfKey(key);
  result->size = static_cast<uint32_t>(size);
  result->charge = UsableSize(memory, total);
  *block = result;
  *bytes = key_data + key.size();
  return Room::kOk;
}

void DramStore::PutFree(Part* part, BlockId id) {
  part->entries[id].next_free = part->free << 1 | 1;
  part->free = uint64_t{id} + 1;
}

bool DramStore::Keep(Block* block) {
  Part& part = parts_[block->shard];
  if (part.free != 0) {
    block->id = static_cast<BlockId>(part.free - 1);
    part.free = part.entries[block->id].next_free >> 1;
  } else if (part.entries.size() < kMostBlocks) {
    block->id = static_cast<BlockId>(part.entries.size());
    part.entries.Resize(part.entries.size() + 1);
  } else {
    return false;
  }
  part.entries[block->id].block = block;
  block->refs.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Block* DramStore::Pin(uint32_t shard, BlockId id, uint64_t /*hash*/) {
  Block* const block = parts_[shard].entries[id].block;
  block->refs.fetch_add(1, std::memory_order_relaxed);
  return block;
}

Block* DramStore::Detach(uint32_t shard, BlockId id) {
  Block* const block = parts_[shard].entries[id].block;
  block->id = kNoBlock;
  PutFree(&parts_[shard], id);
  return block;
}

void DramStore::Release(Block* block) {
  if (block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    block->~Block();
    free(block);
  }
}

void DramStore::Move(uint32_t shard, BlockId from, BlockId to) {
  Part& part = parts_[shard];
  part.entries[to] = part.entries[from];
  part.entries[to].block->id = to;
}

void DramStore::Truncate(uint32_t shard, BlockId ids) {
  parts_[shard].entries.Resize(ids);
  parts_[shard].free = 0;
}

size_t DramStore::MemoryUsage(uint32_t shard) const { return parts_[shard].entries.MemoryUsage(); }

Slice DramStore::View(const Block* block) const {
  return Slice(block->key_data + block->key_size, block->size);
}

std::unique_ptr<Read> DramStore::NewRead(Block* /*block*/, const Slice& /*key*/) {
  assert(false);  // View() always has the bytes
  return nullptr;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
