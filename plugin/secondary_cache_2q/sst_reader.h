// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/cache_key.h"
#include "plugin/secondary_cache_2q/sst_index.h"
#include "rocksdb/comparator.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/iterator.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

class BlockCatcher;

// A data block as RocksDB gives it to a block cache.
struct CaughtBlock {
  std::string key;                        // of the cache
  std::string bytes;                      // what a secondary cache is to keep
  std::string compressed;                 // as it is in the SST; empty: it is not compressed there
  CompressionType type = kNoCompression;  // of `compressed`

  size_t memory() const { return bytes.size() + compressed.size(); }
};

// Reads single data blocks of an SST, in any order, through RocksDB's own reader of SSTs with a
// block cache that catches what is put into it. So checksums are verified, and key and bytes are
// what RocksDB would have in its block cache, whatever the format of the SST. Reads through the
// page cache, whatever the database does. Not thread-safe.
class SstReader {
 public:
  // What a database reads its SSTs with. Keeps nothing of it alive.
  struct Source {
    std::weak_ptr<FileSystem> fs;
    const Comparator* comparator = nullptr;
    // What the database holds as long as it is open. Others may hold it for longer.
    std::vector<std::weak_ptr<void>> held;

    // Whether the database is closed, as far as can be told.
    bool IsClosed() const;
  };

  // Opens an SST and reads its index. The FileSystem lives as long as the result. Aborted: the
  // database is closed.
  static Status Open(const Source& source, const std::string& path,
                     std::unique_ptr<SstReader>* result);
  ~SstReader();

  const SstIndex& index() const { return index_; }
  uint64_t file() const { return keys_.file; }
  // Bytes of the file that were read so far.
  uint64_t read_bytes() const { return read_bytes_; }
  // For one who needs no more than the index.
  SstIndex TakeIndex() { return std::move(index_); }

  // Reads a block. *result lives until the next call. NotFound if it cannot be reached: one user
  // key goes over several blocks.
  Status Read(size_t block, const CaughtBlock** result);

 private:
  SstReader(const std::shared_ptr<FileSystem>& fs, const Comparator* comparator, std::string path);
  Status ReadIndex();
  Status Seek(size_t block);
  Status ReadFirstKey();
  void Keep(size_t block, CaughtBlock&& caught);

  const std::string path_;
  uint64_t read_bytes_ = 0;  // goes after the FileSystem that counts
  const std::unique_ptr<Env> env_;
  std::shared_ptr<BlockCatcher> catcher_;
  std::unique_ptr<SstFileReader> reader_;
  FileKeys keys_;
  SstIndex index_;
  Slice bound_;  // the iterator's
  std::unique_ptr<Iterator> iterator_;
  // The last blocks that were read.
  std::deque<std::pair<size_t, CaughtBlock>> read_;
  size_t kept_bytes_ = 0;  // of these
};

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
