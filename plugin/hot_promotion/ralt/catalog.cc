// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/catalog.h"

#include <cmath>
#include <cstring>

#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

constexpr size_t kCatalogMagicSize = 8;
static_assert(sizeof(kCatalogMagic) == kCatalogMagicSize + 1, "magic is eight bytes");
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderSize = kCatalogMagicSize + 8;

void PutDouble(std::string* bytes, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  PutFixed64(bytes, bits);
}

bool GetDouble(Slice* bytes, double* value) {
  uint64_t bits;
  if (!GetFixed64(bytes, &bits)) {
    return false;
  }
  memcpy(value, &bits, sizeof(bits));
  return !std::isnan(*value);
}

// Reads a count of things that take at least a byte each.
bool GetCount(Slice* bytes, uint64_t* count) {
  return GetVarint64(bytes, count) && *count <= bytes->size();
}

bool GetNumbers(Slice* bytes, Catalog* c) {
  return GetVarint64(bytes, &c->clock.tick) && GetVarint64(bytes, &c->clock.bytes) &&
         GetVarint64(bytes, &c->next_file) && GetVarint64(bytes, &c->limits.hot) &&
         GetVarint64(bytes, &c->limits.table) && GetVarint64(bytes, &c->stable.hot_bytes) &&
         GetVarint64(bytes, &c->stable.table_bytes) && GetDouble(bytes, &c->alpha) &&
         GetDouble(bytes, &c->hot_rank);
}

bool GetPart(Slice* bytes, Catalog::Part* part) {
  Slice begin;
  if (!GetVarint64(bytes, &part->number) || !GetVarint64(bytes, &part->file_size) ||
      !GetLengthPrefixedSlice(bytes, &begin)) {
    return false;
  }
  part->begin = begin.ToString();
  return true;
}

bool GetRun(Slice* bytes, std::vector<Catalog::Part>* parts) {
  uint64_t count;
  if (!GetCount(bytes, &count) || count == 0) {
    return false;
  }
  parts->resize(count);
  for (Catalog::Part& part : *parts) {
    if (!GetPart(bytes, &part)) {
      return false;
    }
  }
  return true;
}

bool GetRuns(Slice* bytes, std::vector<std::vector<Catalog::Part>>* runs) {
  uint64_t count;
  if (!GetCount(bytes, &count)) {
    return false;
  }
  runs->resize(count);
  for (std::vector<Catalog::Part>& run : *runs) {
    if (!GetRun(bytes, &run)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string Catalog::Encode() const {
  std::string body;
  PutVarint64Varint64(&body, clock.tick, clock.bytes);
  PutVarint64(&body, next_file);
  PutVarint64Varint64(&body, limits.hot, limits.table);
  PutVarint64Varint64(&body, stable.hot_bytes, stable.table_bytes);
  PutDouble(&body, alpha);
  PutDouble(&body, hot_rank);
  PutVarint64(&body, runs.size());
  for (const std::vector<Part>& run : runs) {
    PutVarint64(&body, run.size());
    for (const Part& part : run) {
      PutVarint64Varint64(&body, part.number, part.file_size);
      PutLengthPrefixedSlice(&body, part.begin);
    }
  }
  std::string bytes(kCatalogMagic, kCatalogMagicSize);
  PutFixed32(&bytes, kVersion);
  PutFixed32(&bytes, crc32c::Mask(crc32c::Value(body.data(), body.size())));
  return bytes + body;
}

Status Catalog::Decode(Slice bytes, Catalog* result) {
  if (bytes.size() < kHeaderSize || memcmp(bytes.data(), kCatalogMagic, kCatalogMagicSize) != 0) {
    return Status::Corruption("not a catalog of RALT's");
  }
  const uint32_t version = DecodeFixed32(bytes.data() + kCatalogMagicSize);
  if (version != kVersion) {
    return Status::NotSupported("catalog version " + std::to_string(version) +
                                "; this build reads version " + std::to_string(kVersion));
  }
  const uint32_t checksum = DecodeFixed32(bytes.data() + kCatalogMagicSize + 4);
  bytes.remove_prefix(kHeaderSize);
  if (crc32c::Unmask(checksum) != crc32c::Value(bytes.data(), bytes.size())) {
    return Status::Corruption("the catalog's checksum is wrong");
  }
  if (!GetNumbers(&bytes, result) || !GetRuns(&bytes, &result->runs) || !bytes.empty()) {
    return Status::Corruption("the catalog is malformed");
  }
  return Status::OK();
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
