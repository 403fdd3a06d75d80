// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What differs between the versions of RocksDB that the plugin is built with.

#pragma once

#include "rocksdb/file_system.h"
#include "rocksdb/version.h"

// FileSystem::SyncFile() came with 11.5. (10.6 announced it, and it was taken back.)
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 5)
#define TIERED_HAS_SYNC_FILE 1
#endif

// FSRandomAccessFile::GetFileSize() and FileOptions::write_hint came with 11.0.
#if ROCKSDB_MAJOR >= 11
#define TIERED_HAS_FILE_SIZE_OF_READER 1
#endif

// CompressionManager, in the place of CompressData(), the log's number for
// log::Reader::Reporter::Corruption(), and records of the log before came with it, too.
#if ROCKSDB_MAJOR >= 11
#define TIERED_HAS_COMPRESSION_MANAGER 1
#define TIERED_HAS_LOG_NUMBER_OF_CORRUPTION 1
#define TIERED_HAS_PREDECESSOR_RECORDS 1
#endif

// FSRandomAccessFile::SubmitReadAsync() came with 11.8.
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 8)
#define TIERED_HAS_SUBMIT_READ_ASYNC 1
#endif

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

inline Env::WriteLifeTimeHint HintOf(const FileOptions& options) {
#if ROCKSDB_MAJOR >= 11
  return options.write_hint;
#else
  (void)options;
  return Env::WLTH_NOT_SET;
#endif
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
