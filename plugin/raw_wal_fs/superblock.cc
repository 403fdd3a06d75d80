// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/superblock.h"

#include <cstring>
#include <string>
#include <utility>

#include "plugin/raw_wal_fs/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

IOStatus NoMemory() { return IOStatus::IOError("raw_wal_fs", "no memory for a buffer"); }

}  // namespace

IOStatus ReadSuperblock(const Device& device, Superblock* result) {
  const Buffer buffer = NewBuffer(Superblock::kSize);
  if (buffer == nullptr) {
    return NoMemory();
  }
  if (device.info().size < Superblock::kDataOffset) {
    return IOStatus::NotFound("device=" + device.path(), "is too small for a log device");
  }
  Status found = Status::NotFound();
  for (const uint64_t offset : {uint64_t{0}, Superblock::kCopyOffset}) {
    IOStatus s = device.Read(offset, Superblock::kSize, buffer.get());
    Superblock copy;
    Status decoded = s.ok() ? Superblock::Decode(Slice(buffer.get(), Superblock::kSize),
                                                 "device=" + device.path(), &copy)
                            : Status(s);
    if (decoded.ok() && (!found.ok() || copy.generation > result->generation)) {
      *result = copy;
    }
    if (!found.ok() && (decoded.ok() || found.IsNotFound())) {
      found = decoded;
    }
  }
  return status_to_io_status(std::move(found));
}

IOStatus WriteSuperblock(Device* device, const Superblock& superblock) {
  const Buffer buffer = NewBuffer(Superblock::kSize);
  if (buffer == nullptr) {
    return NoMemory();
  }
  const std::string bytes = superblock.Encode();
  memcpy(buffer.get(), bytes.data(), bytes.size());
  IOStatus s = device->Write(Superblock::kCopyOffset, Superblock::kSize, buffer.get(), true);
  return s.ok() ? device->Write(0, Superblock::kSize, buffer.get(), true) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
