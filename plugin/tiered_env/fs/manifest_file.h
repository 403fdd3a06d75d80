// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Makes durable what a MANIFEST may name, before anything is appended to it: names in the tiers'
// folders, and recipes, if there is a `manager`. RocksDB syncs the directory first, but not when it
// replays logs (9.10) or imports files.
inline IOStatus PrepareManifest(Folders* folders, const std::string& directory,
                                RecoveryManager* manager) {
  IOStatus s = folders->Sync(directory);
  return s.ok() && manager != nullptr ? manager->Barrier() : s;
}

// A MANIFEST that a database goes on writing: RocksDB 11 can, instead of beginning a new one. Says
// when there may be more to read.
class FollowedManifest : public FSWritableFileOwnerWrapper {
 public:
  // `directory`: of the database. `manager`: null if there is none.
  FollowedManifest(std::unique_ptr<FSWritableFile>&& target, Folders* folders,
                   std::string directory, RecoveryManager* manager, std::function<void()> changed)
      : FSWritableFileOwnerWrapper(std::move(target)),
        folders_(folders),
        directory_(std::move(directory)),
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
  IOStatus Prepare() const { return PrepareManifest(folders_, directory_, manager_); }
  IOStatus Tell(IOStatus s) const {
    changed_();
    return s;
  }

  Folders* const folders_;
  const std::string directory_;
  RecoveryManager* const manager_;
  const std::function<void()> changed_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
