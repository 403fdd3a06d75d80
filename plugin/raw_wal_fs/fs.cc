// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/raw_wal_fs/fs.h"

#include <algorithm>

#include "plugin/raw_wal_fs/file.h"
#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/logger.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/open_logs.h"
#include "plugin/raw_wal_fs/open_volumes.h"
#include "plugin/raw_wal_fs/sync_points.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

namespace {

// How many times a log is looked at before it is believed to be damaged.
constexpr int kLooks = 5;

}  // namespace

IOStatus RawWalFileSystem::Refuse(const std::string& path, const std::string& what) {
  return IOStatus::NotSupported(path, "is a log on a log device: cannot be " + what);
}

RawWalFileSystem::~RawWalFileSystem() = default;

std::string RawWalFileSystem::GetPrintableOptions() const {
  RawWalStats stats;
  AddStats(&stats);
  return FileSystemWrapper::GetPrintableOptions() + stats.ToString();
}

// Sets the mark by which NewWritableFile() knows a log.
FileOptions RawWalFileSystem::OptimizeForLogWrite(const FileOptions& options,
                                                  const DBOptions& db_options) const {
  FileOptions optimized = target_->OptimizeForLogWrite(options, db_options);
  optimized.io_options.type = IOType::kWAL;
  optimized.use_direct_writes = false;
  log_period_.store(db_options.stats_dump_period_sec, std::memory_order_relaxed);
  return optimized;
}

bool RawWalFileSystem::IsLog(const std::string& path, const FileOptions& options) const {
  if (options.io_options.type == IOType::kWAL) {
    return IsStubName(path);
  }
  if (!IsLogName(path) || IsTrashName(path)) {
    return false;
  }
  const std::string directory = DirectoryOf(path);
  std::lock_guard<std::mutex> lock(mutex_);
  return std::any_of(locked_.begin(), locked_.end(),
                     [&](const auto& locked) { return locked.second == directory; });
}

IOStatus RawWalFileSystem::ForWriting(std::shared_ptr<Volume>* result) {
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus s;
  if (volume_ == nullptr || !volume_->writable()) {
    s = OpenForWriting(in_force(), &volume_);
    NoteUse();
  }
  *result = volume_;
  return s;
}

IOStatus RawWalFileSystem::ForReading(std::shared_ptr<Volume>* result) {
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus s;
  if (volume_ == nullptr || !volume_->writable()) {
    s = OpenForReading(in_force(), &volume_);
    NoteUse();
  }
  *result = volume_;
  return s;
}

IOStatus RawWalFileSystem::FindStub(const std::string& path, bool contents, StubFile* result) {
  return IsStubName(path) ? ReadStub(target_.get(), path, contents, result) : IOStatus::NotFound();
}

IOStatus RawWalFileSystem::IsStub(const std::string& path, bool* result) {
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  *result = s.ok();
  return s.IsNotFound() ? IOStatus::OK() : s;
}

IOStatus RawWalFileSystem::CheckWhole(const std::string& path, uint64_t* size) {
  StubFile stub;
  std::shared_ptr<Volume> volume;
  std::shared_ptr<RecoveredLog> log;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  s = s.ok() ? ForReading(&volume) : s;
  s = s.ok() ? CheckStub(path, stub.stub, *volume) : s;
  s = s.ok() ? Recover(volume, path, &log) : s;
  if (s.ok()) {
    *size = log->size();
    s = log->CheckWhole();
  }
  return s;
}

