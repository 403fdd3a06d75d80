// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The part of RawWalFileSystem that takes its options.

#include <memory>
#include <string>
#include <utility>

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

const RawWalOptions& RawWalFileSystem::in_force() const {
  const RawWalOptions* const kept = in_force_.load(std::memory_order_acquire);
  return kept != nullptr ? *kept : options_;
}

// What was kept before stays as long as the FileSystem: somebody may be reading it.
void RawWalFileSystem::NoteUse() {
  if (volume_ == nullptr) {
    in_force_.store(nullptr, std::memory_order_release);
  } else if (in_force_.load(std::memory_order_relaxed) == nullptr) {
    kept_.push_back(std::make_unique<const RawWalOptions>(options_));
    in_force_.store(kept_.back().get(), std::memory_order_release);
  }
}

void RawWalFileSystem::SetVolume(std::shared_ptr<Volume> volume) {
  std::lock_guard<std::mutex> lock(mutex_);
  volume_ = std::move(volume);
  NoteUse();
}

// PrepareOptions() would be too late. RocksDB has set the options then, and perhaps another target
// in the place of the one that open logs use.
Status RawWalFileSystem::ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                                     const std::string& name, const std::string& value,
                                     void* address) {
  return InUse() ? RefuseChange(name + "=" + value)
                 : FileSystemWrapper::ParseOption(config, info, name, value, address);
}

// Options that were changed through a pointer are refused, and not in force.
Status RawWalFileSystem::PrepareOptions(const ConfigOptions& options) {
  std::string changed;
  if (!OptionTypeInfo::TypesAreEqual(ConfigOptions(), OptionTypes(), &in_force(), &options_,
                                     &changed)) {
    return RefuseChange(changed);
  }
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
