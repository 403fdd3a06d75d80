// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/fs/uses.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A directory with files in tiers. What a stub stands for becomes durable before the stub does. It
// is a use until it is closed: a BackupEngine has directories open as long as it lives.
class TieredDirectory : public FSDirectoryWrapper {
 public:
  TieredDirectory(Folders* folders, Uses* uses, std::string path,
                  std::unique_ptr<FSDirectory>&& target)
      : FSDirectoryWrapper(std::move(target)),
        folders_(folders),
        use_(std::make_unique<Use>(uses)),
        path_(std::move(path)) {}

  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    use_.reset();
    return FSDirectoryWrapper::Close(options, dbg);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = folders_->Sync(path_);
    return s.ok() ? FSDirectoryWrapper::Fsync(options, dbg) : s;
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* dbg,
                               const DirFsyncOptions& reason) override {
    IOStatus s = folders_->Sync(path_);
    return s.ok() ? FSDirectoryWrapper::FsyncWithDirOptions(options, dbg, reason) : s;
  }

 private:
  Folders* const folders_;
  std::unique_ptr<Use> use_;  // null once it is closed: folders_ may be gone then
  const std::string path_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
