// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

class BlobIndex;
class BlobSource;
class FilePrefetchBuffer;
class PinnableSlice;

namespace blob_hybrid {

// Tells whether values of a blob file are read in sequence: each begins where the one before ended,
// or shortly after it.
class Sequence {
 public:
  // Takes the next value, with its header. False: a sequence begins with it.
  bool Add(uint64_t offset, uint64_t size);

 private:
  uint64_t end_ = 0;    // of the value before; 0: there was none
  uint64_t bytes_ = 0;  // that were read in sequence
};

// Reads values of blob files, and ahead where they are in sequence: twice as much with each read,
// up to `most` bytes; 0: never. Where little is moved out of a file, or many SSTs refer to it, most
// would be read in vain. Used by one thread.
class BlobReader {
 public:
  BlobReader(BlobSource* source, uint64_t most);
  ~BlobReader();

  // Reads a value. `file_bytes`: of the blob file.
  Status Read(const Slice& user_key, const BlobIndex& index, uint64_t file_bytes,
              PinnableSlice* value);

 private:
  struct File {
    Sequence sequence;
    std::unique_ptr<FilePrefetchBuffer> buffer;
  };

  FilePrefetchBuffer* BufferFor(uint64_t file, uint64_t offset, uint64_t size);

  BlobSource* const source_;
  const uint64_t most_;
  ReadOptions options_;
  std::map<uint64_t, File> files_;  // by number
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
