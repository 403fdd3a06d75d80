// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A FileSystem of which some files hang, as those of a network that is down.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace rocktier {

// HangingFs: calls for files whose path has `hanging` in it do not return before Release().
class HangingFs : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  explicit HangingFs(std::string hanging)
      : FileSystemWrapper(ROCKSDB_NAMESPACE::FileSystem::Default()), hanging_(std::move(hanging)) {}

  const char* Name() const override { return "HangingFs"; }
  void Release() { hangs_ = false; }
  bool is_hanging() const { return waiting_ > 0; }

  ROCKSDB_NAMESPACE::IOStatus NewSequentialFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSSequentialFile>* result,
      ROCKSDB_NAMESPACE::IODebugContext* dbg) override {
    Wait(path);
    return target_->NewSequentialFile(path, options, result, dbg);
  }
  ROCKSDB_NAMESPACE::IOStatus NewWritableFile(
      const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
      std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* result,
      ROCKSDB_NAMESPACE::IODebugContext* dbg) override {
    Wait(path);
    return target_->NewWritableFile(path, options, result, dbg);
  }
  ROCKSDB_NAMESPACE::IOStatus GetFileSize(const std::string& path,
                                          const ROCKSDB_NAMESPACE::IOOptions& options,
                                          uint64_t* size,
                                          ROCKSDB_NAMESPACE::IODebugContext* dbg) override {
    Wait(path);
    return target_->GetFileSize(path, options, size, dbg);
  }
  ROCKSDB_NAMESPACE::IOStatus DeleteFile(const std::string& path,
                                         const ROCKSDB_NAMESPACE::IOOptions& options,
                                         ROCKSDB_NAMESPACE::IODebugContext* dbg) override {
    Wait(path);
    return target_->DeleteFile(path, options, dbg);
  }

 private:
  void Wait(const std::string& path) {
    if (path.find(hanging_) == std::string::npos) {
      return;
    }
    waiting_++;
    while (hangs_) {
      ROCKSDB_NAMESPACE::Env::Default()->SleepForMicroseconds(10000);
    }
    waiting_--;
  }

  const std::string hanging_;
  std::atomic<bool> hangs_{true};
  std::atomic<int> waiting_{0};
};

}  // namespace rocktier
