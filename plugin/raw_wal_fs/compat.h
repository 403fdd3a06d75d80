// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include "rocksdb/version.h"

// FileSystem::SyncFile() came with 11.5. (10.6 announced it, and it was taken back.)
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 5)
#define RAW_WAL_HAS_SYNC_FILE 1
#endif
