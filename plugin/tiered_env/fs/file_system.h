// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/db/mover.h"
#include "plugin/tiered_env/db/relocate.h"
#include "plugin/tiered_env/db/survey.h"
#include "plugin/tiered_env/db/sweep.h"
#include "plugin/tiered_env/files/file_ref.h"
#include "plugin/tiered_env/files/info_logs.h"
#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/fs/open_database.h"
#include "plugin/tiered_env/fs/open_databases.h"
#include "plugin/tiered_env/fs/open_readers.h"
#include "plugin/tiered_env/fs/setup.h"
#include "plugin/tiered_env/fs/uses.h"
#include "plugin/tiered_env/metrics_page.h"
#include "plugin/tiered_env/metrics_reporter.h"
#include "plugin/tiered_env/recipe/recipe_log_follower.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/utilities/options_type.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Shows one directory per database whose files are in several tiers. What is not at home, in the
// directory itself, has a stub there under its name: listing, renaming and deleting files is
// listing, renaming and deleting stubs, with the durability that the target FileSystem gives, and
// what a stub says is the one truth about where its file is.
//
// Files of databases that were locked through this FileSystem are placed and moved; other files
// that it is asked to write, such as backups, go where they are told to.
//
// Thread-safe.
class TieredFileSystem : public FileSystemWrapper {
 public:
  explicit TieredFileSystem(const std::shared_ptr<FileSystem>& target);
  ~TieredFileSystem() override;

  static const char* kClassName() { return "TieredFileSystem"; }
  const char* Name() const override { return kClassName(); }
  // Checks the options and makes the tiers' FileSystems; changes nothing.
  Status PrepareOptions(const ConfigOptions& options) override;
  std::string GetPrintableOptions() const override;
  // Called for each option that is set, `target` among them: refused while the FileSystem is in
  // use.
  Status ParseOption(const ConfigOptions& config, const OptionTypeInfo& info,
                     const std::string& name, const std::string& value, void* address) override;

  IOStatus NewSequentialFile(const std::string& path, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) override;
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<FSWritableFile>* result,
                              IODebugContext* dbg) override;
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                             IODebugContext* dbg) override;
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) override;
  IOStatus NewMemoryMappedFileBuffer(const std::string& path,
                                     std::unique_ptr<MemoryMappedFileBuffer>* result) override;
  // Returns a directory whose Fsync makes durable what was made in the tiers, too.
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& directory, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& directory, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override;
  // Returns an error of a CURRENT that is not there, while tiers have files of the database:
  // RocksDB would make a new one in its place, and delete what the other has.
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  // Deletes what the tiers hold of it, too.
  IOStatus DeleteDir(const std::string& path, const IOOptions& options,
                     IODebugContext* dbg) override;
  IOStatus Truncate(const std::string& path, size_t size, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus GetFileSize(const std::string& path, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override;
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions& options,
                                   uint64_t* time, IODebugContext* dbg) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override;
  // Links as the option `checkpoints` says; to the directory of an open database within the tier,
  // where that can.
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* dbg) override;
  IOStatus NumFileLinks(const std::string& path, const IOOptions& options, uint64_t* count,
                        IODebugContext* dbg) override;
  IOStatus AreFilesSame(const std::string& first, const std::string& second,
                        const IOOptions& options, bool* result, IODebugContext* dbg) override;
  IOStatus LockFile(const std::string& path, const IOOptions& options, FileLock** lock,
                    IODebugContext* dbg) override;
  IOStatus UnlockFile(FileLock* lock, const IOOptions& options, IODebugContext* dbg) override;
  IOStatus NewLogger(const std::string& path, const IOOptions& options,
                     std::shared_ptr<Logger>* result, IODebugContext* dbg) override;
#ifdef TIERED_HAS_SYNC_FILE
  IOStatus SyncFile(const std::string& path, const FileOptions& file_options,
                    const IOOptions& options, bool use_fsync, IODebugContext* dbg) override;
