// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rocksdb/file_checksum.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// The CRC-32C of bytes that come in parts. RocksDB computes it: what its public headers have of
// that is the checksum of a file.
class Crc32c {
 public:
  Crc32c();

  void Add(const char* bytes, size_t size) { generator_->Update(bytes, size); }

  // Returns the CRC-32C of all parts, changed as RocksDB changes those that it stores: so the CRC
  // of bytes that hold their own one is nothing special. To be called once, after all parts.
  uint32_t Masked();

 private:
  const std::unique_ptr<FileChecksumGenerator> generator_;
};

// The same of one part.
inline uint32_t MaskedCrc32c(const char* bytes, size_t size) {
  Crc32c crc;
  crc.Add(bytes, size);
  return crc.Masked();
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
