// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/format.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "plugin/raw_wal_fs/coding.h"
#include "plugin/raw_wal_fs/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

constexpr char kSuperblockMagic[] = "RKTRWAL\n";
constexpr char kSegmentMagic[] = "RSG2";
constexpr char kSegmentMagic1[] = "RSEG";
constexpr char kFrameMagic1[] = "RFRM";
constexpr char kStubMagic[] = "RKTRWLOG";
constexpr char kStandbyMagic[] = "RKTRSTBY";
constexpr size_t kSuperblockChecksum = Superblock::kSize - 4;

// RocksDB's log format: checksum, length, type; see db/log_format.h.
constexpr size_t kRecordHeader = 7;
constexpr char kFullType = 1;
// A tag that no write batch knows (db/dbformat.h, ValueType).
constexpr char kUnknownTag = '\xEE';
constexpr size_t kStubBody = 8 + 4 + 1;
constexpr char kStubText[] =
    "The write-ahead log of this name is on a log device of rocktier's raw_wal_fs. Open the "
    "database "
    "with that plugin, or bring the logs back with 'rocktier wal export'. ";

uint32_t Checksum(const std::string& uuid, const char* bytes, size_t size) {
  Crc32c crc;
  crc.Add(uuid.data(), uuid.size());
  crc.Add(bytes, size);
  return crc.Masked();
}

// The checksum at the beginning of `bytes` is of all that follows it.
void SealFirst(const std::string& uuid, char* bytes, size_t size) {
  EncodeFixed32(bytes, Checksum(uuid, bytes + 4, size - 4));
}

bool VerifyFirst(const std::string& uuid, const char* bytes, size_t size) {
  return DecodeFixed32(bytes) == Checksum(uuid, bytes + 4, size - 4);
}

bool IsPowerOfTwo(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

Status Impossible(const std::string& where, const char* field, uint64_t value) {
  return Status::Corruption(
      where, std::string("says ") + field + "=" + std::to_string(value) + ", which cannot be");
}

Status CheckBounds(const Superblock& s, const std::string& device) {
  if (s.block_size != 512 && s.block_size != 4096) {
    return Impossible(device, "block_size", s.block_size);
  }
  if (!IsPowerOfTwo(s.segment_size) || s.segment_size < 4 * uint64_t{s.block_size} ||
      s.segment_size > (uint64_t{1} << 30)) {
    return Impossible(device, "segment_size", s.segment_size);
  }
  if (s.segments == 0 || s.segments > Superblock::kMaxSegments) {
    return Impossible(device, "segments", s.segments);
  }
  return Status::OK();
}

}  // namespace

bool IsZero(const char* bytes, size_t size) {
  return std::all_of(bytes, bytes + size, [](char c) { return c == 0; });
}

std::string Superblock::Encode() const {
  std::string bytes(kSize, '\0');
  char* to = bytes.data();
  memcpy(to, kSuperblockMagic, 8);
  EncodeFixed32(to + 8, kVersion);
  EncodeFixed32(to + 12, block_size);
  EncodeFixed64(to + 16, segment_size);
  EncodeFixed64(to + 24, segments);
  EncodeFixed64(to + 32, generation);
  EncodeFixed64(to + 40, epoch);
  memcpy(to + 48, uuid.data(), std::min(uuid.size(), kUuidSize));
  EncodeFixed32(to + kSuperblockChecksum, MaskedCrc32c(to, kSuperblockChecksum));
  return bytes;
}

Status Superblock::Decode(const Slice& bytes, const std::string& device, Superblock* result) {
  if (bytes.size() < kSize || memcmp(bytes.data(), kSuperblockMagic, 8) != 0) {
    return Status::NotFound(device, "is not a log device of raw_wal_fs");
  }
  const char* from = bytes.data();
  if (DecodeFixed32(from + kSuperblockChecksum) != MaskedCrc32c(from, kSuperblockChecksum)) {
    return Status::Corruption(device, "has a damaged superblock; see 'rocktier wal recover'");
  }
  const uint32_t version = DecodeFixed32(from + 8);
  if (version == 0 || version > kVersion) {
    return Status::NotSupported(device, "has format version " + std::to_string(version) +
                                            "; this build knows versions 1 to " +
                                            std::to_string(kVersion));
  }
  result->block_size = DecodeFixed32(from + 12);
  result->segment_size = DecodeFixed64(from + 16);
  result->segments = DecodeFixed64(from + 24);
  result->generation = DecodeFixed64(from + 32);
  result->epoch = DecodeFixed64(from + 40);
  result->uuid.assign(from + 48, kUuidSize);
  return CheckBounds(*result, device);
}

