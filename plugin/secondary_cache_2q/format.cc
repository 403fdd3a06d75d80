// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/format.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "plugin/secondary_cache_2q/coding.h"
#include "plugin/secondary_cache_2q/crc32c.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/policy.h"
#include "rocksdb/advanced_cache.h"
#include "rocksdb/compression_type.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

constexpr char kMagic[] = "RKT2QSC\n";
static_assert(sizeof(kMagic) == Superblock::kMagicSize + 1, "magic is eight bytes");
constexpr size_t kChecksumOffset = Superblock::kSize - 4;
constexpr size_t kUuidOffset = 40;
constexpr uint64_t kPage = 4096;
// One index entry for each 2 KiB of data: enough unless blocks are smaller, 3% of the file.
constexpr uint64_t kBytesPerSlot = 2048;
// Far above what insertions can count up to, and far below an overflow.
constexpr uint64_t kMaxSequence = uint64_t{1} << 62;

// Of `head` and `bytes`, as if they were one.
uint32_t Checksum(const Slice& head, const Slice& bytes) {
  Crc32c crc;
  crc.Add(head.data(), head.size());
  crc.Add(bytes.data(), bytes.size());
  return crc.Masked();
}

uint64_t RoundUp(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }

bool PowerOfTwo(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }

bool Sound(const Superblock& s) {
  return PowerOfTwo(s.block_size) && s.block_size >= 512 && s.block_size <= 4096 &&
         PowerOfTwo(s.shards) && s.shards <= 4096 && s.capacity > 0 &&
         s.capacity % (uint64_t{s.shards} * s.block_size) == 0 && s.slots > 0 &&
         s.slots % s.shards == 0 && s.UnitsPerShard() <= kMostShardUnits &&
         s.SlotsPerShard() <= kMostBlocks;
}

// What Encoding of a block may say, by the ways in which blocks come into the cache.
bool Sound(const Encoding& e, uint32_t size) {
  if (e.codec == kNoCompression) {
    return e.raw_size == size && e.source <= static_cast<uint8_t>(CacheTier::kNonVolatileBlockTier);
  }
  return (e.codec == kLZ4Compression || e.codec == kZSTD) && e.type == kNoCompression &&
         e.source == static_cast<uint8_t>(CacheTier::kVolatileTier) && e.raw_size > size &&
         e.raw_size <= INT_MAX;
}

}  // namespace

int Superblock::ShardBits() const {
  int bits = 0;
  while (uint32_t{1} << bits < shards) {
    bits++;
  }
  return bits;
}

uint64_t Superblock::IndexEnd() const {
  return RoundUp(IndexOffset() + slots * Slot::kSize, kPage);
}

uint64_t Superblock::OrderSize() const {
  const uint64_t ids = SlotsPerShard();
  return RoundUp(kOrderHead + TwoQ::SavedSize(ids, References()), Slot::kSize);
}

uint64_t Superblock::DataOffset() const { return RoundUp(OrderOffset(shards), kPage); }

uint64_t Superblock::UnitsOf(uint64_t size) const {
  return (BlockHeader::kSize + size + block_size - 1) / block_size;
}

Superblock Superblock::Plan(uint64_t capacity, uint32_t shards, uint32_t block_size) {
  Superblock plan;
  plan.block_size = block_size;
  plan.shards = shards;
  const uint64_t step = uint64_t{shards} * kPage;
  plan.capacity = capacity / step * step;
  const uint64_t wanted = std::max<uint64_t>(plan.capacity / kBytesPerSlot / shards, 1);
  plan.slots = std::min<uint64_t>(wanted, kMostBlocks) * shards;
  return plan;
}

std::string Superblock::Encode() const {
  std::string bytes(kMagic, kMagicSize);
  PutFixed32(&bytes, kVersion);
  PutFixed32(&bytes, block_size);
  PutFixed32(&bytes, shards);
  PutFixed32(&bytes, 0);
  PutFixed64(&bytes, capacity);
  PutFixed64(&bytes, slots);
  bytes.append(uuid);
  bytes.resize(kChecksumOffset, '\0');
  PutFixed32(&bytes, MaskedCrc32c(bytes.data(), bytes.size()));
  return bytes;
}

Status Superblock::Decode(const Slice& bytes, const std::string& file, Superblock* result) {
  if (bytes.size() < kSize || !HasMagic(bytes)) {
    return Status::Corruption(file, "is not a TwoQSecondaryCache file");
  }
  const uint32_t version = DecodeFixed32(bytes.data() + 8);
  if (version != kVersion) {
    return Status::NotSupported(file, "has cache file version " + std::to_string(version) +
                                          "; this build reads version " + std::to_string(kVersion));
  }
  if (DecodeFixed32(bytes.data() + kChecksumOffset) !=
      MaskedCrc32c(bytes.data(), kChecksumOffset)) {
    return Status::Corruption(file, "has a damaged superblock; delete the file to start anew");
  }
  result->block_size = DecodeFixed32(bytes.data() + 12);
  result->shards = DecodeFixed32(bytes.data() + 16);
  result->capacity = DecodeFixed64(bytes.data() + 24);
  result->slots = DecodeFixed64(bytes.data() + 32);
  result->uuid.assign(bytes.data() + kUuidOffset, kUuidSize);
  if (!Sound(*result)) {
    return Status::Corruption(file, "has an impossible superblock; delete the file to start anew");
  }
  return Status::OK();
}

std::string Superblock::Unfinished() {
  std::string bytes(kMagic, kMagicSize);
  bytes.resize(kSize, '\0');
  return bytes;
}

