// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Files of a pmem tier that are read.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/pmem/file_length.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Copies. Sees what is appended later, too, by this or another process, after it came to the end as
// well.
class PmemSequentialFile : public FSSequentialFile {
 public:
  static IOStatus Open(const std::string& path, std::unique_ptr<FSSequentialFile>* result);

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch, IODebugContext*) override;
  IOStatus Skip(uint64_t n) override;
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }

 private:
  PmemSequentialFile(const std::string& path, Descriptor fd)
      : path_(path), fd_(std::move(fd)), file_length_(fd_.get(), path) {}

  const std::string path_;
  const Descriptor fd_;
  FileLength file_length_;
  uint64_t offset_ = 0;
};

// Opened with FileOptions::use_mmap_reads, Read() and MultiRead() give slices of the mapping, which
// live as long as this object; else they copy into `scratch`, if there is one. Without
// allow_mmap_reads much of RocksDB takes for granted that its own buffer is filled:
// FilePrefetchBuffer reports corruption otherwise, MultiGet hands the buffer on, unread, as does
// PlainTable, and a rate limiter reads a block in pieces. With it, RocksDB does with these slices
// what it does with those of its own mapped files: a block that owns no memory stays out of the
// block cache, and iterators and pinned values hold the table and so the file.
class PmemRandomAccessFile : public FSRandomAccessFile {
 public:
  static IOStatus Open(const std::string& path, const FileOptions& options,
                       std::unique_ptr<FSRandomAccessFile>* result);

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override;
  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions&,
                     IODebugContext*) override;
  // Copies, at once.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions&,
                     std::function<void(FSReadRequest&, void*)> callback, void* callback_argument,
                     void** handle, IOHandleDeleter* deleter, IODebugContext*) override;
  // There is nothing to gain by reading ahead; this keeps RocksDB from doing it itself.
  IOStatus Prefetch(uint64_t, size_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(size_t, size_t) override { return IOStatus::OK(); }
#ifdef TIERED_HAS_FILE_SIZE_OF_READER
  IOStatus GetFileSize(uint64_t* result) override {
    IOStatus s = Refresh();
    *result = length_.load(std::memory_order_acquire);
    return s;
  }
#endif

 private:
  PmemRandomAccessFile(const std::string& path, Descriptor fd, bool zero_copy)
      : path_(path), fd_(std::move(fd)), zero_copy_(zero_copy), file_length_(fd_.get(), path) {}

  // What there is of [offset, offset + n), in the mapping.
  IOStatus Find(uint64_t offset, size_t n, Slice* result) const;
  // Takes a new length over.
  IOStatus Refresh() const;

  const std::string path_;
  const Descriptor fd_;
  const bool zero_copy_;

  // mapping_ has at least length_; both only grow. Slices of the mappings before are still in use.
  mutable std::atomic<uint64_t> length_{0};
  mutable std::atomic<const Mapping*> mapping_{nullptr};
  mutable std::mutex mutex_;
  mutable FileLength file_length_;                          // GUARDED_BY(mutex_)
  mutable std::vector<std::unique_ptr<Mapping>> mappings_;  // GUARDED_BY(mutex_)
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
