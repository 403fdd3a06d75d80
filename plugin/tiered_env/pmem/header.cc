// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/header.h"

#include <array>
#include <cstring>

#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr size_t kVersionOffset = 8;
constexpr size_t kDataOffset = 12;
constexpr size_t kCrcOffset = 60;

constexpr int kLengthBits = 48;

// CRC-16/CCITT: finds each damage that is not longer than 16 bits.
constexpr std::array<uint16_t, 256> Crc16Table() {
  std::array<uint16_t, 256> table = {};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    }
    table[i] = static_cast<uint16_t>(crc);
  }
  return table;
}

uint16_t Crc16(uint64_t length) {
  static constexpr std::array<uint16_t, 256> kTable = Crc16Table();
  uint16_t crc = 0xffff;
  for (int shift = kLengthBits - 8; shift >= 0; shift -= 8) {
    crc = static_cast<uint16_t>((crc << 8) ^ kTable[((crc >> 8) ^ (length >> shift)) & 0xff]);
  }
  return crc;
}

uint32_t RootCrc(const char* root) { return crc32c::Mask(crc32c::Value(root, kCrcOffset)); }

}  // namespace

uint64_t PackLength(uint64_t length) { return length | uint64_t{Crc16(length)} << kLengthBits; }

bool UnpackLength(uint64_t word, uint64_t* length) {
  *length = word & kMaxLength;
  return PackLength(*length) == word;
}

void EncodeRoot(char* root) {
  memset(root, 0, kRootSize);
  EncodeFixed64(root, kHeaderMagic);
  EncodeFixed32(root + kVersionOffset, kHeaderVersion);
  EncodeFixed32(root + kDataOffset, kHeaderSize);
  EncodeFixed32(root + kCrcOffset, RootCrc(root));
}

IOStatus CheckRoot(const std::string& path, const char* root) {
  if (DecodeFixed64(root) != kHeaderMagic) {
    return IOStatus::Corruption(path, "not a file of a pmem tier");
  }
  if (DecodeFixed32(root + kCrcOffset) != RootCrc(root)) {
    return IOStatus::Corruption(path, "checksum of the pmem header");
  }
  if (DecodeFixed32(root + kVersionOffset) != kHeaderVersion ||
      DecodeFixed32(root + kDataOffset) != kHeaderSize) {
    return IOStatus::NotSupported(path, "a later version of the pmem format");
  }
  return IOStatus::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
