// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// FaultyFs: a FileSystem on which opening an SST for reading is counted and may take long or fail,
// and writing may fail. Nothing does at first. Thread-safe.
class FaultyFs : public FileSystemWrapper {
 public:
  FaultyFs() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "FaultyFs"; }

  // Fails to open a file whose path ends so; empty: none.
  void FailToOpen(const std::string& ending) {
    std::lock_guard<std::mutex> lock(mutex_);
    unopened_ = ending;
  }
  // The path of the SST that was opened last, or was to be.
  std::string last_opened() {
    std::lock_guard<std::mutex> lock(mutex_);
    return last_opened_;
  }
  // Fails to write to files whose path has this text in it; empty: none.
  void FailToWrite(const std::string& text, bool retryable) {
    std::lock_guard<std::mutex> lock(mutex_);
    unwritten_ = text;
    retryable_ = retryable;
  }

  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    if (EndsWith(path, ".sst")) {
      opened++;
      std::this_thread::sleep_for(std::chrono::milliseconds(open_millis));
    }
    return MayOpen(path) ? target()->NewRandomAccessFile(path, options, file, dbg)
                         : IOStatus::IOError("While opening " + path, "test");
  }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    IOStatus s = target()->NewWritableFile(path, options, file, dbg);
    if (s.ok()) {
      *file = std::make_unique<File>(this, path, std::move(*file));
    }
    return s;
  }

  std::atomic<uint64_t> opened{0};  // SSTs
  std::atomic<int> open_millis{0};  // that it takes

 private:
  class File : public FSWritableFileOwnerWrapper {
   public:
    File(FaultyFs* fs, std::string path, std::unique_ptr<FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)), fs_(fs), path_(std::move(path)) {}
    using FSWritableFileOwnerWrapper::Append;
    IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
      IOStatus s = fs_->StatusOfWrite(path_);
      return s.ok() ? target()->Append(data, options, dbg) : s;
    }

   private:
    FaultyFs* const fs_;
    const std::string path_;
  };

  static bool EndsWith(const std::string& text, const std::string& ending) {
    return text.size() >= ending.size() &&
           text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
  }

  bool MayOpen(const std::string& path) {
    std::lock_guard<std::mutex> lock(mutex_);
    last_opened_ = EndsWith(path, ".sst") ? path : last_opened_;
    return unopened_.empty() || !EndsWith(path, unopened_);
  }

  IOStatus StatusOfWrite(const std::string& path) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (unwritten_.empty() || path.find(unwritten_) == std::string::npos) {
      return IOStatus::OK();
    }
    IOStatus s = IOStatus::IOError("While writing " + path, "test");
    s.SetRetryable(retryable_);
    return s;
  }

  std::mutex mutex_;
  // Guarded by mutex_.
  std::string last_opened_;
  std::string unopened_;
  std::string unwritten_;
  bool retryable_ = false;
};

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
