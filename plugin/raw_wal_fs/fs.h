// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugin/raw_wal_fs/compat.h"
#include "plugin/raw_wal_fs/info_logs.h"
#include "plugin/raw_wal_fs/log_writer.h"
#include "plugin/raw_wal_fs/metrics_page.h"
#include "plugin/raw_wal_fs/metrics_reporter.h"
#include "plugin/raw_wal_fs/raw_wal_fs.h"
#include "plugin/raw_wal_fs/recovered_log.h"
#include "plugin/raw_wal_fs/stub.h"
#include "plugin/raw_wal_fs/volume.h"
#include "rocksdb/file_system.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {

// Puts the logs that RocksDB writes on the log device, each with a stub under its name in the
// target FileSystem, and passes everything else on. The names are the target's: renaming, listing
// and deleting a log is renaming, listing and deleting its stub, with the durability that the
// target gives.
//
// Whoever keeps a log that RocksDB is done with renames it. Under any name that ends in ".log" it
// stays the log that it was, and the space is free when that name is deleted.
//
// A log goes to the device if it is opened with the FileOptions of OptimizeForLogWrite(). A wrapper
// of the older Env interface loses what these say, so a log goes there, too, if this FileSystem has
// locked a database in the same directory. Copies of logs that checkpoints and backups make are
// neither, and are plain files that stock RocksDB reads.
//
// Thread-safe.
class RawWalFileSystem : public FileSystemWrapper {
 public:
  explicit RawWalFileSystem(const std::shared_ptr<FileSystem>& target);
  ~RawWalFileSystem() override;

  static const char* kClassName() { return "RawWalFileSystem"; }
  const char* Name() const override { return kClassName(); }
  // Checks the options and the device, and changes nothing.
  Status PrepareOptions(const ConfigOptions& options) override;
  // Called for each option that is set, `target` among them: refused while the FileSystem is in
  // use.
  Status ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                     const std::string& name, const std::string& value, void* address) override;
  std::string GetPrintableOptions() const override;

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  // Opens a log to be closed or synced. It cannot be continued: RocksDB never does that.
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  // Deletes the old log and makes a new one: space on the device costs nothing to use again.
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override;
  // Refuses a log: NotSupported. So do the two calls that follow.
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override;
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  // Refuses a log: NotSupported, whereupon RocksDB copies: a checkpoint then holds plain files and
  // needs neither the plugin nor the device.
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override;

  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override;
  // Deletes the file that says whose logs are in a wal_dir, too, if there is no other one.
  IOStatus DeleteDir(const std::string& dir, const IOOptions& options,
                     IODebugContext* dbg) override;
  // Shows no statistics files, and none that says whose logs are in a wal_dir. So does the next
  // call.
  IOStatus GetChildren(const std::string& dir, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& dir, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override;
  // Opens the device for writing when a database is locked.
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<Logger>* result, IODebugContext* dbg) override;
  FileOptions OptimizeForLogWrite(const FileOptions& options,
                                  const DBOptions& db_options) const override;
#ifdef RAW_WAL_HAS_SYNC_FILE
  IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) override;