IOStatus RawWalFileSystem::FindLog(const std::string& path, bool fresh,
                                   std::shared_ptr<Log>* result) {
  result->reset();
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  if (s.IsNotFound()) {
    return IOStatus::OK();
  }
  std::shared_ptr<Volume> volume;
  if (s.ok()) {
    s = ForReading(&volume);
  }
  if (s.ok()) {
    s = CheckStub(path, stub.stub, *volume);
  }
  if (!s.ok()) {
    return s;
  }
  *result = FindOpenLog(*volume, stub.stub.log);
  if (*result != nullptr) {
    return s;
  }
  // Taken before it is found: if it is deleted from here on, its segments wait for its readers.
  const std::shared_ptr<void> keep = volume->Keep(stub.stub.log);
  if (volume->writable() || !fresh) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = found_.find(stub.stub.log);
    if (it != found_.end() && &it->second->volume() == volume.get()) {
      *result = KeptLog(it->second, keep);
      return s;
    }
  }
  std::shared_ptr<RecoveredLog> recovered;
  s = Recover(volume, path, &recovered);
  if (s.ok()) {
    *result = KeptLog(recovered, keep);
    TEST_SYNC_POINT_CALLBACK("RawWalFileSystem::FindLog:Found", result);
    std::lock_guard<std::mutex> lock(mutex_);
    found_[recovered->id()] = recovered;
  }
  // If the log was deleted meanwhile, its name went first.
  const LogId id = stub.stub.log;
  IOStatus again = FindStub(path, /*contents=*/false, &stub);
  if (again.ok() && stub.stub.log == id) {
    return s;
  }
  Forget(id);
  result->reset();
  return IOStatus::PathNotFound(path);
}

void RawWalFileSystem::Forget(LogId log) {
  std::lock_guard<std::mutex> lock(mutex_);
  found_.erase(log);
}

// Looks several times: a log that another process writes may look damaged, if a header was read
// before it was written and the next segment's after that, or if frames were: then it is looked at
// again.
IOStatus RawWalFileSystem::Recover(const std::shared_ptr<Volume>& volume, const std::string& path,
                                   std::shared_ptr<RecoveredLog>* result) {
  IOStatus s;
  bool doubtful = true;
  for (int looks = volume->writable() ? 1 : kLooks; doubtful && looks > 0; looks--) {
    // Reads the tail first: what goes from there to the device meanwhile is found there.
    StubFile stub;
    s = FindStub(path, /*contents=*/true, &stub);
    if (s.ok() && !volume->writable()) {
      s = volume->Refresh();
    }
    std::shared_ptr<Standby> standby;
    if (s.ok()) {
      s = StandbyOf(path, stub.stub, &standby);
    }
    if (s.ok()) {
      s = RecoveredLog::Recover(volume, target_.get(), path, standby.get(), std::move(stub),
                                in_force().force, result);
    }
    doubtful = s.ok() ? (*result)->is_doubtful() : s.IsCorruption();
  }
  return s;
}

IOStatus RawWalFileSystem::NewSequentialFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<FSSequentialFile>* result,
                                             IODebugContext* dbg) {
  return WithLog(
      path,
      [&](const std::shared_ptr<Log>& log) {
        *result =
            std::make_unique<LogSequentialFile>(log, [this, path](std::shared_ptr<Log>* found) {
              return FindLog(path, /*fresh=*/true, found);
            });
        return IOStatus::OK();
      },
      [&] { return target_->NewSequentialFile(path, options, result, dbg); });
}

IOStatus RawWalFileSystem::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                               std::unique_ptr<FSRandomAccessFile>* result,
                                               IODebugContext* dbg) {
  return WithLog(
      path,
      [&](const std::shared_ptr<Log>& log) {
        *result = std::make_unique<LogRandomAccessFile>(log);
        return IOStatus::OK();
      },
      [&] { return target_->NewRandomAccessFile(path, options, result, dbg); });
}

