// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/fs/writable_file.h"

#include <algorithm>
#include <utility>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/fs/manifest_file.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

TieredWritableFile::TieredWritableFile(Namespace* names, std::shared_ptr<OpenDatabase> database,
                                       const std::string& path, const FileOptions& options,
                                       std::function<void()> changed)
    : FSWritableFile(options),
      names_(names),
      database_(std::move(database)),
      changed_(std::move(changed)) {
  write_hint_ = HintOf(options);
  request_.path = path;
  request_.options = options;
  uint64_t number;
  request_.kind = ContentOf(path, &number);
  request_.priority = io_priority_;
  request_.hint = write_hint_;
}

TieredWritableFile::~TieredWritableFile() {
  if (!closed_) {
    Close(IOOptions(), nullptr).PermitUncheckedError();
  }
}

IOStatus TieredWritableFile::Start() const {
  if (open_ == nullptr) {
    open_ = std::make_unique<PlacedFile>(names_, database_.get(), &request_);
    open_->Start();
  }
  return open_->status().ok() ? IOStatus::OK() : open_->status();
}

template <typename Write>
IOStatus TieredWritableFile::WriteUpTo(uint64_t end, const Write& write) {
  IOStatus s = Start();
  if (s.ok() && request_.kind == Content::kMeta) {
    s = PrepareManifest(names_->folders(), DirectoryOf(request_.path),
                        database_->recovery_manager());
  }
  while (s.ok()) {
    s = open_->MakeRoom(end);
    if (s.ok()) {
      s = write();
      if (s.IsNoSpace() && counts()) {
        names_->ReportFailure(request_.path, open_->place().tier, s);
      }
    }
    if (!s.IsNoSpace() || !counts()) {
      break;
    }
    s = open_->SpillOver();
  }
  if (!s.ok() && open_->file() != nullptr) {  // whoever tries again shall not come here
    names_->ReportFailure(request_.path, open_->place().tier, s);
  }
  if (s.ok()) {
    const uint64_t size = open_->size();
    open_->place().tier->written_bytes.fetch_add(end - std::min(end, size),
                                                 std::memory_order_relaxed);
    open_->set_size(std::max(size, end));
  }
  return s;
}

IOStatus TieredWritableFile::Append(const Slice& data, const IOOptions& options,
                                    IODebugContext* dbg) {
  return WriteUpTo(size() + data.size(), [&] { return open_->file()->Append(data, options, dbg); });
}

IOStatus TieredWritableFile::Append(const Slice& data, const IOOptions& options,
                                    const DataVerificationInfo& verification, IODebugContext* dbg) {
  return WriteUpTo(size() + data.size(),
                   [&] { return open_->file()->Append(data, options, verification, dbg); });
}

IOStatus TieredWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                              const IOOptions& options, IODebugContext* dbg) {
  return WriteUpTo(offset + data.size(),
                   [&] { return open_->file()->PositionedAppend(data, offset, options, dbg); });
}

IOStatus TieredWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                              const IOOptions& options,
                                              const DataVerificationInfo& verification,
                                              IODebugContext* dbg) {
  return WriteUpTo(offset + data.size(), [&] {
    return open_->file()->PositionedAppend(data, offset, options, verification, dbg);
  });
}

IOStatus TieredWritableFile::Truncate(uint64_t size, const IOOptions& options,
                                      IODebugContext* dbg) {
  IOStatus s = Start();
  if (s.ok()) {
    s = open_->file()->Truncate(size, options, dbg);
  }
  if (s.ok()) {
    open_->set_size(size);
  }
  return s;
}

IOStatus TieredWritableFile::Close(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Start();
  closed_ = true;
  const bool was_volatile = open_->is_volatile();
  if (s.ok() && open_->file() != nullptr) {
    s = open_->KeepTable();
  }
  if (s.ok() && was_volatile && !open_->is_volatile()) {  // it came here after the last sync
    s = open_->file()->Sync(options, dbg);
    s = s.ok() ? open_->SyncStub() : s;
  }
  if (open_->file() == nullptr) {
    return s;
  }
  IOStatus closed = open_->Close(options, dbg);
  return s.ok() ? closed : s;
}

