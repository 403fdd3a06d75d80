// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <memory>
#include <utility>

#include "plugin/tiered_env/wal/active_log.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A write-ahead log that recipes may refer to.
class TrackedFile : public FSWritableFileOwnerWrapper {
 public:
  TrackedFile(std::unique_ptr<FSWritableFile>&& target, std::shared_ptr<ActiveLog> log)
      : FSWritableFileOwnerWrapper(std::move(target)), log_(std::move(log)) {
    log_->Attach(this->target());
  }
  ~TrackedFile() override { log_->Attach(nullptr); }

  using FSWritableFileOwnerWrapper::Append;
  using FSWritableFileOwnerWrapper::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Note([&] { return FSWritableFileOwnerWrapper::Append(data, options, dbg); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const DataVerificationInfo& verification, IODebugContext* dbg) override {
    return Note(
        [&] { return FSWritableFileOwnerWrapper::Append(data, options, verification, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    return Note(
        [&] { return FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, dbg); });
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& verification,
                            IODebugContext* dbg) override {
    return Note([&] {
      return FSWritableFileOwnerWrapper::PositionedAppend(data, offset, options, verification, dbg);
    });
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    return Note([&] { return FSWritableFileOwnerWrapper::Truncate(size, options, dbg); });
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    return log_->Sync([&] { return FSWritableFileOwnerWrapper::Sync(options, dbg); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override {
    return log_->Sync([&] { return FSWritableFileOwnerWrapper::Fsync(options, dbg); });
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    log_->Sync().PermitUncheckedError();  // recipes do not refer to it then
    log_->Attach(nullptr);
    return FSWritableFileOwnerWrapper::Close(options, dbg);
  }

 private:
  // What failed may have been done in part.
  template <typename Write>
  IOStatus Note(const Write& write) {
    log_->Begin();
    IOStatus s = write();
    log_->End();
    return s;
  }

  const std::shared_ptr<ActiveLog> log_;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
