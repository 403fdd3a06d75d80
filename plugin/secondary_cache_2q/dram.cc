// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/dram.h"

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

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
  result->size = static_cast<uint32_t>(size);
  result->charge = UsableSize(memory, total);
  *block = result;
  *bytes = key_data + key.size();
  return Room::kOk;
}

void DramStore::Destroy(Block* block) {
  block->~Block();
  free(block);
}

Slice DramStore::View(const Block* block) const {
  return Slice(block->key_data + block->key_size, block->size);
}

std::unique_ptr<Read> DramStore::NewRead(Block* /*block*/) {
  assert(false);  // View() always has the bytes
  return nullptr;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
