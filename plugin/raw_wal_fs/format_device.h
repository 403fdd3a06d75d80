// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/volume.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

using Progress = RawWalProgress;

// Refuses, without a change to anything, a device that cannot be used with these options: it does
// not exist and no size is given, it is blank or holds something else, it was formatted by another
// version.
IOStatus CheckDevice(const RawWalOptions& options);

// Makes an empty log device. A regular file that does not exist is created and written once.
// InvalidArgument if it holds something, even logs of ours, unless options.force.
IOStatus FormatDevice(const RawWalOptions& options, const Progress& progress);

// Finds the volume of these options that this process has open for writing; opens it if need be.
// With a size, a file that does not exist is made. Nothing that exists is ever formatted here.
// Busy: another process has the device open for writing.
IOStatus OpenForWriting(const RawWalOptions& options, std::shared_ptr<Volume>* result);

// Finds the volume that this process has open for writing, or opens one for reading, which is the
// caller's own.
IOStatus OpenForReading(const RawWalOptions& options, std::shared_ptr<Volume>* result);

// Says what a file or device holds, "" if it is blank: by libblkid, by what is left of a log device
// or a partition table, or that its beginning or end is not zero.
IOStatus IdentifyContents(const std::string& path, std::string* contents);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