bool Superblock::IsFirstVersion(const Slice& bytes, uint64_t file_size) {
  if (bytes.size() < kSize || !HasMagic(bytes) || DecodeFixed32(bytes.data() + 8) != 1 ||
      DecodeFixed32(bytes.data() + kChecksumOffset) !=
          MaskedCrc32c(bytes.data(), kChecksumOffset)) {
    return false;
  }
  const uint64_t capacity = DecodeFixed64(bytes.data() + 24);
  const uint64_t slots = DecodeFixed64(bytes.data() + 32);
  return capacity <= file_size && slots <= file_size / Slot::kSize &&
         RoundUp(kSize + slots * Slot::kSize, kPage) + capacity <= file_size;
}

bool Superblock::HasMagic(const Slice& bytes) {
  return bytes.starts_with(Slice(kMagic, kMagicSize));
}

void Slot::Encode(const std::string& uuid, char* bytes) const {
  memset(bytes, 0, kSize);
  EncodeFixed32(bytes + 4, size);
  EncodeFixed64(bytes + 8, sequence);
  memcpy(bytes + 16, key, kKeySize);
  EncodeFixed64(bytes + 32, offset);
  EncodeFixed32(bytes, Checksum(uuid, Slice(bytes + 4, kSize - 4)));
}

bool Slot::Decode(const char* bytes, const std::string& uuid, Slot* result, bool* used) {
  *used = std::any_of(bytes, bytes + kSize, [](char c) { return c != 0; });
  if (!*used) {
    return true;
  }
  if (DecodeFixed32(bytes) != Checksum(uuid, Slice(bytes + 4, kSize - 4))) {
    return false;
  }
  result->size = DecodeFixed32(bytes + 4);
  result->sequence = DecodeFixed64(bytes + 8);
  memcpy(result->key, bytes + 16, kKeySize);
  result->offset = DecodeFixed64(bytes + 32);
  return result->size > 0;
}

bool Belongs(const Slot& slot, uint64_t number, const Superblock& superblock) {
  const Slice key(slot.key, Slot::kKeySize);
  const uint64_t shard = ShardOf(KeyHash(key), superblock.ShardBits());
  const uint64_t units = superblock.UnitsPerShard();
  const uint64_t first = shard * units;
  const uint64_t start = slot.offset / superblock.block_size;
  return number / superblock.SlotsPerShard() == shard && FileOfKey(key) != 0 &&
         slot.sequence < kMaxSequence && slot.size > 0 && slot.size <= superblock.LargestBlock() &&
         slot.offset % superblock.block_size == 0 && start >= first && start - first < units &&
         superblock.UnitsOf(slot.size) <= std::min(units - (start - first), kMostUnits);
}

void BlockHeader::Encode(char* extent) const {
  EncodeFixed32(extent + 4, size);
  memcpy(extent + 8, key, sizeof(key));
  EncodeFixed32(extent + 24, encoding.raw_size);
  extent[28] = static_cast<char>(encoding.codec);
  extent[29] = static_cast<char>(encoding.type);
  extent[30] = static_cast<char>(encoding.source);
  extent[31] = 0;
  EncodeFixed32(extent, MaskedCrc32c(extent + 4, kSize - 4 + size));
}

bool BlockHeader::DecodeHead(const char* head, BlockHeader* result, uint32_t* checksum) {
  *checksum = DecodeFixed32(head);
  result->size = DecodeFixed32(head + 4);
  memcpy(result->key, head + 8, sizeof(result->key));
  result->encoding.raw_size = DecodeFixed32(head + 24);
  result->encoding.codec = static_cast<uint8_t>(head[28]);
  result->encoding.type = static_cast<uint8_t>(head[29]);
  result->encoding.source = static_cast<uint8_t>(head[30]);
  return result->size > 0 && Sound(result->encoding, result->size);
}

bool BlockHeader::Decode(const Slice& extent, BlockHeader* result, Slice* bytes) {
  uint32_t checksum;
  if (extent.size() < kSize || !DecodeHead(extent.data(), result, &checksum) ||
      result->size > extent.size() - kSize ||
      checksum != MaskedCrc32c(extent.data() + 4, kSize - 4 + result->size)) {
    return false;
  }
  *bytes = Slice(extent.data() + kSize, result->size);
  return true;
}

namespace {

uint32_t OrderChecksum(const std::string& uuid, uint32_t shard, const Slice& bytes) {
  std::string head = uuid;
  PutFixed32(&head, shard);
  return Checksum(head, bytes);
}

}  // namespace

std::string EncodeOrder(const std::string& uuid, uint32_t shard, const std::string& state) {
  std::string bytes(4, '\0');
  PutFixed32(&bytes, static_cast<uint32_t>(state.size()));
  bytes += state;
  EncodeFixed32(bytes.data(),
                OrderChecksum(uuid, shard, Slice(bytes.data() + 4, bytes.size() - 4)));
  return bytes;
}

uint64_t OrderBytes(const char* head, uint64_t most) {
  return std::min(kOrderHead + uint64_t{DecodeFixed32(head + 4)}, most);
}

Slice DecodeOrder(const std::string& uuid, uint32_t shard, const Slice& bytes) {
  if (bytes.size() < kOrderHead) {
    return Slice();
  }
  const uint64_t size = DecodeFixed32(bytes.data() + 4);
  if (size > bytes.size() - kOrderHead ||
      DecodeFixed32(bytes.data()) !=
          OrderChecksum(uuid, shard, Slice(bytes.data() + 4, kOrderHead - 4 + size))) {
    return Slice();
  }
  return Slice(bytes.data() + kOrderHead, size);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
