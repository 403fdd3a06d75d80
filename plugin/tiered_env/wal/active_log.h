// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "plugin/tiered_env/files/io.h"
#include "plugin/tiered_env/files/names.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A write-ahead log that is being written, or was, to be synced by others than its writer, too.
// When its writer has closed it, all of it is durable, or it has failed. A sync that failed may
// have lost what was written, and the next one would not say so: after it the log does not count as
// durable any more, and nothing new may depend on it. Thread-safe.
class ActiveLog {
 public:
  ActiveLog(FileSystem* fs, std::string path) : fs_(fs), path_(std::move(path)) {}

  // `file` is the log from now on; null: no more.
  void Attach(FSWritableFile* file) {
    std::lock_guard<std::mutex> lock(mutex_);
    file_ = file;
  }
  // Makes the name durable, too, the first time.
  IOStatus SyncName() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!named_) {
      IOStatus s = SyncDirectory(fs_, DirectoryOf(path_));
      named_ = s.ok();
      return s;
    }
    return IOStatus::OK();
  }
  // Something is about to be written, and then it was. In between it may be in the file already, be
  // read there and be referred to.
  void Begin() { begun_.fetch_add(1); }
  void End() { ended_.fetch_add(1); }

  // Has `sync` make durable what was appended, whoever asks.
  template <typename SyncFile>
  IOStatus Sync(const SyncFile& sync) {
    std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t ended = ended_.load();
    IOStatus s = sync();
    synced_ = s.ok() ? ended : synced_;
    failed_.store(failed() || !s.ok(), std::memory_order_release);
    return s;
  }
  // The same, if there is anything to do.
  IOStatus Sync() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failed()) {
      return IOStatus::IOError(path_,
                               "could not be synced before, so it may have lost what was written");
    }
    const uint64_t ended = ended_.load();
    if (synced_ == begun_.load()) {
      return IOStatus::OK();
    }
    IOStatus s = file_ != nullptr && file_->IsSyncThreadSafe() ? file_->Sync(IOOptions(), nullptr)
                                                               : SyncByPath();
    synced_ = s.ok() ? ended : synced_;
    failed_.store(!s.ok(), std::memory_order_release);
    return s;
  }
  bool failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  IOStatus SyncByPath() {
    std::unique_ptr<FSWritableFile> file;
    IOStatus s = fs_->ReopenWritableFile(path_, FileOptions(), &file, nullptr);
    if (s.ok()) {
      s = file->Sync(IOOptions(), nullptr);
    }
    return s.ok() ? file->Close(IOOptions(), nullptr) : s;
  }

  FileSystem* const fs_;
  const std::string path_;
  // Writes. Never less than ended_.
  std::atomic<uint64_t> begun_{0};
  std::atomic<uint64_t> ended_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  // All below: guarded by mutex_.
  uint64_t synced_ = 0;  // of them: those that had ended when the last sync began
  FSWritableFile* file_ = nullptr;
  bool named_ = false;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