#endif

  Namespace* names() const { return names_.get(); }
  // Counts who works with that, from outside of this.
  Uses* uses() { return &uses_; }
  Relocator* relocator() const { return relocator_.get(); }
  RecipeLogFollower* follower() { return follower_.get(); }
  const Retention& retention() const { return setup_.retention; }
  // The options that are in force.
  const TieredOptions& options() const { return in_force_; }

  // Returns whether a database is open for RocksDB: tiers count what it has.
  bool IsOpen(const std::string& directory) const { return databases_.Find(directory) != nullptr; }
  // Called when a compaction has rewritten these SSTs, and RocksDB has installed, durably, what
  // became of them.
  void Compacted(const std::vector<std::string>& inputs);
  // Waits until each file of the open databases is where it can be.
  void WaitForMoves();
  // Rebuilds what volatile tiers have lost of a database that is locked, and gives it a recovery
  // manager if there are such tiers. With `given_up`: RecoveryManager::Salvage(), which fills it.
  IOStatus Recover(OpenDatabase* database, std::vector<std::string>* given_up = nullptr,
                   const std::vector<std::string>& gone = {});
  // Of all open databases; with `of` the figures of files and memory are of this one.
  void AddStats(const OpenDatabase* of, TieredStats* stats);
  bool GetProperty(const std::string& property, std::string* value);
  std::string MetricsText();

 private:
  // --- file_system.cc: files are opened, and looked at. ---

  // Calls use(place) for a file, again if it was moved meanwhile.
  template <typename UsePlace>
  IOStatus WithPlace(const std::string& path, const UsePlace& use);
  template <typename UsePlace>
  IOStatus TryPlaces(const FileRef& file, const UsePlace& use, Place* place);
  // Returns `s`, which was said of a file that has no stub; or that it is lost with a tier in
  // memory.
  IOStatus OrLost(const FileRef& file, IOStatus s, bool* lost);
  // Rebuilds what a tier in memory has lost of an open database; false: it is not there again.
  bool BringBack(const std::string& directory, const Place& place) const;

  // --- naming.cc: names come to stand for something else. ---

  // Makes way for a new file: what the name stood for is not moved any more, and not in a tier.
  IOStatus Vacate(const FileRef& file, Database* database, const IOOptions& options,
                  IODebugContext* dbg);
  // Counts a file that came by a link, or from another directory.
  void NoteNew(const FileRef& file, Tier* tier);
  // Gives a file in a tier another name, of which `to` is the stub: that of `named`, in the folder
  // of its directory. Requires Namespace::mutex().
  IOStatus LinkPlace(const Place& from, const FileRef& to, const FileRef& named);
  // Gives an old log in a tier the name of a new one, here and there, durably.
  IOStatus Recycle(const Place& place, const FileRef& from, const FileRef& to);
  // Renames a log in a tier that RocksDB has done with, so that nobody misses it there. Requires
  // Namespace::mutex().
  IOStatus GiveUp(const Place& place, const FileRef& from, const FileRef& to);
  // Gives a file another name: at home, or as LinkPlace(). Requires Namespace::mutex().
  IOStatus LinkName(const Place& source, const FileRef& from, const FileRef& to,
                    const IOOptions& options, IODebugContext* dbg);
  // Gives a file in a tier the name of a plain file besides: a link or a copy.
  IOStatus LinkPlain(const Place& from, const FileRef& to);
  IOStatus DeleteName(const FileRef& file, const IOOptions& options, IODebugContext* dbg);
  IOStatus DeleteOurs(const std::string& directory);
  // Returns whether a file is CURRENT or the MANIFEST that it names: who deletes them destroys the
  // database.
  bool IsVital(const FileRef& file) const;
  // Returns whether a directory has CURRENT or a MANIFEST.
  bool HasMetadata(const std::string& directory) const;
  IOStatus RenameName(const FileRef& from, const FileRef& to, const IOOptions& options,
                      IODebugContext* dbg);
  // RenameFile() of a database with a recovery manager, by kinds of files.
  IOStatus RenameLog(RecoveryManager* manager, const FileRef& from, const FileRef& to,
                     const IOOptions& options, IODebugContext* dbg);
  IOStatus RenameTable(RecoveryManager* manager, const FileRef& from, const FileRef& to,
                       const IOOptions& options, IODebugContext* dbg);
  IOStatus RenameOther(const std::shared_ptr<OpenDatabase>& database, const FileRef& from,
                       const FileRef& to, const IOOptions& options, IODebugContext* dbg);

  // --- open.cc: databases are opened and closed. ---

  // Whether databases are open, somebody is inside a function of this, or what it has given is
  // open: readers, files of databases, directories. Requires uses_.mutex().
  bool InUse() const;
  IOStatus Open(const std::string& directory, std::shared_ptr<OpenDatabase>* result);
  IOStatus CheckTiers(const std::string& directory, const Survey& survey);
  // Called when something was added to a database's MANIFEST, or files shall leave their tiers.
  void Changed(const std::shared_ptr<Database>& database);
  // Returns what calls that, for a file that the database writes, and is a use as long as it lives.
  std::function<void()> WhenChanged(const std::shared_ptr<Database>& database);

  // --- report.cc: statistics. ---

  // Labels of what is a database's.
  MetricsPage::Labels OwnerOf(const OpenDatabase& database) const;
  void AddMetrics(const OpenDatabase& database, MetricsPage* page);
  void LogStatistics(const OpenDatabase& database);
  // Called when a database is open, and before it is unlocked.
  void StartReporting(const std::shared_ptr<OpenDatabase>& database);
  // Ends the file of all databases, `unless_used`, and the reports of those that are left.
  void StopReporting(bool unless_used = false);

  // --- volatile.cc: tiers in memory. ---

  bool HasVolatileTier() const;
  IOStatus MakeVolatileTiers() const;
  IOStatus BringBackAside(OpenDatabase* database);
  // Finds a file's database, and what keeps its volatile SSTs; null if there is none.
  RecoveryManager* RecoveryManagerOf(const FileRef& file,
                                     std::shared_ptr<OpenDatabase>* database) const;
  // Notes what an OPTIONS file says: where the database has its write-ahead logs.
  IOStatus NoteWalDir(const std::shared_ptr<OpenDatabase>& database, const std::string& wal_dir);
  // Brings everything from volatile tiers to others.
  void Persist(const std::shared_ptr<OpenDatabase>& database);
  // Called when RepairDB() is about to put the MANIFEST aside: what it names must be there without
  // it.
  IOStatus Shelter(const std::shared_ptr<OpenDatabase>& database);

  // As they were set. Whoever has a pointer to them, as GetOptions() gives it, may write to it at
  // any time: only PrepareOptions() looks at them.
  TieredOptions options_;
  InfoLogs info_logs_;
  // Whatever the public functions do, those apart by which options are set, counts here: else what
  // is below could go while they work with it.
  Uses uses_;
  // All below: constant after PrepareOptions(), which makes them anew while there is no use.
  TieredOptions in_force_;                       // options_ as they were then
  std::string prepared_;                         // their text
  std::shared_ptr<FileSystem> prepared_target_;  // target_ then: what is made goes by it
  Setup setup_;  // the policy and the directories beside have gone to names_
  std::shared_ptr<RateLimiter> limiter_;
  std::unique_ptr<Namespace> names_;
  std::unique_ptr<RecipeLogFollower> follower_;
  std::unique_ptr<OpenReaders> readers_;
  std::unique_ptr<Relocator> relocator_;
  std::unique_ptr<Mover> mover_;  // null: files are not moved

  OpenDatabases databases_;

  std::mutex reporter_mutex_;
  std::unique_ptr<MetricsReporter> reporter_;  // of metrics_file; guarded by reporter_mutex_
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