IOStatus TieredWritableFile::Flush(const IOOptions& options, IODebugContext* dbg) {
  IOStatus s = Start();
  if (s.ok()) {
    s = open_->file()->Flush(options, dbg);
  }
  if (s.ok() && request_.kind == Content::kMeta) {
    changed_();
  }
  return s;
}

// Syncs neither an SST in memory nor its stub: its recipe tells what both were.
template <typename SyncFile>
IOStatus TieredWritableFile::SyncAll(const SyncFile& sync) {
  IOStatus s = Start();
  if (s.ok()) {
    s = open_->KeepTable();
  }
  if (s.ok() && open_->is_volatile()) {
    return s;
  }
  if (s.ok()) {
    s = sync();
  }
  if (s.ok()) {
    s = open_->SyncStub();
  }
  if (s.ok() && request_.kind == Content::kMeta) {
    changed_();
  }
  return s;
}

IOStatus TieredWritableFile::Sync(const IOOptions& options, IODebugContext* dbg) {
  return SyncAll([&] { return open_->file()->Sync(options, dbg); });
}

IOStatus TieredWritableFile::Fsync(const IOOptions& options, IODebugContext* dbg) {
  return SyncAll([&] { return open_->file()->Fsync(options, dbg); });
}

IOStatus TieredWritableFile::RangeSync(uint64_t offset, uint64_t bytes, const IOOptions& options,
                                       IODebugContext* dbg) {
  IOStatus s = Start();
  return s.ok() ? open_->file()->RangeSync(offset, bytes, options, dbg) : s;
}

IOStatus TieredWritableFile::InvalidateCache(size_t offset, size_t length) {
  IOStatus s = Start();
  return s.ok() ? open_->file()->InvalidateCache(offset, length) : s;
}

bool TieredWritableFile::IsSyncThreadSafe() const {
  return !counts() && Start().ok() && open_->file()->IsSyncThreadSafe();
}

bool TieredWritableFile::use_direct_io() const {
  return Start().ok() ? open_->direct() : request_.options.use_direct_writes;
}

size_t TieredWritableFile::GetRequiredBufferAlignment() const {
  return Start().ok() ? open_->alignment() : kDefaultPageSize;
}

void TieredWritableFile::SetPreallocationBlockSize(size_t size) {
  FSWritableFile::SetPreallocationBlockSize(size);
  request_.preallocation_block = size;
  if (open_ != nullptr && open_->file() != nullptr) {
    open_->file()->SetPreallocationBlockSize(size);
  }
}

void TieredWritableFile::SetIOPriority(Env::IOPriority priority) {
  FSWritableFile::SetIOPriority(priority);
  request_.priority = priority;
  if (open_ != nullptr && open_->file() != nullptr) {
    open_->file()->SetIOPriority(priority);
  }
}

void TieredWritableFile::SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) {
  FSWritableFile::SetWriteLifeTimeHint(hint);
  request_.hint = hint;
  if (open_ != nullptr && open_->file() != nullptr) {
    open_->file()->SetWriteLifeTimeHint(hint);
  }
}

// Does nothing in memory: there is no fragmentation to be avoided, and what was laid out and is not
// used costs time.
void TieredWritableFile::PrepareWrite(size_t offset, size_t length, const IOOptions& options,
                                      IODebugContext* dbg) {
  if (Start().ok() && !open_->is_volatile()) {
    open_->file()->PrepareWrite(offset, length, options, dbg);
  }
}

uint64_t TieredWritableFile::GetFileSize(const IOOptions& /*options*/, IODebugContext* /*dbg*/) {
  return size();
}

size_t TieredWritableFile::GetUniqueId(char* id, size_t max_size) const {
  return Start().ok() ? open_->file()->GetUniqueId(id, max_size) : 0;
}

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