std::string LogId::ToString() const {
  if (IsNumber()) {
    return std::to_string(low >> 32) + ":" + std::to_string(low & UINT32_MAX);
  }
  char text[33];
  snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(high),
           static_cast<unsigned long long>(low));
  return text;
}

bool LogId::Parse(const std::string& text, LogId* result) {
  const auto number = [&text](size_t begin, size_t end, int base, uint64_t* value) {
    const std::string digits = text.substr(begin, end - begin);
    const char* known = base == 10 ? "0123456789" : "0123456789abcdef";
    if (digits.empty() || digits.size() > 16 ||
        digits.find_first_not_of(known) != std::string::npos) {
      return false;
    }
    *value = strtoull(digits.c_str(), nullptr, base);
    return base == 16 || *value <= UINT32_MAX;
  };
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return text.size() == 32 && number(0, 16, 16, &result->high) &&
           number(16, 32, 16, &result->low) && !result->IsNumber();
  }
  uint64_t epoch;
  uint64_t counter;
  if (!number(0, colon, 10, &epoch) || !number(colon + 1, text.size(), 10, &counter)) {
    return false;
  }
  *result = LogId{0, epoch << 32 | counter};
  return true;
}

bool SegmentHeader::Resembles(const char* bytes) {
  return memcmp(bytes + 4, kSegmentMagic, 4) == 0 || memcmp(bytes + 4, kSegmentMagic1, 4) == 0;
}

void SegmentHeader::Encode(const Superblock& superblock, char* bytes) const {
  memset(bytes, 0, kSize);
  memcpy(bytes + 4, kSegmentMagic, 4);
  EncodeFixed32(bytes + 8, static_cast<uint32_t>(state));
  EncodeFixed32(bytes + 12, ordinal);
  EncodeFixed64(bytes + 16, log.high);
  EncodeFixed64(bytes + 24, log.low);
  EncodeFixed64(bytes + 32, segment);
  memcpy(bytes + 40, superblock.uuid.data(), std::min(superblock.uuid.size(), kUuidSize));
  EncodeFixed64(bytes + 56, superblock.segment_size);
  EncodeFixed64(bytes + 64, superblock.segments);
  EncodeFixed32(bytes + 72, superblock.block_size);
  const size_t length = std::min(name.size(), kMaxName);
  EncodeFixed16(bytes + 76, static_cast<uint16_t>(length));
  EncodeFixed16(bytes + 78, length < name.size() || !whole_name ? 1 : 0);
  EncodeFixed64(bytes + 80, directory.born);
  EncodeFixed64(bytes + 88, directory.inode);
  EncodeFixed64(bytes + 96, superblock.epoch);
  memcpy(bytes + 104, name.data() + (name.size() - length), length);
  SealFirst("", bytes, kSize);
}

namespace {

bool DecodeSegment1(const char* bytes, const std::string& uuid, SegmentHeader* result) {
  constexpr size_t kMaxName1 = 478;
  const uint32_t state = DecodeFixed32(bytes + 8);
  const size_t length = DecodeFixed16(bytes + 32);
  if (!VerifyFirst(uuid, bytes, SegmentHeader::kSize) || (state != 1 && state != 2) ||
      length > kMaxName1) {
    return false;
  }
  *result = SegmentHeader();
  result->state = static_cast<SegmentHeader::State>(state);
  result->ordinal = DecodeFixed32(bytes + 12);
  result->log.low = DecodeFixed64(bytes + 16);
  result->segment = DecodeFixed64(bytes + 24);
  result->name.assign(bytes + 34, length);
  result->whole_name = length < kMaxName1;
  return true;
}

}  // namespace

bool SegmentHeader::DecodeAny(const char* bytes, SegmentHeader* result, Superblock* superblock) {
  const uint32_t state = DecodeFixed32(bytes + 8);
  const size_t length = DecodeFixed16(bytes + 76);
  if (memcmp(bytes + 4, kSegmentMagic, 4) != 0 || !VerifyFirst("", bytes, kSize) ||
      (state != 1 && state != 2) || length > kMaxName) {
    return false;
  }
  result->state = static_cast<State>(state);
  result->ordinal = DecodeFixed32(bytes + 12);
  result->log = LogId{DecodeFixed64(bytes + 16), DecodeFixed64(bytes + 24)};
  result->segment = DecodeFixed64(bytes + 32);
  superblock->uuid.assign(bytes + 40, kUuidSize);
  superblock->segment_size = DecodeFixed64(bytes + 56);
  superblock->segments = DecodeFixed64(bytes + 64);
  superblock->block_size = DecodeFixed32(bytes + 72);
  result->whole_name = DecodeFixed16(bytes + 78) == 0;
  result->directory = DirectoryId{DecodeFixed64(bytes + 80), DecodeFixed64(bytes + 88)};
  superblock->epoch = DecodeFixed64(bytes + 96);
  result->name.assign(bytes + 104, length);
  return CheckBounds(*superblock, "").ok();
}

