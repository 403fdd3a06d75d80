// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A MANIFEST that a database goes on writing: RocksDB 11 can, instead of beginning a new one. Says when
// there may be more to read.
class FollowedFile : public FSWritableFileOwnerWrapper {
 public:
  FollowedFile(std::unique_ptr<FSWritableFile>&& target, std::function<void()> changed)
      : FSWritableFileOwnerWrapper(std::move(target)), changed_(std::move(changed)) {}

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
  IOStatus Tell(IOStatus s) const {
    changed_();
    return s;
  }

  const std::function<void()> changed_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
