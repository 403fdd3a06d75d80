// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "plugin/hot_promotion/compat.h"
#include "plugin/hot_promotion/lasting.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// UnsyncedFileSystem: syncs nothing. For files that are the only copy of nothing, and whose
// checksums find damage. They outlive the process; a power loss may take them.
class UnsyncedFileSystem : public FileSystemWrapper {
 public:
  explicit UnsyncedFileSystem(const std::shared_ptr<FileSystem>& target)
      : FileSystemWrapper(target) {}

  static const char* kClassName() { return "HotPromotionFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    return Wrap(target()->NewWritableFile(name, options, file, dbg), file);
  }
  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* file, IODebugContext* dbg) override {
    return Wrap(target()->ReopenWritableFile(name, options, file, dbg), file);
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    IOStatus s = target()->GetFileSize(name, options, size, dbg);
    if (!s.ok() && !IsLasting(s)) {
      unsized_.store(true);
    }
    return s;
  }
  // Tells whether the size of a file could not be asked for, for a reason that may pass. RocksDB
  // takes that for Corruption when it opens a database.
  bool unsized() const { return unsized_.load(); }

  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* directory, IODebugContext* dbg) override {
    IOStatus s = target()->NewDirectory(name, options, directory, dbg);
    if (s.ok()) {
      *directory = std::make_unique<Directory>(std::move(*directory));
    }
    return s;
  }
#ifdef HOT_HAS_SYNC_FILE
  IOStatus SyncFile(const std::string& /*name*/, const FileOptions& /*file_options*/,
                    const IOOptions& /*options*/, bool /*use_fsync*/,
                    IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }
#endif

 private:
  class File : public FSWritableFileOwnerWrapper {
   public:
    explicit File(std::unique_ptr<FSWritableFile>&& file)
        : FSWritableFileOwnerWrapper(std::move(file)) {}

    IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
      return Flush(options, dbg);
    }
    IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
      return Flush(options, dbg);
    }
    IOStatus RangeSync(uint64_t /*offset*/, uint64_t /*bytes*/, const IOOptions& /*options*/,
                       IODebugContext* /*dbg*/) override {
      return IOStatus::OK();
    }
  };

  class Directory : public FSDirectoryWrapper {
   public:
    explicit Directory(std::unique_ptr<FSDirectory>&& directory)
        : FSDirectoryWrapper(std::move(directory)) {}

    IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
      return IOStatus::OK();
    }
    IOStatus FsyncWithDirOptions(const IOOptions& /*options*/, IODebugContext* /*dbg*/,
                                 const DirFsyncOptions& /*directory*/) override {
      return IOStatus::OK();
    }
  };

  static IOStatus Wrap(IOStatus s, std::unique_ptr<FSWritableFile>* file) {
    if (s.ok()) {
      *file = std::make_unique<File>(std::move(*file));
    }
    return s;
  }

  std::atomic<bool> unsized_{false};
};

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
