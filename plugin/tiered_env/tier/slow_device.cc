// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/tier/slow_device.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "plugin/tiered_env/compat.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

namespace {

constexpr uint64_t kNanosPerSecond = 1000000000;
constexpr uint64_t kNanosPerMicro = 1000;

// How far behind the clock the device may be: sleeps are longer than asked for, by what is a long
// time for one operation.
constexpr uint64_t kCredit = kNanosPerSecond / 1000;

// Some implementations of Sleep take an int.
constexpr uint64_t kLongestSleepMicros = 1000000000;

using Kind = SlowDevice::Kind;

// A sleep ends up to the thread's timer slack late, 50 us as a rule, which would be most of a short
// wait. So it is begun to end early by that, and others run while the rest is waited for.
class ExactClock : public SystemClockWrapper {
 public:
  ExactClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "ExactClock"; }

  void SleepForMicroseconds(int micros) override {
    const uint64_t nanos = static_cast<uint64_t>(micros) * kNanosPerMicro;
    const uint64_t end = NowNanos() + nanos;
    const int slack = prctl(PR_GET_TIMERSLACK);
    const uint64_t early = slack > 0 ? static_cast<uint64_t>(slack) : 0;
    if (nanos > early) {
      timespec left = {static_cast<time_t>((nanos - early) / kNanosPerSecond),
                       static_cast<long>((nanos - early) % kNanosPerSecond)};
      while (nanosleep(&left, &left) != 0 && errno == EINTR) {
      }
    }
    while (NowNanos() < end) {
      sched_yield();
    }
  }
};

// What the files have in common: an operation, and then the wait.
template <typename Operation>
IOStatus Do(SlowDevice* device, Kind kind, uint64_t bytes, const Operation& operation) {
  const uint64_t begin = device->Now();
  IOStatus s = operation();
  device->Wait(begin, kind, 1, s.ok() ? bytes : 0);
  return s;
}

template <typename Operation>
IOStatus DoRead(SlowDevice* device, Slice* result, const Operation& operation) {
  const uint64_t begin = device->Now();
  IOStatus s = operation();
  device->Wait(begin, Kind::kRead, 1, s.ok() ? result->size() : 0);
  return s;
}

class SlowSequentialFile : public FSSequentialFileOwnerWrapper {
 public:
  SlowSequentialFile(std::unique_ptr<FSSequentialFile> file, std::shared_ptr<SlowDevice> device)
      : FSSequentialFileOwnerWrapper(std::move(file)), device_(std::move(device)) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) override {
    return DoRead(device_.get(), result,
                  [&] { return target()->Read(n, options, result, scratch, dbg); });
  }
  IOStatus PositionedRead(uint64_t offset, size_t n, const IOOptions& options, Slice* result,
                          char* scratch, IODebugContext* dbg) override {
    return DoRead(device_.get(), result, [&] {
      return target()->PositionedRead(offset, n, options, result, scratch, dbg);
    });
  }

 private:
  const std::shared_ptr<SlowDevice> device_;
};

class SlowRandomAccessFile : public FSRandomAccessFileOwnerWrapper {
 public:
  SlowRandomAccessFile(std::unique_ptr<FSRandomAccessFile> file, std::shared_ptr<SlowDevice> device)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), device_(std::move(device)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return DoRead(device_.get(), result,
                  [&] { return target()->Read(offset, n, options, result, scratch, dbg); });
  }

  IOStatus MultiRead(FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    const uint64_t begin = device_->Now();
    IOStatus s = target()->MultiRead(requests, count, options, dbg);
    uint64_t bytes = 0;
    for (size_t i = 0; s.ok() && i < count; ++i) {
      bytes += requests[i].status.ok() ? requests[i].result.size() : 0;
    }
    device_->Wait(begin, Kind::kRead, count, bytes);
    return s;
  }

  IOStatus ReadAsync(FSReadRequest& request, const IOOptions& options,
                     std::function<void(FSReadRequest&, void*)> callback, void* callback_argument,
                     void**, IOHandleDeleter*, IODebugContext* dbg) override {
    ReadIntoScratch(&request, options, dbg);
    callback(request, callback_argument);
    return IOStatus::OK();
  }

