// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Archives: files with those entries of a log that recipes refer to. See FORMAT.md.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/tiered_env/recipe/entry.h"
#include "plugin/tiered_env/wal/log_reader.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {

class RateLimiter;

namespace tiered_env {

// Writes one archive. Not thread-safe. Without Finish() the file is not whole, and ReadArchive()
// refuses it.
class ArchiveWriter {
 public:
  // `path` is made anew; what was there is lost. `id` is the segment's. `codec` is none, lz4 or
  // zstd: NotSupported names it if RocksDB was built without it, InvalidArgument if it is another
  // one. `limiter` may be null; what is written waits for it at low priority. `fs` and `limiter`
  // outlive the writer.
  static IOStatus Open(FileSystem* fs, const std::string& path, uint64_t id, CompressionType codec,
                       RateLimiter* limiter, std::unique_ptr<ArchiveWriter>* result);
  ~ArchiveWriter();

  // Ordinals ascend. After an error all that follows fails with it.
  IOStatus Add(Ordinal ordinal, const Entry& entry);

  // Writes the footer, syncs and closes the file. The directory is the caller's to sync.
  IOStatus Finish();

  // Length of the file so far.
  uint64_t bytes() const;

 private:
  struct Rep;
  explicit ArchiveWriter(std::unique_ptr<Rep> rep);
  const std::unique_ptr<Rep> rep_;
};

// Shows the archive's entries as they were added, block by block as each turns out to be sound:
// what was shown counts only if the result is OK. Corruption, with path and offset, if it is
// damaged or not whole; NotSupported if it is of a later version or of a codec that RocksDB lacks.
// `id` is set before the first entry. Thread-safe.
IOStatus ReadArchive(FileSystem* fs, const std::string& path, uint64_t* id, EntryVisitor* visitor);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
