// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A MANIFEST that a database goes on writing: RocksDB 11 can, instead of beginning a new one. Says
// when there may be more to read.
class FollowedManifest : public FSWritableFileOwnerWrapper {
 public:
  // `manager`: who makes durable what must be so before; or null.
  FollowedManifest(std::unique_ptr<FSWritableFile>&& target, RecoveryManager* manager,
                   std::function<void()> changed)
      : FSWritableFileOwnerWrapper(std::move(target)),
        manager_(manager),
        changed_(std::move(changed)) {}

  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    IOStatus s = Prepare();
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, dbg) : s;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const DataVerificationInfo& verification, IODebugContext* dbg) override {
    IOStatus s = Prepare();
    return s.ok() ? FSWritableFileOwnerWrapper::Append(data, options, verification, dbg) : s;
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    IOStatus s = Prepare();
    return s.ok() ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, dbg) : s;
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& verification,
                            IODebugContext* dbg) override {
    IOStatus s = Prepare();
    return s.ok() ? FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options,
                                                                 verification, dbg)
                  : s;
  }

  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override {
    return Tell(FSWritableFileOwnerWrapper::Flush(options, dbg));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return Tell(FSWritableFileOwnerWrapper::Sync(options, dbg));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return Tell(FSWritableFileOwnerWrapper::Fsync(options, dbg));
  }

 private:
  IOStatus Prepare() const { return manager_ == nullptr ? IOStatus::OK() : manager_->Barrier(); }
  IOStatus Tell(IOStatus s) const {
    changed_();
    return s;
  }

  RecoveryManager* const manager_;
  const std::function<void()> changed_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
