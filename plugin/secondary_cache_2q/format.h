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
//        8    4  version, 2
//       12    4  block_size: unit of allocation in bytes, a power of two from 512 to 4096
//       16    4  shards: a power of two
//       20    4  zero
//       24    8  capacity: bytes of the data area, a multiple of shards * block_size; for each
//                shard at most 2^29 * block_size
//       32    8  slots: entries of the index, a multiple of shards; for each shard at most 2^27 - 1
//       40   16  uuid, random
//       56 4036  zero
//     4092    4  masked CRC-32C of bytes 0 to 4091
struct Superblock {
  static constexpr size_t kSize = 4096;
  static constexpr size_t kMagicSize = 8;
  static constexpr uint32_t kVersion = 2;
  static constexpr size_t kUuidSize = 16;

  uint32_t block_size = 0;
  uint32_t shards = 0;
  uint64_t capacity = 0;
  uint64_t slots = 0;
  std::string uuid;

  // Behind the superblock are the index, the order of use of each shard, and the data; the ends of
  // these are multiples of 4096.
  uint64_t IndexOffset() const { return kSize; }
  uint64_t IndexEnd() const;
  uint64_t OrderOffset(uint32_t shard) const { return IndexEnd() + shard * OrderSize(); }
  uint64_t OrderSize() const;  // of a shard
  uint64_t DataOffset() const;
  uint64_t FileSize() const { return DataOffset() + capacity; }

  // Each shard has such a part of the index and of the data area.
  uint64_t SlotsPerShard() const { return slots / shards; }
  uint64_t UnitsPerShard() const { return capacity / shards / block_size; }
  // Of the extent of a block of so many stored bytes.
  uint64_t UnitsOf(uint64_t size) const;
  // References to blocks that are not held, of each kind, that the order of a shard has room for.
  uint64_t References() const { return SlotsPerShard() / 4; }
  // Bytes that a block may have at most.
  uint64_t LargestBlock() const { return capacity / 8; }
  int ShardBits() const;

  // Of a new file, but for the uuid. `capacity`: what is wanted, at most 256 GiB for each shard.
  static Superblock Plan(uint64_t capacity, uint32_t shards, uint32_t block_size);

  std::string Encode() const;
  // Corruption: not a cache file, or damaged; NotSupported: another version. `file` is for
  // messages.
  static Status Decode(const Slice& bytes, const std::string& file, Superblock* result);
  // What stands here until a file is whole: the magic alone.
  static std::string Unfinished();
  // Whether these begin a whole cache file of version 1, which this version does not read.
  static bool IsFirstVersion(const Slice& bytes, uint64_t file_size);
  static bool HasMagic(const Slice& bytes);
};

// Units that an extent may have, and that a shard may have.
constexpr uint64_t kMostUnits = UINT16_MAX;
constexpr uint64_t kMostShardUnits = uint64_t{1} << 29;

// An index entry: which block is where. All zero: free. Little-endian.
//
//   offset size  field
//        0    4  masked CRC-32C of the file's uuid followed by bytes 4 to 63
//        4    4  size: stored bytes, not 0
//        8    8  sequence: grows with each insertion
//       16   16  key, RocksDB's block cache key
//       32    8  offset: bytes from the start of the data area, a multiple of block_size
//       40   24  zero
struct Slot {
  static constexpr size_t kSize = 64;
  static constexpr size_t kKeySize = 16;

  char key[kKeySize] = {};
  uint64_t sequence = 0;
  uint64_t offset = 0;
  uint32_t size = 0;

  void Encode(const std::string& uuid, char* bytes) const;
  // False if the slot is damaged. *used is false for a free one.
  static bool Decode(const char* bytes, const std::string& uuid, Slot* result, bool* used);
};

// Whether a cache would write such an entry at this place of the index: every field is in its
// bounds, and key, place and extent are of one shard. Checks conditions 2, 3, 5 and 6 of FORMAT.md.
bool Belongs(const Slot& slot, uint64_t number, const Superblock& superblock);

// What is in front of a block's stored bytes, in its extent. Little-endian.
//
//   offset size  field
//        0    4  masked CRC-32C of bytes 4 to 31 followed by the stored bytes
//        4    4  size: stored bytes, not 0
//        8   16  key
//       24    4  raw_size: bytes after decompression
//       28    1  codec: our own compression (CompressionType), 0 for none
//       29    1  type: compression undone by RocksDB (CompressionType), 0 for none
//       30    1  source (CacheTier)
//       31    1  zero
struct BlockHeader {
  static constexpr size_t kSize = 32;

  char key[Slot::kKeySize] = {};
  uint32_t size = 0;
  Encoding encoding;

  Slice Key() const { return Slice(key, sizeof(key)); }
  // Writes it to the first bytes of an extent, which has the stored bytes behind it already.
  void Encode(char* extent) const;
  // Reads kSize bytes. False if a field is out of its bounds. *checksum: of what follows it.
  static bool DecodeHead(const char* head, BlockHeader* result, uint32_t* checksum);
  // Whether an extent begins with an intact block; then *bytes are its stored ones.
  static bool Decode(const Slice& extent, BlockHeader* result, Slice* bytes);
};

// The order of use and A1 of a shard, as a clean close leaves them. Little-endian.
//
//   offset size  field
//        0    4  masked CRC-32C of the file's uuid, the shard's number (4 bytes), and bytes 4 to 7
//                and those that size counts
//        4    4  size: bytes from 8 on
//        8       what TwoQ::Save() writes
constexpr size_t kOrderHead = 8;
std::string EncodeOrder(const std::string& uuid, uint32_t shard, const std::string& state);
// The bytes that a head says are there, with it; not more than `most`.
uint64_t OrderBytes(const char* head, uint64_t most);
// The state, or an empty slice if there is none or it is damaged.
Slice DecodeOrder(const std::string& uuid, uint32_t shard, const Slice& bytes);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
