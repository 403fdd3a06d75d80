// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/log.h"

#include <algorithm>
#include <string>

#include "db/log_format.h"
#include "util/coding.h"
#include "util/crc32c.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

namespace {

Status CheckBlock(Slice block) {
  while (block.size() >= log::kHeaderSize) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(block.data());
    const size_t length = bytes[4] | (bytes[5] << 8);
    const int type = bytes[6];
    if (type == log::kZeroType && length == 0) {
      return Status::OK();  // the rest was allocated and not written
    }
    if (type < log::kFullType || type > log::kLastType) {
      return Status::Corruption("record of type " + std::to_string(type));
    }
    const size_t size = log::kHeaderSize + length;
    if (size > block.size()) {
      return Status::OK();  // RocksDB tells whether that is the end of the file
    }
    const uint32_t crc = crc32c::Value(block.data() + 6, size - 6);
    if (crc32c::Unmask(DecodeFixed32(block.data())) != crc) {
      return Status::Corruption("record with a wrong checksum");
    }
    block.remove_prefix(size);
  }
  return Status::OK();
}

}  // namespace

Status CheckLog(const Slice& contents) {
  Status s;
  for (size_t offset = 0; s.ok() && offset < contents.size(); offset += log::kBlockSize) {
    s = CheckBlock(Slice(contents.data() + offset,
                         std::min<size_t>(log::kBlockSize, contents.size() - offset)));
  }
  return s;
}

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
