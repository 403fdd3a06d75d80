// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "plugin/tiered_env/files/folders.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A directory with files in tiers. What a stub stands for becomes durable before the stub does.
class TieredDirectory : public FSDirectoryWrapper {
 public:
  TieredDirectory(Folders* folders, std::string path, std::unique_ptr<FSDirectory>&& target)
      : FSDirectoryWrapper(std::move(target)), folders_(folders), path_(std::move(path)) {}

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
  const std::string path_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