bool SegmentHeader::Decode(const char* bytes, const std::string& uuid, SegmentHeader* result) {
  if (memcmp(bytes + 4, kSegmentMagic1, 4) == 0) {
    return DecodeSegment1(bytes, uuid, result);
  }
  Superblock superblock;
  return DecodeAny(bytes, result, &superblock) && superblock.uuid == uuid;
}

void FrameHeader::Seal(const std::string& uuid, uint32_t block_size, char* frame) const {
  const uint64_t size = FrameSize(block_size);
  if (log.IsNumber()) {
    memcpy(frame + 4, kFrameMagic1, 4);
    EncodeFixed64(frame + 8, log.low);
    EncodeFixed64(frame + 16, offset);
    EncodeFixed64(frame + 24, durable);
    EncodeFixed32(frame + 32, length);
    EncodeFixed32(frame + 36, 0);
  } else {
    EncodeFixed64(frame + 4, log.high);
    EncodeFixed64(frame + 12, log.low);
    EncodeFixed64(frame + 20, offset);
    EncodeFixed64(frame + 28, durable);
    EncodeFixed32(frame + 36, length);
  }
  memset(frame + kSize + length, 0, size - kSize - length);
  SealFirst(uuid, frame, size);
}

bool FrameHeader::Parse(const char* bytes, LogId log, uint64_t limit, uint32_t block_size,
                        FrameHeader* result) {
  const bool is_number = log.IsNumber();
  if (is_number ? memcmp(bytes + 4, kFrameMagic1, 4) != 0 || DecodeFixed64(bytes + 8) != log.low
                : DecodeFixed64(bytes + 4) != log.high || DecodeFixed64(bytes + 12) != log.low) {
    return false;
  }
  const char* from = bytes + (is_number ? 16 : 20);
  result->log = log;
  result->offset = DecodeFixed64(from);
  result->durable = DecodeFixed64(from + 8);
  result->length = DecodeFixed32(from + 16);
  return result->length > 0 && result->FrameSize(block_size) <= limit &&
         result->offset <= UINT64_MAX - result->length;
}

bool FrameHeader::Verify(const std::string& uuid, uint32_t block_size, const char* frame) const {
  return VerifyFirst(uuid, frame, FrameSize(block_size));
}

Status FrameHeader::CheckBounds(uint64_t limit, const std::string& where) const {
  if (offset > limit || length > limit - offset) {
    return Impossible(where, "offset", offset);
  }
  return durable <= offset + length ? Status::OK() : Impossible(where, "durable", durable);
}

std::string Stub::Encode() const {
  std::string body(kStubBody, '\0');
  EncodeFixed32(body.data() + 8, 1);
  body[12] = kUnknownTag;
  body.append(kStubMagic, 8);
  PutFixed32(&body, standby.empty() ? kVersion : kVersionWithStandby);
  body.append(uuid);
  PutFixed64(&body, log.high);
  PutFixed64(&body, log.low);
  PutFixed64(&body, tail_size);
  PutFixed64(&body, epoch);
  body.append(standby);
  body.append(kStubText);
  std::string result(kRecordHeader, '\0');
  EncodeFixed16(result.data() + 4, static_cast<uint16_t>(body.size()));
  result[6] = kFullType;
  result += body;
  EncodeFixed32(result.data(), MaskedCrc32c(result.data() + 6, result.size() - 6));
  result.resize(kSize, '\0');
  EncodeFixed64(result.data() + kDurableAt, durable);
  return result;
}

