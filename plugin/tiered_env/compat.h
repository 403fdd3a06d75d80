// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include "rocksdb/version.h"

// FileSystem::SyncFile() came with 11.0.
#if ROCKSDB_MAJOR >= 11
#define TIERED_HAS_SYNC_FILE 1
#endif

// FSRandomAccessFile::SubmitReadAsync() came with 11.8.
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 8)
#define TIERED_HAS_SUBMIT_READ_ASYNC 1
#endif