IOStatus RawWalFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSWritableFile>* result,
                                           IODebugContext* dbg) {
  IOStatus s = TakeWalDirOf(path);
  if (!s.ok()) {
    return s;
  }
  StubFile stub;
  s = FindStub(path, /*contents=*/false, &stub);
  if (!s.IsNotFound()) {
    s = DeleteFile(path, options.io_options, dbg);
    if (s.ok() && FindStub(path, /*contents=*/false, &stub).ok()) {
      s = IOStatus::Busy(path, "is a log that will be deleted when its device answers");
    }
    if (!s.ok()) {
      return s;
    }
  }
  if (!IsLog(path, options)) {
    return target_->NewWritableFile(path, options, result, dbg);
  }
  std::shared_ptr<Volume> volume;
  s = ForWriting(&volume);
  s = s.ok() ? SetAsideCopy(path) : s;
  if (!s.ok()) {
    return s;
  }
  LogWriter::Settings settings = SettingsOfLogs(&volume->counters());
  s = StandbyForWriting(*volume, &settings.standby);
  if (!s.ok()) {
    return s;
  }
  std::shared_ptr<LogWriter> log;
  s = LogWriter::Create(volume, settings, path, &log);
  if (s.IsNoSpace() && in_force().on_full == OnFull::kSpill) {
    settings.on_spill(path, s);
    return target_->NewWritableFile(path, options, result, dbg);
  }
  if (s.ok()) {
    *result = std::make_unique<LogWritableFile>(std::move(log), options);
  }
  return s;
}

LogWriter::Settings RawWalFileSystem::SettingsOfLogs(Counters* counters) const {
  LogWriter::Settings settings;
  settings.target = target_.get();
  settings.tail_size = in_force().tail_size;
  settings.on_full = in_force().on_full;
  settings.on_create = AddOpenLog;
  settings.on_spill = [this, counters](const std::string& path, const IOStatus& reason) {
    counters->logs_spilled++;
    Warn(InfoLog(), "raw_wal_fs: %s goes on in FileSystem %s: %s", path.c_str(), target_->Name(),
         reason.ToString().c_str());
  };
  settings.failover_latency = std::chrono::milliseconds(in_force().failover_latency);
  settings.health = Health::Limits(in_force());
  settings.mode = in_force().hedge                       ? StandbyMode::kHedge
                  : in_force().durable == Durable::kBoth ? StandbyMode::kMirror
                                                         : StandbyMode::kFailover;
  settings.on_failover = [this](const std::string& path, const IOStatus& reason) {
    Warn(InfoLog(), "raw_wal_fs: %s goes on in standby=%s: %s", path.c_str(),
         in_force().standby.c_str(), reason.ToString().c_str());
  };
  settings.on_no_copy = [this](const std::string& path, const IOStatus& reason) {
    Warn(InfoLog(), "raw_wal_fs: %s goes on in device=%s alone: %s", path.c_str(),
         in_force().device.c_str(), reason.ToString().c_str());
  };
  return settings;
}

IOStatus RawWalFileSystem::StandbyForWriting(const Volume& volume,
                                             std::shared_ptr<Standby>* result) {
  result->reset();
  if (in_force().standby.empty()) {
    return IOStatus::OK();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  IOStatus s = standby_ != nullptr ? IOStatus::OK()
                                   : Standby::OpenForWriting(target_, in_force().standby,
                                                             volume.superblock().uuid, &standby_);
  *result = standby_;
  return s;
}

IOStatus RawWalFileSystem::StandbyOf(const std::string& path, const Stub& stub,
                                     std::shared_ptr<Standby>* result) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    *result = standby_;
  }
  IOStatus s = Standby::OfStub(target_, in_force().standby, path, stub, result);
  if (!s.ok() && in_force().force) {  // takes what there is without it
    result->reset();
    s = IOStatus::OK();
  }
  return s;
}

IOStatus RawWalFileSystem::ReopenWritableFile(const std::string& path, const FileOptions& options,
                                              std::unique_ptr<FSWritableFile>* result,
                                              IODebugContext* dbg) {
  return WithLog(
      path,
      [&](const std::shared_ptr<Log>& log) {
        *result = std::make_unique<LogReopenedFile>(log);
        return IOStatus::OK();
      },
      [&] { return target_->ReopenWritableFile(path, options, result, dbg); });
}

IOStatus RawWalFileSystem::ReuseWritableFile(const std::string& path, const std::string& old_path,
                                             const FileOptions& options,
                                             std::unique_ptr<FSWritableFile>* result,
                                             IODebugContext* dbg) {
  if (!IsLogName(path)) {
    return target_->ReuseWritableFile(path, old_path, options, result, dbg);
  }
  IOStatus s = DeleteFile(old_path, options.io_options, dbg);
  return s.ok() ? NewWritableFile(path, options, result, dbg) : s;
}