Status Stub::Decode(const Slice& bytes, const std::string& path, Stub* result) {
  constexpr size_t kMagicAt = kRecordHeader + kStubBody;
  constexpr size_t kIdAt = kMagicAt + 8 + 4 + kUuidSize;
  constexpr size_t kTextAt = kIdAt + 16 + 8 + 8;
  constexpr size_t kTextAt1 = kIdAt + 8 + 8;
  constexpr size_t kTextAt3 = kTextAt + kUuidSize;
  const auto has = [&bytes](size_t at, const char* text, size_t size) {
    return bytes.size() >= at + size && memcmp(bytes.data() + at, text, size) == 0;
  };
  // The magic or the text is enough: a damaged stub must not be taken for a plain log, which
  // RocksDB may tolerate.
  constexpr size_t kTextSize = sizeof(kStubText) - 1;
  if (!has(kMagicAt, kStubMagic, 8) && !has(kTextAt, kStubText, kTextSize) &&
      !has(kTextAt1, kStubText, kTextSize) && !has(kTextAt3, kStubText, kTextSize)) {
    return Status::NotFound(path, "is not the stub of a log");
  }
  if (bytes.size() < kSize) {
    return Status::Corruption(path, "is the stub of a log, cut off");
  }
  const char* from = bytes.data();
  const size_t length = static_cast<uint8_t>(from[4]) | static_cast<uint8_t>(from[5]) << 8;
  if (kRecordHeader + length > bytes.size() ||
      DecodeFixed32(from) != MaskedCrc32c(from + 6, length + 1)) {
    return Status::Corruption(path, "is a damaged stub of a log");
  }
  const uint32_t version = DecodeFixed32(from + kMagicAt + 8);
  if (version == 0 || version > kVersionWithStandby) {
    return Status::NotSupported(path, "is a stub of version " + std::to_string(version));
  }
  const bool is_first = version == 1;
  result->uuid.assign(from + kMagicAt + 12, kUuidSize);
  result->log = is_first ? LogId{0, DecodeFixed64(from + kIdAt)}
                         : LogId{DecodeFixed64(from + kIdAt), DecodeFixed64(from + kIdAt + 8)};
  result->tail_size = DecodeFixed64(from + kIdAt + (is_first ? 8 : 16));
  result->epoch = is_first ? 0 : DecodeFixed64(from + kIdAt + 24);
  result->standby.assign(from + kTextAt, version == kVersionWithStandby ? kUuidSize : 0);
  if (result->tail_size < kMinTail || result->tail_size > kMaxTail ||
      result->tail_size % kMinTail != 0) {
    return Impossible(path, "tail_size", result->tail_size);
  }
  result->durable = DecodeFixed64(from + kDurableAt);
  const uint64_t place = version == kVersionWithStandby ? DecodeFixed64(from + kPlaceAt) : 0;
  result->in_standby = place == kGoesOnInStandby;
  result->on_device = place == kGoesOnOnDevice;
  return Status::OK();
}

std::string StandbyMark::Encode() const {
  std::string bytes(kStandbyMagic, 8);
  PutFixed32(&bytes, kVersion);
  bytes += uuid;
  bytes += id;
  PutFixed32(&bytes, MaskedCrc32c(bytes.data(), bytes.size()));
  return bytes;
}

Status StandbyMark::Decode(const Slice& bytes, const std::string& path, StandbyMark* result) {
  if (bytes.size() < kSize || memcmp(bytes.data(), kStandbyMagic, 8) != 0 ||
      DecodeFixed32(bytes.data() + kSize - 4) != MaskedCrc32c(bytes.data(), kSize - 4)) {
    return Status::Corruption(path, "is damaged, or not of raw_wal_fs");
  }
  const uint32_t version = DecodeFixed32(bytes.data() + 8);
  if (version != kVersion) {
    return Status::NotSupported(path, "is a standby of version " + std::to_string(version));
  }
  result->uuid.assign(bytes.data() + 12, kUuidSize);
  result->id.assign(bytes.data() + 12 + kUuidSize, kUuidSize);
  return Status::OK();
}

void Chunk::Seal(const std::string& uuid, char* chunk) const {
  EncodeFixed32(chunk + 4, length);
  EncodeFixed64(chunk + 8, log.low);
  EncodeFixed64(chunk + 16, offset);
  SealFirst(uuid, chunk, kSize + length);
}

bool Chunk::Decode(const Slice& bytes, const std::string& uuid, LogId log, Chunk* result) {
  if (bytes.size() < kSize) {
    return false;
  }
  result->length = DecodeFixed32(bytes.data() + 4);
  result->log = log;
  result->offset = DecodeFixed64(bytes.data() + 16);
  return result->length > 0 && result->length <= bytes.size() - kSize &&
         DecodeFixed64(bytes.data() + 8) == log.low &&
         VerifyFirst(uuid, bytes.data(), kSize + result->length);
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
