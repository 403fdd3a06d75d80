// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The volumes that this process has open for writing, one for each device, whichever FileSystem or
// tool opened it.

#pragma once

#include <memory>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/volume.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Finds the volume of these options that this process has open for writing; opens it if need be.
// With a size, a file that does not exist is made. Nothing that exists is ever formatted here. The
// volume stays open until its last user lets go of it. Thread-safe.
// Busy: another process has the device open for writing.
IOStatus OpenForWriting(const RawWalOptions& options, std::shared_ptr<Volume>* result);

// Finds the volume of these options that this process has open for writing, or opens it so that
// nobody else can write to it as long as it is open, and changes nothing: for tools that only say
// what they would do. Thread-safe. Errors as of OpenForWriting().
IOStatus OpenForDryRun(const RawWalOptions& options, std::shared_ptr<Volume>* result);

// Finds the volume that this process has open for writing, or opens one for reading, which is the
// caller's own. Thread-safe.
IOStatus OpenForReading(const RawWalOptions& options, std::shared_ptr<Volume>* result);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
