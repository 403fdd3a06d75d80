// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>

#include "plugin/raw_wal_fs/volume.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Makes an empty volume, in memory, in the place of a device that is lost, and of its size. What
// the standby in `directory` has of that device's logs is read with it. `rocktier wal export` calls
// this.
// InvalidArgument: the directory is no standby. NotFound: it has nothing of a log.
IOStatus OpenLostDevice(const std::string& path, const std::string& directory,
                        std::shared_ptr<Volume>* result);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
