// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/fs/open_database.h"
#include "plugin/tiered_env/fs/placed_file.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// A file that a database writes. The tier of an SST is chosen when RocksDB has told all that it
// will of it: when the first byte comes, or a question whose answer depends on the tier. A file
// that finds no room or an error goes to the next tier; an SST or blob file also when it is half
// written.
class TieredWritableFile : public FSWritableFile {
 public:
  // `changed` is called when something was added to a MANIFEST.
  TieredWritableFile(Namespace* names, std::shared_ptr<OpenDatabase> database,
                     const std::string& path, const FileOptions& options,
                     std::function<void()> changed);
  ~TieredWritableFile() override;

  // Chooses the tier and makes the file, if that is not done yet. The first failure is what all
  // later calls return.
  IOStatus Start() const;

  using FSWritableFile::Append;
  using FSWritableFile::PositionedAppend;
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const DataVerificationInfo& verification, IODebugContext* dbg) override;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override;
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& verification, IODebugContext* dbg) override;
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Flush(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus Fsync(const IOOptions& options, IODebugContext* dbg) override;
  IOStatus RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus InvalidateCache(size_t offset, size_t length) override;
  bool IsSyncThreadSafe() const override;
  bool use_direct_io() const override;
  size_t GetRequiredBufferAlignment() const override;
  void SetPreallocationBlockSize(size_t size) override;
  void SetIOPriority(Env::IOPriority priority) override;
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override;
  void PrepareWrite(size_t offset, size_t length, const IOOptions& options,
                    IODebugContext* dbg) override;
  uint64_t GetFileSize(const IOOptions& options, IODebugContext* dbg) override;
  size_t GetUniqueId(char* id, size_t max_size) const override;

 private:
  bool counts() const {
    return request_.kind == Content::kTable || request_.kind == Content::kBlob;
  }
  uint64_t size() const { return open_ == nullptr ? 0 : open_->size(); }
  // Calls write(), which makes the file `end` bytes long, once there is room for them.
  template <typename Write>
  IOStatus WriteUpTo(uint64_t end, const Write& write);
  template <typename SyncFile>
  IOStatus SyncAll(const SyncFile& sync);

  Namespace* const names_;
  const std::shared_ptr<OpenDatabase> database_;
  const std::function<void()> changed_;
  WriteRequest request_;
  bool closed_ = false;

  mutable std::unique_ptr<PlacedFile> open_;  // since Start(), which questions cause, too
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
