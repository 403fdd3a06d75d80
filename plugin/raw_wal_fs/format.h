// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Codecs of all that raw_wal_fs writes: no I/O. FORMAT.md tells how the parts fit and why the
// logical end of a log is exact. All integers are little-endian.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

constexpr size_t kUuidSize = 16;

// The root of a log device, at offset 0 and again at kCopyOffset. The valid copy with the higher
// generation holds.
//
//   offset size  field
//        0    8  magic "RKTRWAL\n"
//        8    4  version, 2; 1 is the same
//       12    4  block_size: bytes, 512 or 4096
//       16    8  segment_size: bytes, a power of two
//       24    8  segments
//       32    8  generation: grows with each write of the superblock
//       40    8  epoch: grows each time the device is opened for writing
//       48   16  uuid, random
//       64 4028  zero
//     4092    4  masked CRC-32C of bytes 0 to 4091
struct Superblock {
  static constexpr size_t kSize = 4096;
  static constexpr uint64_t kCopyOffset = 64 << 10;
  // Where a device that stalled is asked whether it answers: a block that holds nothing.
  static constexpr uint64_t kProbeOffset = 32 << 10;
  // Segment 0 begins here.
  static constexpr uint64_t kDataOffset = 1 << 20;
  static constexpr uint32_t kVersion = 2;
  // Bounds the memory that is kept for segments: 1 TiB in segments of 64 KiB, 64 TiB in those
  // of 4 MiB.
  static constexpr uint64_t kMaxSegments = 1 << 24;

  uint32_t block_size = 0;
  uint64_t segment_size = 0;
  uint64_t segments = 0;
  uint64_t generation = 0;
  uint64_t epoch = 0;
  std::string uuid;

  uint64_t SegmentOffset(uint64_t segment) const { return kDataOffset + segment * segment_size; }
  uint64_t Size() const { return SegmentOffset(segments); }
  // Returns the bytes of all segments: no log has more on the device.
  uint64_t Capacity() const { return segments * segment_size; }

  std::string Encode() const;
  // Decodes a copy. NotFound: no superblock; Corruption: a damaged one, or it says what cannot be;
  // NotSupported: another version. `device` is for messages.
  static Status Decode(const Slice& bytes, const std::string& device, Superblock* result);
};

// Tells a log from all others, on whatever device: 128 random bits. Version 1 had numbers:
// `high` is 0, and `low` the epoch in the upper half, a counter below.
struct LogId {
  uint64_t high = 0;
  uint64_t low = 0;

  bool IsNumber() const { return high == 0; }
  bool empty() const { return high == 0 && low == 0; }
  bool operator==(const LogId& other) const { return high == other.high && low == other.low; }
  bool operator!=(const LogId& other) const { return !(*this == other); }
  bool operator<(const LogId& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }

  // Returns 32 hexadecimal digits; "EPOCH:COUNTER" for an id of version 1.
  std::string ToString() const;
  static bool Parse(const std::string& text, LogId* result);
};

// Tells a directory from its copies: a rename keeps it, as does a start of the machine. All
// zero: not known.
struct DirectoryId {
  uint64_t born = 0;  // when it was made, in ns since 1970; 0 if the file system does not tell
  uint64_t inode = 0;

  bool known() const { return inode != 0; }
  bool operator==(const DirectoryId& other) const {
    return inode == other.inode && (born == other.born || born == 0 || other.born == 0);
  }
};

