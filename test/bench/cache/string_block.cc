// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/cache/string_block.h"

#include <cstring>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::CacheEntryRole;
using ROCKSDB_NAMESPACE::CacheTier;
using ROCKSDB_NAMESPACE::CompressionType;
using ROCKSDB_NAMESPACE::MemoryAllocator;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

namespace {

void DeleteBlock(Cache::ObjectPtr obj, MemoryAllocator* /*allocator*/) {
  delete static_cast<std::string*>(obj);
}

size_t BlockSize(Cache::ObjectPtr obj) { return static_cast<std::string*>(obj)->size(); }

Status SaveBlock(Cache::ObjectPtr obj, size_t offset, size_t length, char* out) {
  std::memcpy(out, static_cast<std::string*>(obj)->data() + offset, length);
  return Status::OK();
}

Status CreateBlock(const Slice& data, CompressionType /*type*/, CacheTier /*source*/,
                   Cache::CreateContext* /*context*/, MemoryAllocator* /*allocator*/,
                   Cache::ObjectPtr* obj, size_t* charge) {
  *obj = new std::string(data.data(), data.size());
  *charge = data.size();
  return Status::OK();
}

}  // namespace

const Cache::CacheItemHelper* StringBlockHelper() {
  static const Cache::CacheItemHelper plain(CacheEntryRole::kDataBlock, &DeleteBlock);
  static const Cache::CacheItemHelper full(CacheEntryRole::kDataBlock, &DeleteBlock, &BlockSize,
                                           &SaveBlock, &CreateBlock, &plain);
  return &full;
}

}  // namespace rocktier_bench
