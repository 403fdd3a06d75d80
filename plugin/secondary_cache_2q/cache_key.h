// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// What the cache keys of an SST or blob file are made of.
struct FileKeys {
  uint64_t file = 0;  // all of them begin with it, as FileOfKey() finds it
  uint64_t mask = 0;

  // What is behind it in the key of a block at this offset of an SST.
  uint64_t Block(uint64_t offset) const { return mask ^ offset >> 2; }
  // The offset of the block with this there, without its last two bits.
  uint64_t QuarterOffset(uint64_t block) const { return mask ^ block; }
  // The whole key.
  std::string KeyOf(uint64_t offset) const;
};

// Finds them. They come from the database's identity, from the session that made the SST or reads
// the blob file, and from the file's number in it. All is 0 if RocksDB has no unique id of the
// file, as of an SST of a RocksDB before 6.24.
FileKeys FindFileKeys(const std::string& db_id, const std::string& session_id, uint64_t number);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
