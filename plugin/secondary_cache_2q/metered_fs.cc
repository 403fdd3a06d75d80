// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/metered_fs.h"

#include <string>
#include <utility>

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

class MeteredFile : public FSRandomAccessFileOwnerWrapper {
 public:
  MeteredFile(std::unique_ptr<FSRandomAccessFile>&& file, uint64_t* read_bytes)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), read_bytes_(read_bytes) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    IOStatus s = target()->Read(offset, n, options, result, scratch, dbg);
    *read_bytes_ += s.ok() ? result->size() : 0;
    return s;
  }
  IOStatus MultiRead(FSReadRequest* requests, size_t n, const IOOptions& options,
                     IODebugContext* dbg) override {
    IOStatus s = target()->MultiRead(requests, n, options, dbg);
    for (size_t i = 0; s.ok() && i < n; i++) {
      *read_bytes_ += requests[i].status.ok() ? requests[i].result.size() : 0;
    }
    return s;
  }
  // A hint. With NotSupported RocksDB would read the bytes itself.
  IOStatus Prefetch(uint64_t /*offset*/, size_t /*n*/, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }

 private:
  uint64_t* const read_bytes_;
};

class MeteredFileSystem : public FileSystemWrapper {
 public:
  MeteredFileSystem(const std::shared_ptr<FileSystem>& fs, uint64_t* read_bytes)
      : FileSystemWrapper(fs), read_bytes_(read_bytes) {}
  const char* Name() const override { return "TwoQMeteredFileSystem"; }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    std::unique_ptr<FSRandomAccessFile> file;
    IOStatus s = target()->NewRandomAccessFile(path, options, &file, dbg);
    if (s.ok()) {
      *result = std::make_unique<MeteredFile>(std::move(file), read_bytes_);
    }
    return s;
  }

 private:
  uint64_t* const read_bytes_;
};

}  // namespace

std::shared_ptr<FileSystem> NewMeteredFileSystem(const std::shared_ptr<FileSystem>& fs,
                                                 uint64_t* read_bytes) {
  return std::make_shared<MeteredFileSystem>(fs, read_bytes);
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
