// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/bench/common/slow_device_fs.h"

#include <time.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace rocktier_bench {

using ROCKSDB_NAMESPACE::FileOptions;
using ROCKSDB_NAMESPACE::FileSystem;
using ROCKSDB_NAMESPACE::FSRandomAccessFile;
using ROCKSDB_NAMESPACE::FSRandomAccessFileOwnerWrapper;
using ROCKSDB_NAMESPACE::FSReadRequest;
using ROCKSDB_NAMESPACE::IODebugContext;
using ROCKSDB_NAMESPACE::IOHandleDeleter;
using ROCKSDB_NAMESPACE::IOOptions;
using ROCKSDB_NAMESPACE::IOStatus;
using ROCKSDB_NAMESPACE::Slice;

namespace {

thread_local Reader current_reader = Reader::kBackground;

void SleepMicros(uint64_t micros) {
  timespec left = {static_cast<time_t>(micros / 1000000),
                   static_cast<long>(micros % 1000000 * 1000)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

// 000012.sst, and in a tier of tiered_env 000012.sst.0123456789abcdef.
bool IsTableFile(std::string_view name) {
  constexpr std::string_view kSuffix = ".sst";
  name.remove_prefix(name.rfind('/') + 1);
  const size_t at = name.find(kSuffix);
  const size_t end = at + kSuffix.size();
  return at != std::string_view::npos && (end == name.size() || name[end] == '.');
}

bool IsBelow(std::string_view name, std::string_view folder) {
  return name.size() > folder.size() && name.compare(0, folder.size(), folder) == 0 &&
         name[folder.size()] == '/';
}

class SlowFile : public FSRandomAccessFileOwnerWrapper {
 public:
  SlowFile(std::unique_ptr<FSRandomAccessFile>&& file, SlowDeviceFileSystem* fs)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), fs_(fs) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    fs_->OnReads(1, n);
    return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
  }

  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; ++i) bytes += requests[i].len;
    fs_->OnReads(count, bytes);
    return FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, dbg);
  }

  // The wait comes at submission: later than a device would, never earlier.
  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> callback, void* callback_argument,
                     void** handle, IOHandleDeleter* deleter, IODebugContext* dbg) override {
    fs_->OnReads(1, request.len);
    return FSRandomAccessFileOwnerWrapper::ReadAsync(request, options, std::move(callback),
                                                     callback_argument, handle, deleter, dbg);
  }

 private:
  SlowDeviceFileSystem* const fs_;
};

}  // namespace

ReaderScope::ReaderScope(Reader reader) : before_(current_reader) { current_reader = reader; }

ReaderScope::~ReaderScope() { current_reader = before_; }

SlowDeviceFileSystem::SlowDeviceFileSystem(const std::shared_ptr<FileSystem>& target,
                                           const std::string& folder)
    : FileSystemWrapper(target), folder_(folder) {}

IOStatus SlowDeviceFileSystem::NewRandomAccessFile(const std::string& name,
                                                   const FileOptions& options,
                                                   std::unique_ptr<FSRandomAccessFile>* result,
                                                   IODebugContext* dbg) {
  IOStatus s = target()->NewRandomAccessFile(name, options, result, dbg);
  if (s.ok() && IsTableFile(name) && (folder_.empty() || IsBelow(name, folder_))) {
    result->reset(new SlowFile(std::move(*result), this));
  }
  return s;
}

DeviceReads SlowDeviceFileSystem::Snapshot() const {
  DeviceReads result;
  for (int i = 0; i < kReaders; ++i) {
    result.reads[i] = reads_[i].load(std::memory_order_relaxed);
    result.bytes[i] = bytes_[i].load(std::memory_order_relaxed);
  }
  return result;
}

void SlowDeviceFileSystem::OnReads(uint64_t requests, uint64_t bytes) {
  const int reader = static_cast<int>(current_reader);
  reads_[reader].fetch_add(requests, std::memory_order_relaxed);
  bytes_[reader].fetch_add(bytes, std::memory_order_relaxed);
  const uint64_t micros = latency_us_.load(std::memory_order_relaxed);
  if (micros > 0 && requests > 0) SleepMicros(micros);
}

}  // namespace rocktier_bench
