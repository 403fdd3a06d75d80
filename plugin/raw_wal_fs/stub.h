// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Reads the stubs of logs, whoever writes them. Stub in format.h is the codec.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/raw_wal_fs/format.h"
#include "rocksdb/file_system.h"
#include "rocksdb/io_status.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A run of a log's bytes from `begin` on.
struct Run {
  uint64_t begin = 0;
  std::string bytes;

  uint64_t end() const { return begin + bytes.size(); }
};

// A stub as it is in its file: what it says, and what its tail holds: at most two runs, by offset.
struct StubFile {
  Stub stub;
  std::vector<Run> runs;
};

// Reads a stub, and with `contents` the runs in its tail. NotFound: there is no file, or it is no
// stub.
IOStatus ReadStub(FileSystem* target, const std::string& path, bool contents, StubFile* result);

// Returns whether a stub says that nothing was ever appended to its log.
bool IsOfEmptyLog(FileSystem* target, const std::string& path);

// Writes into a stub where its log goes on, Stub::kGoesOnInStandby or the other one, and how many
// bytes of it are durable there; durably.
IOStatus WritePlace(FSRandomRWFile* stub, uint64_t place, uint64_t bytes);

// Writes a small file, durably, in the place of one of that name, by way of PATH.tmp: a crash
// leaves the one or the other.
IOStatus ReplaceFile(FileSystem* fs, const std::string& path, const Slice& bytes);

// Makes the names in a directory durable.
IOStatus SyncDirectory(FileSystem* fs, const std::string& path);

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
