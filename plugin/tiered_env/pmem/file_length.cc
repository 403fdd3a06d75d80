// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/file_length.h"

#include "plugin/tiered_env/pmem/header.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

IOStatus FileLength::Find() {
  IOStatus s = SizeOf(fd_, path_, &size_);
  if (!s.ok() || size_ == 0) {
    return s;
  }
  if (size_ < kHeaderSize) {
    return IOStatus::Corruption(path_, "too short for a file of a pmem tier");
  }
  std::unique_ptr<Mapping> header;
  s = Mapping::Map(fd_, path_, 0, kHeaderSize, /*writable=*/false, &header);
  if (!s.ok() || header->LoadWord(0) == 0) {
    return s;
  }
  s = CheckRoot(path_, header->data());
  if (s.ok()) {
    header_ = std::move(header);
  }
  return s;
}

IOStatus FileLength::Get(uint64_t* result) {
  *result = 0;
  if (header_ == nullptr) {
    IOStatus s = Find();
    if (!s.ok() || header_ == nullptr) {
      return s;
    }
  }
  if (!UnpackLength(header_->LoadWord(kLengthOffset), result)) {
    return IOStatus::Corruption(path_, "checksum of the length");
  }
  if (kHeaderSize + *result > size_) {
    IOStatus s = SizeOf(fd_, path_, &size_);
    if (!s.ok()) {
      return s;
    }
    if (kHeaderSize + *result > size_) {
      return IOStatus::Corruption(path_, "length " + std::to_string(*result) + " in a file of " +
                                             std::to_string(size_) + " bytes");
    }
  }
  return IOStatus::OK();
}

IOStatus LengthOf(const std::string& path, uint64_t* result) {
  Descriptor fd;
  IOStatus s = OpenFile(path, O_RDONLY, &fd);
  return s.ok() ? FileLength(fd.get(), path).Get(result) : s;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
