// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/file.h"

#include <algorithm>

#include "plugin/raw_wal_fs/fs.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

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

LogSequentialFile::LogSequentialFile(RawWalFileSystem* fs, std::string path,
                                     std::shared_ptr<Log> log)
    : fs_(fs), path_(std::move(path)), reader_(new Reader(std::move(log), /*ahead=*/true)) {}

IOStatus LogSequentialFile::Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                                 IODebugContext*) {
  size_t got;
  IOStatus s = reader_->Read(offset_, n, scratch, &got);
  if (s.ok() && got < n && !reader_->log().volume().writable()) {
    // Another process may have written more.
    std::shared_ptr<Log> log;
    if (fs_->FindLog(path_, /*fresh=*/true, &log).ok() && log != nullptr &&
        log->id() == reader_->log().id() && log->size() > offset_ + got) {
      reader_ = std::make_unique<Reader>(std::move(log), /*ahead=*/true);
      size_t more;
      s = reader_->Read(offset_ + got, n - got, scratch + got, &more);
      got += more;
    }
  }
  offset_ += got;
  *result = Slice(scratch, got);
  return s;
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
