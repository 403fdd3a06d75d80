// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The cache file's format: pure codecs, no I/O. FORMAT.md tells the rest.

#pragma once

#include <cstdint>
#include <string>

#include "plugin/secondary_cache_2q/block.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// The first 4096 bytes of the file, written once, when it is formatted. Little-endian.
//
//   offset size  field
//        0    8  magic "RKT2QSC\n"
//        8    4  version, 1
//       12    4  block_size: unit of allocation in bytes, a power of two from 512 to 4096
//       16    4  shards: a power of two
//       20    4  zero
//       24    8  capacity: bytes of the data area, a multiple of shards * block_size
//       32    8  slots: entries of the index, a multiple of shards, at most 2^32
//       40   16  uuid, random
//       56 4036  zero
//     4092    4  masked CRC-32C of bytes 0 to 4091
struct Superblock {
  static constexpr size_t kSize = 4096;
  static constexpr size_t kMagicSize = 8;
  static constexpr uint32_t kVersion = 1;
  static constexpr size_t kUuidSize = 16;

  uint32_t block_size = 0;
  uint32_t shards = 0;
  uint64_t capacity = 0;
  uint64_t slots = 0;
  std::string uuid;

  // The index begins right behind the superblock, the data behind the index at the next multiple of
  // 4096.
  uint64_t IndexOffset() const { return kSize; }
  uint64_t DataOffset() const;
  uint64_t FileSize() const { return DataOffset() + capacity; }

  // Each shard has such a part of the index and of the data area.
  uint64_t SlotsPerShard() const { return slots / shards; }
  uint64_t UnitsPerShard() const { return capacity / shards / block_size; }
  uint64_t UnitsOf(uint64_t size) const { return (size + block_size - 1) / block_size; }
  // Bytes that a block may have at most.
  uint64_t LargestBlock() const { return capacity / 8; }
  int ShardBits() const;

  std::string Encode() const;
  // Corruption: not a cache file, or damaged; NotSupported: another version. `file` is for
  // messages.
  static Status Decode(const Slice& bytes, const std::string& file, Superblock* result);
  // What stands here until a file is whole: the magic alone.
  static std::string Unfinished();
  static bool HasMagic(const Slice& bytes);
};

// An index entry: where a block is and how to verify it. All zero: free. Little-endian.
//
//   offset size  field
//        0    4  masked CRC-32C of the file's uuid followed by bytes 4 to 63
//        4    4  size: stored bytes, not 0
//        8    8  sequence: grows with each insertion
//       16   16  key, RocksDB's block cache key
//       32    8  offset: bytes from the start of the data area, a multiple of block_size
//       40    4  raw_size: bytes after decompression
//       44    4  masked CRC-32C of the key followed by the stored bytes
//       48    1  codec: our own compression (CompressionType), 0 for none
//       49    1  type: compression undone by RocksDB (CompressionType), 0 for none
//       50    1  source (CacheTier)
//       51   13  zero
struct Slot {
  static constexpr size_t kSize = 64;
  static constexpr size_t kKeySize = 16;

  char key[kKeySize] = {};
  uint64_t sequence = 0;
  uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t checksum = 0;
  Encoding encoding;

  void Encode(const std::string& uuid, char* bytes) const;
  // False if the slot is damaged. *used is false for a free one.
  static bool Decode(const char* bytes, const std::string& uuid, Slot* result, bool* used);
};

// Whether a cache would write such an entry at this place of the index: every field is in its
// bounds, and key, place and extent are of one shard. Checks conditions 2, 3, 5 and 6 of FORMAT.md.
bool Belongs(const Slot& slot, uint64_t number, const Superblock& superblock);

// The checksum of a block's bytes.
uint32_t BlockChecksum(const Slice& key, const Slice& bytes);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