// The first block of a segment. All zero: never used. It is written together with the segment's
// first frame, and again, with state kFree, when the log is deleted. Only the first 512 bytes mean
// something, so that no power loss tears it.
//
//   offset size  field
//        0    4  masked CRC-32C of bytes 4 to 511
//        4    4  magic "RSG2"
//        8    4  state: 1 live, 2 free
//       12    4  ordinal: the place of the segment in its log, from 0
//       16   16  log id
//       32    8  segment: its number on the device
//       40   16  uuid of the device
//       56    8  segment_size
//       64    8  segments
//       72    4  block_size
//       76    2  length of name
//       78    2  1 if name is not all of it
//       80   16  directory in which the log was created or adopted: the directory's time of
//                creation, and its inode; 0 if there was none
//       96    8  epoch of the device when this was written
//      104  408  name: the path under which the log was created or adopted, absolute; its end if
//                it is longer
//
// Version 1: the checksum begins with the uuid, the magic is "RSEG", the log id has 8 bytes, and at
// 24 are 8 bytes of segment, 2 of length and 478 of name. It is read, not written.
struct SegmentHeader {
  static constexpr size_t kSize = 512;
  static constexpr size_t kMaxName = 408;
  // The number of what is no segment of the device, but the file of a log in a standby.
  static constexpr uint64_t kInStandby = UINT64_MAX;
  enum class State : uint32_t { kLive = 1, kFree = 2 };

  State state = State::kLive;
  uint32_t ordinal = 0;
  LogId log;
  uint64_t segment = 0;
  DirectoryId directory;
  std::string name;
  bool whole_name = true;

  // Returns whether the bytes look like a segment header, of any device.
  static bool Resembles(const char* bytes);

  void Encode(const Superblock& superblock, char* bytes) const;
  // Decodes a header. False if it is damaged or of another device; see IsZero() for one that was
  // never used.
  static bool Decode(const char* bytes, const std::string& uuid, SegmentHeader* result);
  // Decodes a header of any device, and what it tells of the device: uuid, geometry and epoch.
  // False for headers of version 1, which do not tell that.
  static bool DecodeAny(const char* bytes, SegmentHeader* result, Superblock* superblock);
};

// The header of a frame, at a block boundary. A frame is the header, the payload and zeros
// up to the next block boundary, and lies in one segment.
//
//   offset size  field
//        0    4  masked CRC-32C of the uuid followed by all other bytes of the frame, padding
//                included
//        4   16  log id
//       20    8  offset: of the payload in the log
//       28    8  durable: how many bytes of the log were durable before this frame was written
//       36    4  length of the payload, not 0
//
// Version 1, of a log whose id is a number: at 4 the magic "RFRM", 8 bytes each of log id, offset
// and durable, 4 of length, 4 of zeros.
struct FrameHeader {
  static constexpr size_t kSize = 40;

  LogId log;
  uint64_t offset = 0;
  uint64_t durable = 0;
  uint32_t length = 0;

  // Returns the frame's bytes on the device.
  uint64_t FrameSize(uint32_t block_size) const { return FrameSize(length, block_size); }
  static uint64_t FrameSize(uint64_t length, uint32_t block_size) {
    return (kSize + length + block_size - 1) / block_size * block_size;
  }

  // Completes a frame of FrameSize() bytes whose payload is in its place: header, padding and
  // checksum.
  void Seal(const std::string& uuid, uint32_t block_size, char* frame) const;
  // Decodes the header, without a look at the checksum. False if it cannot be one of this log, or
  // the frame would be longer than `limit` bytes.
  static bool Parse(const char* bytes, LogId log, uint64_t limit, uint32_t block_size,
                    FrameHeader* result);
  // Returns whether a frame that was parsed is whole.
  bool Verify(const std::string& uuid, uint32_t block_size, const char* frame) const;
  // Checks a whole frame. Corruption names the field, at `where`, that says what cannot be. No log
  // has more bytes than `limit`.
  Status CheckBounds(uint64_t limit, const std::string& where) const;
};

