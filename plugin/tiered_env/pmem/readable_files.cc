// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/pmem/readable_files.h"

#include <algorithm>

#include "plugin/tiered_env/pmem/header.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

void CopyTo(char* scratch, Slice* slice) {
  memcpy(scratch, slice->data(), slice->size());
  *slice = Slice(scratch, slice->size());
}

}  // namespace

IOStatus PmemSequentialFile::Open(const std::string& path,
                                  std::unique_ptr<FSSequentialFile>* result) {
  Descriptor fd;
  IOStatus s = OpenFile(path, O_RDONLY, &fd);
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<PmemSequentialFile> file(new PmemSequentialFile(path, std::move(fd)));
  uint64_t length;
  s = file->file_length_.Get(&length);
  if (s.ok()) {
    *result = std::move(file);
  }
  return s;
}

// Calls pread(): a mapping would end the process if the file were truncated, as logs may be.
IOStatus PmemSequentialFile::Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                                  IODebugContext*) {
  *result = Slice();
  uint64_t length;
  IOStatus s = file_length_.Get(&length);
  if (!s.ok()) {
    return s;
  }
  n = static_cast<size_t>(std::min<uint64_t>(n, length - std::min(length, offset_)));
  s = ReadFully(fd_.get(), path_, kHeaderSize + offset_, n, scratch);
  if (s.ok()) {
    offset_ += n;
    *result = Slice(scratch, n);
  }
  return s;
}

IOStatus PmemSequentialFile::Skip(uint64_t n) {
  uint64_t length;
  IOStatus s = file_length_.Get(&length);
  if (s.ok()) {
    offset_ += std::min(n, length - std::min(length, offset_));
  }
  return s;
}

IOStatus PmemRandomAccessFile::Open(const std::string& path, const FileOptions& options,
                                    std::unique_ptr<FSRandomAccessFile>* result) {
  Descriptor fd;
  IOStatus s = OpenFile(path, O_RDONLY, &fd);
  if (!s.ok()) {
    return s;
  }
  std::unique_ptr<PmemRandomAccessFile> file(
      new PmemRandomAccessFile(path, std::move(fd), options.use_mmap_reads));
  s = file->Refresh();
  if (s.ok()) {
    *result = std::move(file);
  }
  return s;
}

IOStatus PmemRandomAccessFile::Refresh() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t length;
  IOStatus s = file_length_.Get(&length);
  if (!s.ok() || length <= length_.load(std::memory_order_relaxed)) {
    return s;
  }
  if (mappings_.empty() || mappings_.back()->size() < kHeaderSize + length) {
    std::unique_ptr<Mapping> mapping;
    s = Mapping::Map(fd_.get(), path_, 0, file_length_.size(), /*writable=*/false, &mapping);
    if (!s.ok()) {
      return s;
    }
    mapping_.store(mapping.get(), std::memory_order_relaxed);
    mappings_.push_back(std::move(mapping));
  }
  length_.store(length, std::memory_order_release);
  return s;
}

IOStatus PmemRandomAccessFile::Find(uint64_t offset, size_t n, Slice* result) const {
  *result = Slice();
  uint64_t length = length_.load(std::memory_order_acquire);
  if (offset > length || n > length - offset) {
    IOStatus s = Refresh();
    if (!s.ok()) {
      return s;
    }
    length = length_.load(std::memory_order_acquire);
  }
  if (offset < length) {
    const Mapping* mapping = mapping_.load(std::memory_order_relaxed);
    *result = Slice(mapping->data() + kHeaderSize + offset,
                    static_cast<size_t>(std::min<uint64_t>(n, length - offset)));
  }
  return IOStatus::OK();
}

IOStatus PmemRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                    char* scratch, IODebugContext*) const {
  IOStatus s = Find(offset, n, result);
  if (s.ok() && !zero_copy_ && scratch != nullptr) {
    CopyTo(scratch, result);
  }
  return s;
}

IOStatus PmemRandomAccessFile::MultiRead(FSReadRequest* requests, size_t count,
                                         const IOOptions& options, IODebugContext* dbg) {
  for (size_t i = 0; i < count; ++i) {
    FSReadRequest& request = requests[i];
    request.status =
        Read(request.offset, request.len, options, &request.result, request.scratch, dbg);
    if (request.status.ok() && request.scratch == nullptr) {
      // The caller owns the slice with this, as FSSupportedOps::kFSBuffer has it; it is the file
      // that does.
      request.fs_scratch = FSAllocationPtr(const_cast<char*>(request.result.data()), [](void*) {});
    }
  }
  return IOStatus::OK();
}

IOStatus PmemRandomAccessFile::ReadAsync(FSReadRequest& request, const IOOptions&,
                                         std::function<void(FSReadRequest&, void*)> callback,
                                         void* callback_argument, void**, IOHandleDeleter*,
                                         IODebugContext*) {
  request.status = Find(request.offset, request.len, &request.result);
  if (request.status.ok() && request.scratch != nullptr) {
    CopyTo(request.scratch, &request.result);
  }
  callback(request, callback_argument);
  return IOStatus::OK();
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
