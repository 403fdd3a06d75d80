// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {

class ObjectLibrary;

namespace secondary_cache_2q {

// RocksDB can name a block cache in an OPTIONS file, but not its secondary cache. These URIs can:
//   block_cache={id={lru+2q://capacity=64M;secondary_cache={capacity=256M;policy=2q}}}
//   block_cache={id={hyper+2q://capacity=64M;secondary_cache={storage=file;...}}}
// lru: capacity, num_shard_bits, strict_capacity_limit, high_pri_pool_ratio, low_pri_pool_ratio.
// hyper: capacity, num_shard_bits, strict_capacity_limit, estimated_entry_charge.
// secondary_cache: the options of TwoQSecondaryCache, or any secondary cache with its id.
//
// Without `opens` the texts are looked at, for those who only check them: what they name is a block
// cache without the secondary one, whose file is neither made nor opened.
void RegisterBlockCaches(ObjectLibrary& library, bool opens = true);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
