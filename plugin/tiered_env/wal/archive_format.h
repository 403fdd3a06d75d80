// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What archives consist of: pure codecs, no I/O. FORMAT.md tells how the pieces fit. All integers
// are little-endian, checksums are CRC-32C, masked as in RocksDB.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "plugin/tiered_env/wal/log_reader.h"
#include "rocksdb/io_status.h"
#include "rocksdb/slice.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// The beginning of an archive.
//
//   offset size
//        0    8  magic "RKTARCHV"
//        8    4  version, 1
//       12    8  id of the segment
//       20    8  zero
//       28    4  checksum of the bytes before
struct ArchiveHeader {
  static constexpr size_t kSize = 32;
  static constexpr uint32_t kVersion = 1;

  uint64_t id = 0;

  std::string Encode() const;
  // Decodes kSize bytes. Corruption: not an archive, or damaged; NotSupported: of another version.
  // `path` is for messages.
  static IOStatus Decode(const char* bytes, const std::string& path, ArchiveHeader* result);
};

// Before each block, and the end of the archive.
//
//   offset size
//        0    4  checksum of: the segment's id and the offset of this header in the file (8 bytes
//                each, which are not stored), the header's other bytes, the block
//        4    1  what follows: 0 a block as it is, 4 one compressed by lz4, 7 by zstd; 255: footer
//        5    3  zero
//        8    8  length of the block as it is stored; of the footer: of the whole file
//       16    8  length of the block uncompressed; of the footer: number of entries in all blocks
struct ArchiveBlockHeader {
  static constexpr size_t kSize = 24;
  static constexpr uint8_t kFooter = 255;

  uint8_t kind = 0;
  uint64_t stored = 0;
  uint64_t raw = 0;

  std::string Encode(uint64_t id, uint64_t offset, const Slice& block) const;
  // Reads the numbers of kSize bytes, checks nothing.
  static ArchiveBlockHeader Decode(const char* bytes);
  // Whether `bytes`, kSize of them, and `block` are what was encoded.
  static bool IsSound(const char* bytes, uint64_t id, uint64_t offset, const Slice& block);
};

// An entry in a block:
//
//   varint   ordinal; but for the first of a block, less the one before and 1
//   varint   sequence number; but for the first of a block, less the one before and 1, signed
//   varint   sequence number less the batch's
//   1        type
//   varint   length of the key
//   varint   length of the value
//            key, value
class ArchiveBlockBuilder {
 public:
  // Bytes of an entry in a block, where its neighbours are those that it has in the log: a few less
  // than if there are others between them.
  static uint64_t SizeOf(const Entry& entry);

  void Add(Ordinal ordinal, const Entry& entry);
  const std::string& bytes() const { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  std::string bytes_;
  Ordinal ordinal_ = 0;
  SequenceNumber sequence_ = 0;
};

// Shows the entries of an uncompressed block. Ordinals are from *next on, which is set to behind
// the last one; *entries is counted up. False if it is damaged.
bool ReadArchiveBlock(Slice bytes, uint64_t* next, uint64_t* entries, EntryVisitor* visitor);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