// A log's stub: the plain file under the log's own name in the target FileSystem.
//
//   offset size  field
//        0    n  one record of RocksDB's log format (type kFullType) that holds a write batch with
//                an unknown tag, so that RocksDB without the plugin refuses to open the database.
//                Its body:
//                  8 sequence number 0, 4 count 1, 1 tag 0xEE, then 8 magic "RKTRWLOG",
//                  4 version, 2, 16 uuid of the device, 16 log id, 8 size of the tail,
//                  8 epoch of the device, and text for a person who looks at it.
//                  Version 1: 8 bytes of log id, no epoch. Version 3, of a log that may go on in a
//                  standby: 16 id of the standby before the text
//        n       zeros up to kSize, except for
//     4080    8  version 3: 1 if the log goes on in the standby, or began there; 2 if it goes on on
//                the device, and what the standby has of it may end before the log does
//     4088    8  how many bytes of the log are durable, at least. Version 1: 1 when there are any
//     4096       the tail, see Chunk; cut off when the log is closed
//     4096 + size of the tail: frames that found no room on the device
struct Stub {
  static constexpr size_t kSize = 4096;
  static constexpr size_t kSealed = 80;  // bytes at the beginning that never change
  static constexpr size_t kPlaceAt = 4080;
  static constexpr uint64_t kGoesOnInStandby = 1;
  static constexpr uint64_t kGoesOnOnDevice = 2;
  static constexpr size_t kDurableAt = 4088;
  static constexpr uint64_t kMinTail = 1 << 10;  // tails are multiples of it
  static constexpr uint64_t kMaxTail = 64 << 20;
  static constexpr uint32_t kVersion = 2;
  static constexpr uint32_t kVersionWithStandby = 3;

  std::string uuid;
  LogId log;
  std::string standby;      // the id of the one in which the log may go on; empty: in none
  uint64_t tail_size = 0;   // bytes
  uint64_t epoch = 0;       // the device's when the log was created; 0 in version 1
  uint64_t durable = 0;     // bytes
  bool in_standby = false;  // whether anything of the log was acknowledged that is there alone
  bool on_device = false;   // whether the copy of the log in the standby was given up

  uint64_t SpillOffset() const { return kSize + tail_size; }

  std::string Encode() const;
  // Decodes a stub. NotFound: not a stub; NotSupported: of another version; Corruption: cut off,
  // damaged, or it says what cannot be. `path` is for messages.
  static Status Decode(const Slice& bytes, const std::string& path, Stub* result);
};

// The file STANDBY, which makes a directory the standby of a device.
//
//   offset size  field
//        0    8  magic "RKTRSTBY"
//        8    4  version, 1
//       12   16  uuid of the device
//       28   16  id of the standby, random
//       44    4  masked CRC-32C of bytes 0 to 43
struct StandbyMark {
  static constexpr size_t kSize = 48;
  static constexpr uint32_t kVersion = 1;

  std::string uuid;
  std::string id;

  std::string Encode() const;
  // Decodes a mark. Corruption: damaged; NotSupported: of another version. `path` is for messages.
  static Status Decode(const Slice& bytes, const std::string& path, StandbyMark* result);
};

// The header of appended bytes in a log's tail, which may not be on the device yet. The tail has
// two halves, each a run of chunks from its beginning. A chunk belongs to the log if its checksum
// and its log id are right and its offset is where the chunk before it ended. The first one that
// does not belong ends the run.
//
//   offset size  field
//        0    4  masked CRC-32C of the device's uuid followed by all other bytes of the chunk
//        4    4  length of the bytes that follow, not 0
//        8    8  log id: its lower half, as the stub has all of it
//       16    8  offset of these bytes in the log
struct Chunk {
  static constexpr size_t kSize = 24;

  LogId log;
  uint64_t offset = 0;
  uint32_t length = 0;

  // Writes the header for bytes that are in their place behind it.
  void Seal(const std::string& uuid, char* chunk) const;
  // Decodes the chunk and checks it. False if there is no whole chunk of this log at the beginning
  // of `bytes`.
  static bool Decode(const Slice& bytes, const std::string& uuid, LogId log, Chunk* result);
};

// Returns whether all bytes are zero.
bool IsZero(const char* bytes, size_t size);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
