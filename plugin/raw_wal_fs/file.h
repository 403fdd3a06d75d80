// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Logs on the device as RocksDB's files: what RawWalFileSystem gives to RocksDB.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "plugin/raw_wal_fs/log.h"
#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/reader.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// A log that RocksDB writes. One thread appends, others may sync. The destructor closes the log if
// Close() was not called.
class LogWritableFile : public FSWritableFile {
 public:
  LogWritableFile(std::shared_ptr<LogWriter> log, const FileOptions& options)
      : FSWritableFile(options), log_(std::move(log)) {}
  ~LogWritableFile() override;

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    return log_->Append(data);
  }
  // Does nothing: appended bytes outlive the process anyway.
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return log_->Sync(); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return log_->Sync(); }
  bool IsSyncThreadSafe() const override { return true; }
  IOStatus RangeSync(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return log_->Write();
  }
  // Accepts only the size that the log has; else NotSupported.
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override;
  IOStatus Close(const IOOptions&, IODebugContext*) override;
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return log_->size(); }
  bool use_direct_io() const override { return false; }
  // Does nothing: the device was allocated when it was formatted.
  IOStatus Allocate(uint64_t, uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
  void PrepareWrite(size_t, size_t, const IOOptions&, IODebugContext*) override {}

 private:
  const std::shared_ptr<LogWriter> log_;
  bool closed_ = false;
};

// A log as ReopenWritableFile() gives it, which is only called to close or to sync it: nothing can
// be appended.
class LogReopenedFile : public FSWritableFile {
 public:
  explicit LogReopenedFile(std::shared_ptr<Log> log) : log_(std::move(log)) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice&, const IOOptions&, IODebugContext*) override;
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return log_->Sync(); }
  IOStatus Truncate(uint64_t size, const IOOptions&, IODebugContext*) override;
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return log_->size(); }

 private:
  const std::shared_ptr<Log> log_;
};

// A log that is read from the first byte to the last, as in a recovery or by a secondary. Sees what
// is appended later, too, in this process or in another one. PathNotFound if the log was deleted by
// another one before all of it was read. Not thread-safe.
class LogSequentialFile : public FSSequentialFile {
 public:
  // Finds the log again, as it is now; null, with OK, if its path is no log's any more.
  using FindAgain = std::function<IOStatus(std::shared_ptr<Log>* log)>;

  LogSequentialFile(std::shared_ptr<Log> log, FindAgain find_again)
      : find_again_(std::move(find_again)),
        reader_(std::make_unique<Reader>(std::move(log), /*ahead=*/true)) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch, IODebugContext*) override;
  IOStatus Skip(uint64_t n) override;

 private:
  bool LookAgain(uint64_t offset, IOStatus* s);

  const FindAgain find_again_;
  std::unique_ptr<Reader> reader_;
  uint64_t offset_ = 0;
};

// A log that is read anywhere. Thread-safe: one thread reads at a time.
class LogRandomAccessFile : public FSRandomAccessFile {
 public:
  explicit LogRandomAccessFile(std::shared_ptr<Log> log) : reader_(std::move(log)) {}

  IOStatus Read(uint64_t offset, size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override;

 private:
  mutable std::mutex mutex_;
  mutable Reader reader_;  // guarded by mutex_
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
