// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/file.h"

#include <algorithm>

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// How many times a read looks for bytes in their new place, if another process has written over the
// old one meanwhile.
constexpr int kLooks = 10;

IOStatus CheckTruncate(const Log& log, uint64_t size) {
  return size == log.size()
             ? IOStatus::OK()
             : IOStatus::NotSupported(log.path(), "is a log on a log device: cannot be truncated");
}

}  // namespace

LogWritableFile::~LogWritableFile() {
  if (!closed_) {
    log_->Close().PermitUncheckedError();
  }
}

IOStatus LogWritableFile::Truncate(uint64_t size, const IOOptions&, IODebugContext*) {
  return CheckTruncate(*log_, size);
}

IOStatus LogWritableFile::Close(const IOOptions&, IODebugContext*) {
  closed_ = true;
  return log_->Close();
}

IOStatus LogReopenedFile::Append(const Slice&, const IOOptions&, IODebugContext*) {
  return IOStatus::NotSupported(log_->path(), "is a log on a log device: cannot be continued");
}

IOStatus LogReopenedFile::Truncate(uint64_t size, const IOOptions&, IODebugContext*) {
  return CheckTruncate(*log_, size);
}

IOStatus LogSequentialFile::Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                                 IODebugContext*) {
  size_t got;
  IOStatus s = reader_->Read(offset_, n, scratch, &got);
  for (int i = 0; got < n && (s.ok() ? i == 0 : s.IsCorruption() && i < kLooks) &&
                  LookAgain(offset_ + got, &s);
       i++) {
    size_t more;
    s = reader_->Read(offset_ + got, n - got, scratch + got, &more);
    got += more;
  }
  offset_ += got;
  *result = Slice(scratch, got);
  return s;
}

// Looks again for a log that another process writes: it may have written more, or over what was
// found, since frames change their places. False if it did neither; then `s` is right.
bool LogSequentialFile::LookAgain(uint64_t offset, IOStatus* s) {
  if (reader_->log().volume().writable()) {
    return false;
  }
  std::shared_ptr<Log> log;
  const IOStatus found = find_again_(&log);
  const bool is_gone = found.IsPathNotFound() ||
                       (found.ok() && (log == nullptr || log->id() != reader_->log().id()));
  if (is_gone && !s->ok()) {
    *s = IOStatus::PathNotFound(reader_->log().path(), "was deleted while it was read");
  }
  if (is_gone || !found.ok() || (s->ok() && log->size() <= offset)) {
    return false;
  }
  reader_ = std::make_unique<Reader>(std::move(log), /*ahead=*/true);
  return true;
}

IOStatus LogSequentialFile::Skip(uint64_t n) {
  offset_ += std::min(n, reader_->log().size() - std::min(offset_, reader_->log().size()));
  return IOStatus::OK();
}

IOStatus LogRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions&, Slice* result,
                                   char* scratch, IODebugContext*) const {
  size_t got;
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus s = reader_.Read(offset, n, scratch, &got);
  *result = Slice(scratch, got);
  return s;
}

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