#ifdef TIERED_HAS_SUBMIT_READ_ASYNC
  bool SubmitReadAsync(FSReadRequest& request, const IOOptions& options,
                       std::function<void(FSReadRequest&)> callback, IODebugContext* dbg) override {
    ReadIntoScratch(&request, options, dbg);
    callback(request);
    return false;
  }
#endif

 private:
  void ReadIntoScratch(FSReadRequest* request, const IOOptions& options, IODebugContext* dbg) {
    request->status =
        Read(request->offset, request->len, options, &request->result, request->scratch, dbg);
    if (request->status.ok() && request->scratch != nullptr &&
        request->result.data() != request->scratch) {
      memcpy(request->scratch, request->result.data(), request->result.size());
      request->result = Slice(request->scratch, request->result.size());
    }
  }

  const std::shared_ptr<SlowDevice> device_;
};

class SlowWritableFile : public FSWritableFileOwnerWrapper {
 public:
  SlowWritableFile(std::unique_ptr<FSWritableFile> file, std::shared_ptr<SlowDevice> device)
      : FSWritableFileOwnerWrapper(std::move(file)), device_(std::move(device)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Write(data.size(), [&] { return target()->Append(data, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const DataVerificationInfo& verification, IODebugContext* dbg) override {
    return Write(data.size(), [&] { return target()->Append(data, options, verification, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return Write(data.size(),
                 [&] { return target()->PositionedAppend(data, offset, options, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& verification,
                            IODebugContext* dbg) override {
    return Write(data.size(), [&] {
      return target()->PositionedAppend(data, offset, options, verification, dbg);
    });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return Write(0, [&] { return target()->Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Write(0, [&] { return target()->Fsync(options, dbg); });
  }
  IOStatus RangeSync(uint64_t offset, uint64_t n, const IOOptions& options,
                     IODebugContext* dbg) override {
    return Write(0, [&] { return target()->RangeSync(offset, n, options, dbg); });
  }

 private:
  template <typename Operation>
  IOStatus Write(uint64_t bytes, const Operation& operation) {
    return Do(device_.get(), Kind::kOther, bytes, operation);
  }

  const std::shared_ptr<SlowDevice> device_;
};

class SlowRandomRWFile : public FSRandomRWFileOwnerWrapper {
 public:
  SlowRandomRWFile(std::unique_ptr<FSRandomRWFile> file, std::shared_ptr<SlowDevice> device)
      : FSRandomRWFileOwnerWrapper(std::move(file)), device_(std::move(device)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options,
                 IODebugContext* dbg) override {
    return Do(device_.get(), Kind::kOther, data.size(),
              [&] { return FSRandomRWFileOwnerWrapper::Write(offset, data, options, dbg); });
  }
  IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    return DoRead(device_.get(), result, [&] {
      return FSRandomRWFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
    });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return Do(device_.get(), Kind::kOther, 0,
              [&] { return FSRandomRWFileOwnerWrapper::Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Do(device_.get(), Kind::kOther, 0,
              [&] { return FSRandomRWFileOwnerWrapper::Fsync(options, dbg); });
  }

 private:
  const std::shared_ptr<SlowDevice> device_;
};

class SlowDirectory : public FSDirectoryWrapper {
 public:
  SlowDirectory(std::unique_ptr<FSDirectory>&& directory, std::shared_ptr<SlowDevice> device)
      : FSDirectoryWrapper(std::move(directory)), device_(std::move(device)) {}

  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Do(device_.get(), Kind::kOther, 0,
              [&] { return FSDirectoryWrapper::Fsync(options, dbg); });
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& directory_options) override {
    return Do(device_.get(), Kind::kOther, 0, [&] {
      return FSDirectoryWrapper::FsyncWithDirOptions(options, dbg, directory_options);
    });
  }

 private:
  const std::shared_ptr<SlowDevice> device_;
};

class EmulatedFileSystem : public FileSystemWrapper {
 public:
  EmulatedFileSystem(const std::shared_ptr<FileSystem>& target, std::shared_ptr<SlowDevice> device)
      : FileSystemWrapper(target), device_(std::move(device)) {}

  const char* Name() const override { return "EmulatedFileSystem"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    return Wrap<SlowSequentialFile>(target()->NewSequentialFile(path, options, result, dbg),
                                    result);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    return Wrap<SlowRandomAccessFile>(target()->NewRandomAccessFile(path, options, result, dbg),
                                      result);
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override {
    return Wrap<SlowWritableFile>(target()->NewWritableFile(path, options, result, dbg), result);
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override {
    return Wrap<SlowWritableFile>(target()->ReopenWritableFile(path, options, result, dbg), result);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override {
    return Wrap<SlowWritableFile>(target()->ReuseWritableFile(path, old_path, options, result, dbg),
                                  result);
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override {
    return Wrap<SlowRandomRWFile>(target()->NewRandomRWFile(path, options, result, dbg), result);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override {
    return Wrap<SlowDirectory>(target()->NewDirectory(path, options, result, dbg), result);
  }
#ifdef TIERED_HAS_SYNC_FILE
  IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) override {
    return Do(device_.get(), Kind::kOther, 0,
              [&] { return target()->SyncFile(path, file_options, options, use_fsync, dbg); });
  }
#endif

 private:
  template <typename Slow, typename File>
  IOStatus Wrap(IOStatus s, std::unique_ptr<File>* file) {
    if (s.ok()) {
      file->reset(new Slow(std::move(*file), device_));
    }
    return s;
  }

  const std::shared_ptr<SlowDevice> device_;
};

}  // namespace

uint64_t SlowDevice::Reserve(uint64_t begin, uint64_t nanos) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_at_ = std::max(free_at_, begin - std::min(begin, kCredit)) + nanos;
  return free_at_;
}

void SlowDevice::Wait(uint64_t begin, Kind kind, uint64_t operations, uint64_t bytes) {
  const uint64_t now = Now();
  uint64_t end = now;
  if (emulation_.slowdown > 1) {
    end += static_cast<uint64_t>(static_cast<double>(now - begin) * (emulation_.slowdown - 1));
  }
  uint64_t nanos = 0;
  if (emulation_.iops > 0) {
    nanos += operations * kNanosPerSecond / emulation_.iops;
  }
  if (emulation_.bandwidth > 0) {
    nanos += static_cast<uint64_t>(static_cast<double>(bytes) * kNanosPerSecond /
                                   static_cast<double>(emulation_.bandwidth));
  }
  if (nanos > 0) {
    end = std::max(end, Reserve(begin, nanos));
  }
  if (kind == Kind::kRead) {
    end += emulation_.read_latency_us * kNanosPerMicro;
  }
  if (end > now) {
    const uint64_t micros = (end - now + kNanosPerMicro - 1) / kNanosPerMicro;
    clock_->SleepForMicroseconds(static_cast<int>(std::min(micros, kLongestSleepMicros)));
  }
}

std::shared_ptr<FileSystem> NewEmulatedFileSystem(const std::shared_ptr<FileSystem>& target,
                                                  const Emulation& emulation,
                                                  const std::shared_ptr<SystemClock>& clock) {
  if (emulation.none()) {
    return target;
  }
  auto device = std::make_shared<SlowDevice>(
      emulation, clock != nullptr ? clock : std::make_shared<ExactClock>());
  return std::make_shared<EmulatedFileSystem>(target, std::move(device));
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
