// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Checks and formats log devices.

#pragma once

#include "plugin/raw_wal_fs/format.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Refuses, without a change to anything, a device that cannot be used with these options: it does
// not exist and no size is given, it is blank or holds something else, it was formatted by another
// version.
IOStatus CheckDevice(const RawWalOptions& options);

// Checks the same, and makes the file if it does not exist. Nothing that exists is ever formatted
// here. The name of a file is durable then.
IOStatus CheckOrCreateDevice(const RawWalOptions& options);

// Makes an empty log device. A regular file that does not exist is created and written once.
// InvalidArgument if it holds something, even logs of ours, unless options.force. With
// options.dry_run all is checked, and nothing is written. `made`: the superblock.
IOStatus FormatDevice(const RawWalOptions& options, const RawWalProgress& progress,
                      Superblock* made);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
