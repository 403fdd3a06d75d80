// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RawWalFileSystem that takes its options.

#include "plugin/raw_wal_fs/format_device.h"
#include "plugin/raw_wal_fs/fs.h"
#include "plugin/raw_wal_fs/options.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

Status RefuseChange(const std::string& change) {
  return Status::InvalidArgument("RawWalFileSystem: " + change,
                                 "cannot be changed while the FileSystem is in use: close its "
                                 "databases, and make another one");
}

}  // namespace

RawWalFileSystem::RawWalFileSystem(const std::shared_ptr<FileSystem>& target)
    : FileSystemWrapper(target) {
  RegisterOptions(&options_, &OptionTypes());
}

// The device stays open until the FileSystem goes, also when all databases are closed.
bool RawWalFileSystem::InUse() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return volume_ != nullptr || !locked_.empty();
}

// PrepareOptions() would be too late. RocksDB has set the options then, and perhaps another target
// in the place of the one that open logs use.
Status RawWalFileSystem::ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                                     const std::string& name, const std::string& value,
                                     void* address) {
  return InUse() ? RefuseChange(name + "=" + value)
                 : FileSystemWrapper::ParseOption(config, info, name, value, address);
}

Status RawWalFileSystem::PrepareOptions(const ConfigOptions& options) {
  Status s = Validate(options_);
  if (s.ok()) {
    s = CheckDevice(options_);
  }
  if (s.ok()) {
    s = FileSystemWrapper::PrepareOptions(options);
  }
  return s.ok() ? CheckTarget(*target_) : s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
