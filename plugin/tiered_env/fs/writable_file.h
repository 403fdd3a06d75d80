// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/fs/open_database.h"
#include "plugin/tiered_env/tier/placement.h"
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
  TieredWritableFile(Namespace* names, std::shared_ptr<OpenDatabase> database, std::string path,
                     const FileOptions& options, std::function<void()> changed);
  ~TieredWritableFile() override;

  // Chooses the tier and makes the file, if that is not done yet. The first failure is what all
  // later calls return.
  IOStatus Start() const { return started_ && start_.ok() ? IOStatus::OK() : StartOrFail(); }

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
  bool counts() const { return content_ == Content::kTable || content_ == Content::kBlob; }
  IOStatus StartOrFail() const;
  Facts WhatIsKnown() const;
  bool is_volatile() const {
    return content_ == Content::kTable && place_.tier != nullptr && place_.tier->is_volatile();
  }
  // Makes a recipe of what is there, if there is none.
  IOStatus KeepTable();
  // Whether a tier may be tried.
  bool MayUse(const Tier& tier) const;

  Tier* FirstTier(Tier* wanted) const;
  IOStatus StartIn(Tier* first) const;
  IOStatus Open(const Place& place) const;
  // With direct I/O or without, as what was written before, or as RocksDB wants it.
  IOStatus Create(const Place& place, std::unique_ptr<FSWritableFile>* file) const;
  // Calls write(), which makes the file `end` bytes long, once there is room for them.
  template <typename Write>
  IOStatus WriteUpTo(uint64_t end, const Write& write);
  IOStatus MakeRoom(uint64_t end);
  // Goes on in the next tier that has room, with a copy of what was written.
  IOStatus Spill();
  IOStatus CopyFrom(const Place& source);
  void Discard();
  template <typename SyncFile>
  IOStatus SyncAll(const SyncFile& sync);
  // Makes the stub durable, if it is not yet.
  IOStatus SyncStub() const;

  Namespace* const names_;
  const std::shared_ptr<OpenDatabase> database_;
  const std::string path_;
  const FileOptions options_;
  const std::function<void()> changed_;
  Content content_ = Content::kOther;

  // Set by Start(), which questions cause, too.
  mutable bool started_ = false;
  mutable IOStatus start_;
  mutable Place place_;
  mutable std::unique_ptr<FSWritableFile> file_;
  mutable std::unique_ptr<FSWritableFile> stub_;  // until it is durable
  mutable uint64_t reserved_ = 0;                 // bytes of the tier's budget
  // Of the first file: whoever writes lays out its buffers by them, whatever tier it is in later.
  mutable bool direct_ = false;
  mutable size_t alignment_ = 0;  // 0: there was no file yet
  bool complete_ = false;         // nothing more comes, and its end may be anywhere
  mutable std::vector<bool> tried_;
  mutable Purpose purpose_;

  uint64_t kept_ = 0;               // bytes of an SST that a recipe was made of
  mutable bool no_recipe_ = false;  // it was refused one, or would be
  uint64_t size_ = 0;
  bool closed_ = false;
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
