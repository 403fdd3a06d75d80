// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/archive_format.h"

#include <cassert>
#include <cstring>
#include <limits>

#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr char kMagic[] = "RKTARCHV";
constexpr size_t kHeaderCrc = ArchiveHeader::kSize - 4;

static_assert(kNoCompression == 0 && kLZ4Compression == 4 && kZSTD == 7, "stored as they are");

uint32_t CrcOf(uint64_t id, uint64_t offset, const char* header, const Slice& block) {
  std::string place;
  PutFixed64(&place, id);
  PutFixed64(&place, offset);
  uint32_t crc = crc32c::Value(place.data(), place.size());
  crc = crc32c::Extend(crc, header + 4, ArchiveBlockHeader::kSize - 4);
  return crc32c::Mask(crc32c::Extend(crc, block.data(), block.size()));
}

bool GetBytes(Slice* from, uint64_t size, Slice* bytes) {
  if (size > from->size()) {
    return false;
  }
  *bytes = Slice(from->data(), static_cast<size_t>(size));
  from->remove_prefix(static_cast<size_t>(size));
  return true;
}

bool GetType(Slice* from, ValueType* type) {
  Slice byte;
  if (!GetBytes(from, 1, &byte)) {
    return false;
  }
  *type = static_cast<ValueType>(byte[0]);
  return true;
}

}  // namespace

std::string ArchiveHeader::Encode() const {
  std::string result(kMagic, 8);
  PutFixed32(&result, kVersion);
  PutFixed64(&result, id);
  result.resize(kHeaderCrc, '\0');
  PutFixed32(&result, crc32c::Mask(crc32c::Value(result.data(), kHeaderCrc)));
  return result;
}

IOStatus ArchiveHeader::Decode(const char* bytes, const std::string& path, ArchiveHeader* result) {
  if (memcmp(bytes, kMagic, 8) != 0) {
    return IOStatus::Corruption(path, "is no archive of a log");
  }
  if (DecodeFixed32(bytes + kHeaderCrc) != crc32c::Mask(crc32c::Value(bytes, kHeaderCrc))) {
    return IOStatus::Corruption(path, "the archive's header, at 0, is damaged");
  }
  const uint32_t version = DecodeFixed32(bytes + 8);
  if (version != kVersion) {
    return IOStatus::NotSupported(path, "is an archive of version " + std::to_string(version));
  }
  result->id = DecodeFixed64(bytes + 12);
  return IOStatus::OK();
}

std::string ArchiveBlockHeader::Encode(uint64_t id, uint64_t offset, const Slice& block) const {
  std::string result(8, '\0');
  result[4] = static_cast<char>(kind);
  PutFixed64(&result, stored);
  PutFixed64(&result, raw);
  EncodeFixed32(result.data(), CrcOf(id, offset, result.data(), block));
  return result;
}

ArchiveBlockHeader ArchiveBlockHeader::Decode(const char* bytes) {
  ArchiveBlockHeader result;
  result.kind = static_cast<uint8_t>(bytes[4]);
  result.stored = DecodeFixed64(bytes + 8);
  result.raw = DecodeFixed64(bytes + 16);
  return result;
}

bool ArchiveBlockHeader::IsSound(const char* bytes, uint64_t id, uint64_t offset,
                                 const Slice& block) {
  return DecodeFixed32(bytes) == CrcOf(id, offset, bytes, block);
}

uint64_t ArchiveBlockBuilder::SizeOf(const Entry& entry) {
  constexpr uint64_t kSteps = 2;  // ordinal, sequence number
  return kSteps + static_cast<uint64_t>(VarintLength(entry.sequence - entry.batch)) + 1 +
         static_cast<uint64_t>(VarintLength(entry.key.size()) + VarintLength(entry.value.size())) +
         entry.key.size() + entry.value.size();
}

void ArchiveBlockBuilder::Add(Ordinal ordinal, const Entry& entry) {
  assert(entry.batch <= entry.sequence);
  if (bytes_.empty()) {
    PutVarint32(&bytes_, ordinal);
    PutVarint64(&bytes_, entry.sequence);
  } else {
    assert(ordinal > ordinal_);
    PutVarint32(&bytes_, ordinal - ordinal_ - 1);
    PutVarsignedint64(&bytes_, static_cast<int64_t>(entry.sequence - sequence_ - 1));
  }
  PutVarint64(&bytes_, entry.sequence - entry.batch);
  bytes_.push_back(static_cast<char>(entry.type));
  PutVarint64Varint64(&bytes_, entry.key.size(), entry.value.size());
  bytes_.append(entry.key.data(), entry.key.size());
  bytes_.append(entry.value.data(), entry.value.size());
  ordinal_ = ordinal;
  sequence_ = entry.sequence;
}

bool ReadArchiveBlock(Slice bytes, uint64_t* next, uint64_t* entries, EntryVisitor* visitor) {
  Entry entry;
  for (bool first = true; !bytes.empty(); first = false) {
    uint32_t ordinal = 0;
    uint64_t sequence = 0;
    int64_t step = 0;
    uint64_t index = 0;
    uint64_t key = 0;
    uint64_t value = 0;
    const bool whole =
        GetVarint32(&bytes, &ordinal) &&
        (first ? GetVarint64(&bytes, &sequence) : GetVarsignedint64(&bytes, &step)) &&
        GetVarint64(&bytes, &index) && GetType(&bytes, &entry.type) && GetVarint64(&bytes, &key) &&
        GetVarint64(&bytes, &value) && GetBytes(&bytes, key, &entry.key) &&
        GetBytes(&bytes, value, &entry.value);
    const uint64_t at = first ? ordinal : *next + ordinal;
    entry.sequence = first ? sequence : entry.sequence + static_cast<uint64_t>(step) + 1;
    if (!whole || at < *next || at > std::numeric_limits<Ordinal>::max() ||
        index > entry.sequence) {
      return false;
    }
    entry.batch = entry.sequence - index;
    *next = at + 1;
    ++*entries;
    visitor->OnEntry(static_cast<Ordinal>(at), entry);
  }
  return true;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
