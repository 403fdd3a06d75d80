// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/crc32c.h"

#include <endian.h>

#include <cstring>
#include <string>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

std::unique_ptr<FileChecksumGenerator> NewGenerator() {
  // Never destroyed: they are needed until the process ends.
  static const auto& factory = *new auto(GetFileChecksumGenCrc32cFactory());
  static const auto& context = *new FileChecksumGenContext();
  return factory->CreateFileChecksumGenerator(context);
}

}  // namespace

Crc32c::Crc32c() : generator_(NewGenerator()) {}

uint32_t Crc32c::Masked() {
  generator_->Finalize();
  const std::string bytes = generator_->GetChecksum();  // big-endian
  uint32_t crc;
  memcpy(&crc, bytes.data(), sizeof(crc));
  crc = be32toh(crc);
  return (crc >> 15 | crc << 17) + 0xa282ead8;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
