// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// A FileSystem that may be asked for files as long as a database has tables of it open. Afterwards
// the application may destroy what is below: the FileSystem of an Env that is no FileSystem itself
// has a plain pointer to it. Thread-safe.
class BorrowedFileSystem {
 public:
  explicit BorrowedFileSystem(std::shared_ptr<FileSystem> file_system)
      : name_(file_system->Name()), file_system_(std::move(file_system)) {}

  const std::string& name() const { return name_; }

  // Tells whether it has no such file. False: it cannot be asked any more.
  bool Lacks(const std::string& path, bool* lacks) const;

  bool HasEnded() const { return ended_.load(std::memory_order_acquire); }

 private:
  friend class FileSystemLease;

  // Waits for a call that is under way. No other begins.
  void End();

  const std::string name_;
  mutable std::mutex mutex_;  // held while the FileSystem is asked
  std::shared_ptr<FileSystem> file_system_;
  std::atomic<bool> ended_{false};
};

// FileSystemLease: shared by all open tables of a FileSystem. The last one ends the loan.
class FileSystemLease {
 public:
  explicit FileSystemLease(const std::shared_ptr<FileSystem>& file_system)
      : borrowed_(std::make_shared<BorrowedFileSystem>(file_system)) {}
  ~FileSystemLease() { borrowed_->End(); }
  FileSystemLease(const FileSystemLease&) = delete;
  FileSystemLease& operator=(const FileSystemLease&) = delete;

  const std::shared_ptr<BorrowedFileSystem>& borrowed() const { return borrowed_; }

 private:
  const std::shared_ptr<BorrowedFileSystem> borrowed_;
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