IOStatus RawWalFileSystem::NewRandomRWFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSRandomRWFile>* result,
                                           IODebugContext* dbg) {
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  return s.IsNotFound() ? target_->NewRandomRWFile(path, options, result, dbg)
                        : Refuse(path, "opened for random writes");
}

IOStatus RawWalFileSystem::NewMemoryMappedFileBuffer(
    const std::string& path, std::unique_ptr<MemoryMappedFileBuffer>* result) {
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  return s.IsNotFound() ? target_->NewMemoryMappedFileBuffer(path, result)
                        : Refuse(path, "mapped into memory");
}

IOStatus RawWalFileSystem::Truncate(const std::string& path, size_t size, const IOOptions& options,
                                    IODebugContext* dbg) {
  StubFile stub;
  IOStatus s = FindStub(path, /*contents=*/false, &stub);
  return s.IsNotFound() ? target_->Truncate(path, size, options, dbg) : Refuse(path, "truncated");
}

IOStatus RawWalFileSystem::LinkFile(const std::string& from, const std::string& to,
                                    const IOOptions& options, IODebugContext* dbg) {
  StubFile stub;
  IOStatus s = FindStub(from, /*contents=*/false, &stub);
  return s.IsNotFound() ? target_->LinkFile(from, to, options, dbg) : Refuse(from, "linked");
}

IOStatus RawWalFileSystem::RenameFile(const std::string& from, const std::string& to,
                                      const IOOptions& options, IODebugContext* dbg) {
  StubFile stub;
  IOStatus s = FindStub(from, /*contents=*/false, &stub);
  if (s.ok() && !IsStubName(to)) {
    return Refuse(from, "renamed to " + to + ", which is no name of a log");
  }
  const bool begins = s.ok() && from != to && !IsTrashName(to);  // a log, under this name
  s = s.ok() ? CheckOpener(from) : IOStatus::OK();
  if (!s.ok()) {
    return s;
  }
  // A log that is replaced gives its space back, but not to a rename that will fail: RocksDB may
  // move the same log to its archive twice.
  std::lock_guard<std::mutex> lock(rename_mutex_);
  LogId replaced;
  if (from != to && target_->FileExists(from, options, dbg).ok()) {
    s = DeleteLog(to, &replaced);
    if (!s.ok()) {
      return s.IsAborted() ? IOStatus::Busy(s.ToString()) : s;
    }
  }
  s = begins ? SetAsideCopy(to) : s;
  s = s.ok() ? target_->RenameFile(from, to, options, dbg) : s;
  Forget(replaced);
  Forget(stub.stub.log);  // what was found knows the old path
  return s;
}

IOStatus RawWalFileSystem::UnlockFile(FileLock* lock, const IOOptions& options,
                                      IODebugContext* dbg) {
  StopReporting(lock);
  DeleteDeferred();
  EndOpening(lock);
  {
    std::lock_guard<std::mutex> guard(mutex_);
    locked_.erase(lock);
  }
  return target_->UnlockFile(lock, options, dbg);
}

IOStatus RawWalFileSystem::NewLogger(const std::string& path, const IOOptions& options,
                                     std::shared_ptr<Logger>* result, IODebugContext* dbg) {
  IOStatus s = target_->NewLogger(path, options, result, dbg);
  if (s.ok()) {
    *result = std::make_shared<SharedLogger>(std::move(*result));
    info_logs_.Add(path, *result);
    std::lock_guard<std::mutex> lock(mutex_);
    info_log_ = *result;
  }
  return s;
}

#ifdef RAW_WAL_HAS_SYNC_FILE
IOStatus RawWalFileSystem::SyncFile(const std::string& path, const FileOptions& file_options,
                                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) {
  std::shared_ptr<Log> log;
  IOStatus s = FindLog(path, /*fresh=*/false, &log);
  if (!s.ok()) {
    return s;
  }
  return log != nullptr ? log->Sync()
                        : target_->SyncFile(path, file_options, options, use_fsync, dbg);
}
#endif

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