#endif

  // Returns in `result` whether `path` is the stub of a log, on this device or another one.
  IOStatus IsStub(const std::string& path, bool* result);
  // Reads a log that nobody writes, and finds its `size`, in bytes. Corruption: bytes of it were
  // durable, and are gone.
  IOStatus CheckWhole(const std::string& path, uint64_t* size);

  // Notes that this is a tool that exports logs: it goes on with those that it had exported.
  void SetExports() { exports_ = true; }
  // Puts a plain copy, which is durable, into the place of a log's stub, and frees the log when
  // that is durable, too. IOError: that did not succeed, and the log stays on the device.
  IOStatus ReplaceLog(const std::string& path, const std::string& copy);

  void AddStats(RawWalStats* stats) const;
  // Adds all figures, with the device and `owner` as labels.
  void AddMetrics(const MetricsPage::Labels& owner, MetricsPage* page) const;
  // Returns the options that are in force.
  const RawWalOptions& options() const { return in_force(); }

  // Has `volume` in the place of the device of the options. For `rocktier wal export` without one.
  void SetVolume(std::shared_ptr<Volume> volume);

 private:
  // Calls on_log(log) if `path` is a log on the device, else otherwise().
  template <typename OnLog, typename Otherwise>
  IOStatus WithLog(const std::string& path, const OnLog& on_log, const Otherwise& otherwise) {
    std::shared_ptr<Log> log;
    IOStatus s = FindLog(path, /*fresh=*/true, &log);
    if (!s.ok()) {
      return s;
    }
    return log != nullptr ? on_log(log) : otherwise();
  }
  // InUse() to NoteUse(), and PrepareOptions() and ParseOption(): in configure.cc.
  //
  // Returns whether options must stay: the device is open.
  bool InUse() const;
  // Returns the options as they were when the device was opened, or as they are if it is not open.
  // Whoever has a pointer to those, as GetOptions() gives it, may write to it at any time.
  const RawWalOptions& in_force() const;
  // Keeps the options if the device is open now. Requires mutex_.
  void NoteUse();

  // Returns whether a file that is created is a log for the device.
  bool IsLog(const std::string& path, const FileOptions& options) const;
  IOStatus ForWriting(std::shared_ptr<Volume>* result);
  IOStatus ForReading(std::shared_ptr<Volume>* result);
  // Finds a log that is on the device, for readers. Null, with OK, if `path` is anything else.
  // `fresh`: a log that another process writes is looked at again.
  IOStatus FindLog(const std::string& path, bool fresh, std::shared_ptr<Log>* result);
  // Reads a stub. NotFound if `path` is none.
  IOStatus FindStub(const std::string& path, bool contents, StubFile* result);
  // Finds a log that nobody in this process writes.
  IOStatus Recover(const std::shared_ptr<Volume>& volume, const std::string& path,
                   std::shared_ptr<RecoveredLog>* result);
  static IOStatus Refuse(const std::string& path, const std::string& what);
  // Finds the standby that a stub names: null, with OK, if it names none. InvalidArgument: that one
  // is not at hand.
  IOStatus StandbyOf(const std::string& path, const Stub& stub,
                     std::shared_ptr<Standby>* result) const;
  // Finds the standby of the options for writing, null if they name none.
  IOStatus StandbyForWriting(const Volume& volume, std::shared_ptr<Standby>* result);
  LogWriter::Settings SettingsOfLogs(Counters* counters) const;

  // CheckStub() to CleanTrash(): in deletion.cc, which says who may delete what.
  //
  // Checks that a stub is of this device, and not newer than the device, and, if this process
  // writes to the device, that it is no copy.
  IOStatus CheckStub(const std::string& path, const Stub& stub, const Volume& volume) const;
  // Frees a log's space if `path` is a log's; which one, or 0. Aborted: not now, since the device
  // stalls, or somebody else deletes it.
  IOStatus DeleteLog(const std::string& path, LogId* deleted);
  IOStatus FreeLog(const std::string& path, const Stub& stub, Volume* volume);
  IOStatus DeleteSegments(Volume* volume, LogId log);
  IOStatus SyncNames(const std::string& trash) const;
  // Deletes a log that has lost its name: now, or when the device answers again.
  IOStatus DeleteTrash(const std::string& trash, const IOOptions& options, IODebugContext* dbg);
  void DeleteDeferred();
  void Forget(LogId log);
  IOStatus CleanTrash(const std::string& directory);
  std::shared_ptr<Logger> InfoLog() const;

  // CheckDirectory() to CheckKept(), and SetAsideCopy(): in found_logs.cc.
  //
  // Checks the stubs of all logs in a directory, and that no plain log is an emptied stub.
  IOStatus CheckDirectory(const std::string& directory, const Volume& volume);
  IOStatus CheckLog(const std::string& path, const Volume& volume);
  // `found`: what came of it when the log was looked for; `log`: null if there is none.
  IOStatus CheckExported(const std::string& path, const IOStatus& found, const Log* log);
  IOStatus KeepFound(const std::string& path, Log* log);
  IOStatus CheckKept(const std::string& path, const Volume& volume);
  // To be called before a log gets this name.
  IOStatus SetAsideCopy(const std::string& path);

  // KnowsSize(), and GetFileSize() to GetChildrenFileAttributes(): in listing.cc.
  //
  // Returns whether the size of a log is what its stub says. Reads nothing of the device.
  bool KnowsSize(const std::string& path, const Stub& stub);

  // BeginOpening() to TakeWalDirOf(), and DeleteDir(): in opening.cc.
  //
  // A database that a thread has locked, and of which it has not made a log yet.
  struct Opening {
    std::thread::id thread;
    FileLock* lock = nullptr;
    std::string database;
  };
  void BeginOpening(FileLock* lock, const std::string& database);
  void EndOpening(FileLock* lock);
  // Returns the database that this thread opens, the innermost one; an empty one if it opens none.
  Opening Opened() const;
  // Checks that a stub in a wal_dir is of the database that this thread opens, if it opens one.
  IOStatus CheckOpener(const std::string& path) const;
  // Makes the folder of a log that is created the wal_dir of the database that this thread opens.
  IOStatus TakeWalDirOf(const std::string& path);
  IOStatus CheckMounted(const std::string& wal_dir, const std::string& database);

  // AddMetrics() to StopReporting(): in report.cc.
  //
  // Begins and ends the reports of a database: its statistics file, and the block in its LOG.
  void StartReporting(FileLock* lock, const std::string& directory);
  void StopReporting(FileLock* lock);

  // A log that has lost its name, and has its stub here.
  struct Deferred {
    std::string trash;
    LogId log;
  };

  RawWalOptions options_;  // as they were set; not looked at but by in_force(), and in configure.cc
  std::atomic<const RawWalOptions*> in_force_{nullptr};  // the last of kept_; null: not in use
  bool exports_ = false;                                 // constant once a database is locked

  std::mutex rename_mutex_;  // one rename at a time sees what it replaces

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::vector<std::unique_ptr<const RawWalOptions>> kept_;  // options that were in force
  std::shared_ptr<Volume> volume_;                          // for writing if volume_->writable()
  std::shared_ptr<Standby> standby_;                        // null until it is needed
  std::vector<Deferred> deferred_;                          // logs to be deleted later
  std::map<LogId, std::shared_ptr<Log>> found_;  // logs that were scanned and that nobody writes
  std::map<FileLock*, std::string> locked_;      // directories of databases
  std::vector<Opening> opening_;
  std::weak_ptr<Logger> info_log_;  // the LOG that was begun last

  InfoLogs info_logs_;

  // DBOptions::stats_dump_period_sec of the database that was opened last.
  mutable std::atomic<uint64_t> log_period_{600};
  std::mutex reporters_mutex_;
  // Guarded by reporters_mutex_. They go before all that they report of. That of metrics_file has
  // no lock.
  std::map<FileLock*, std::unique_ptr<MetricsReporter>> reporters_;
};

}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
