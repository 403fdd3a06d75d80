// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rocksdb/file_system.h"

namespace rocktier {

// A FileSystem that asks before some of its work: an error is what comes of it then. Set the hooks
// while nobody works.
class HookedFs : public ROCKSDB_NAMESPACE::FileSystemWrapper {
 public:
  using IOStatus = ROCKSDB_NAMESPACE::IOStatus;
  using IOOptions = ROCKSDB_NAMESPACE::IOOptions;
  using IODebugContext = ROCKSDB_NAMESPACE::IODebugContext;

  HookedFs() : FileSystemWrapper(FileSystem::Default()) {}
  static const char* kClassName() { return "HookedFs"; }
  const char* Name() const override { return kClassName(); }

  std::function<IOStatus(const std::string& from, const std::string& to)> before_rename;
  std::function<IOStatus(const std::string& from, const std::string& to)> before_link;
  std::function<IOStatus(const std::string& directory)> before_sync_directory;
  std::function<IOStatus(const std::string& path)> before_create;
  std::function<IOStatus(const std::string& path)> before_delete;
  // Called when the size of a file was asked for.
  std::function<void(const std::string& path)> after_size;
  // Of files that are made while it is set; it stays so as long as they are open.
  std::function<IOStatus(const std::string& path)> before_sync;
  // The directory in which there is no direct I/O.
  std::string only_buffered;
  // The directory in which direct I/O is of twice as large pages.
  std::string large_pages;

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    IOStatus s = before_rename ? before_rename(from, to) : IOStatus::OK();
    return s.ok() ? target_->RenameFile(from, to, options, dbg) : s;
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override {
    IOStatus s = before_link ? before_link(from, to) : IOStatus::OK();
    return s.ok() ? target_->LinkFile(from, to, options, dbg) : s;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    IOStatus s = before_delete ? before_delete(path) : IOStatus::OK();
    return s.ok() ? target_->DeleteFile(path, options, dbg) : s;
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    IOStatus s = target_->GetFileSize(path, options, size, dbg);
    if (after_size) {
      after_size(path);
    }
    return s;
  }
  IOStatus NewWritableFile(const std::string& path, const ROCKSDB_NAMESPACE::FileOptions& options,
                           std::unique_ptr<ROCKSDB_NAMESPACE::FSWritableFile>* result,
                           IODebugContext* dbg) override {
    IOStatus s = before_create ? before_create(path) : IOStatus::OK();
    s = s.ok() && options.use_direct_writes ? AskForDirect(path) : s;
    s = s.ok() ? target_->NewWritableFile(path, options, result, dbg) : s;
    if (s.ok() && options.use_direct_writes && IsIn(large_pages, path)) {
      result->reset(new LargePages(std::move(*result)));
    }
    if (s.ok() && before_sync) {
      result->reset(new Synced(this, path, std::move(*result)));
    }
    return s;
  }
  IOStatus NewRandomAccessFile(const std::string& path,
                               const ROCKSDB_NAMESPACE::FileOptions& options,
                               std::unique_ptr<ROCKSDB_NAMESPACE::FSRandomAccessFile>* result,
                               IODebugContext* dbg) override {
    IOStatus s = options.use_direct_reads ? AskForDirect(path) : IOStatus::OK();
    return s.ok() ? target_->NewRandomAccessFile(path, options, result, dbg) : s;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<ROCKSDB_NAMESPACE::FSDirectory>* result,
                        IODebugContext* dbg) override {
    std::unique_ptr<ROCKSDB_NAMESPACE::FSDirectory> directory;
    IOStatus s = target_->NewDirectory(path, options, &directory, dbg);
    if (s.ok()) {
      result->reset(new Directory(this, path, std::move(directory)));
    }
    return s;
  }

 private:
  static bool IsIn(const std::string& directory, const std::string& path) {
    return !directory.empty() && path.compare(0, directory.size(), directory) == 0;
  }
  IOStatus AskForDirect(const std::string& path) const {
    return IsIn(only_buffered, path) ? IOStatus::IOError(path, "Invalid argument") : IOStatus::OK();
  }

  class Synced : public ROCKSDB_NAMESPACE::FSWritableFileOwnerWrapper {
   public:
    Synced(HookedFs* fs, std::string path, std::unique_ptr<FSWritableFile>&& target)
        : FSWritableFileOwnerWrapper(std::move(target)), fs_(fs), path_(std::move(path)) {}
    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      IOStatus s = fs_->before_sync(path_);
      return s.ok() ? FSWritableFileOwnerWrapper::Sync(options, dbg) : s;
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
      IOStatus s = fs_->before_sync(path_);
      return s.ok() ? FSWritableFileOwnerWrapper::Fsync(options, dbg) : s;
    }

   private:
    HookedFs* const fs_;
    const std::string path_;
  };

  class LargePages : public ROCKSDB_NAMESPACE::FSWritableFileOwnerWrapper {
   public:
    using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
    using FSWritableFileOwnerWrapper::PositionedAppend;
    size_t GetRequiredBufferAlignment() const override {
      return 2 * FSWritableFileOwnerWrapper::GetRequiredBufferAlignment();
    }
    IOStatus PositionedAppend(const ROCKSDB_NAMESPACE::Slice& data, uint64_t offset,
                              const IOOptions& options, IODebugContext* dbg) override {
      const size_t page = GetRequiredBufferAlignment();
      return offset % page == 0 && data.size() % page == 0
                 ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, dbg)
                 : IOStatus::IOError("Invalid argument");
    }
  };

  class Directory : public ROCKSDB_NAMESPACE::FSDirectoryWrapper {
   public:
    Directory(HookedFs* fs, std::string path, std::unique_ptr<FSDirectory>&& target)
        : FSDirectoryWrapper(std::move(target)), fs_(fs), path_(std::move(path)) {}
    IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
      IOStatus s = Ask();
      return s.ok() ? FSDirectoryWrapper::Fsync(options, dbg) : s;
    }
    IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                                 const ROCKSDB_NAMESPACE::DirFsyncOptions& reason) override {
      IOStatus s = Ask();
      return s.ok() ? FSDirectoryWrapper::FsyncWithDirOptions(options, dbg, reason) : s;
    }

   private:
    IOStatus Ask() const {
      return fs_->before_sync_directory ? fs_->before_sync_directory(path_) : IOStatus::OK();
    }

    HookedFs* const fs_;
    const std::string path_;
  };
};

}  // namespace rocktier
