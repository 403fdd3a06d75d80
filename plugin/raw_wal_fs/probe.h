// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <string>

#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Says what a file or device holds that is no log device, "" if it is blank: by libblkid, by what
// is left of a log device or a partition table, or that its beginning or end is not zero.
IOStatus IdentifyContents(const std::string& path, std::string* contents);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
