// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The superblock of a log device, read and written: FORMAT.md, "Superblock".

#pragma once

#include "plugin/raw_wal_fs/device.h"
#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Reads the valid superblock of a device, the copy with the higher generation. NotFound if it has
// none.
IOStatus ReadSuperblock(const Device& device, Superblock* result);

// Writes both copies, one after the other, so that a crash leaves one.
IOStatus WriteSuperblock(Device* device, const Superblock& superblock);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
