// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugin/tiered_env/compat.h"
#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/db/mover.h"
#include "plugin/tiered_env/files/folders.h"
#include "plugin/tiered_env/recipe/recipe_log_follower.h"
#include "plugin/tiered_env/recovery/recovery_manager.h"
#include "plugin/tiered_env/tier/policy.h"
#include "plugin/tiered_env/tiered_env.h"
#include "rocksdb/file_system.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

class Survey;
class TieredRandomAccessFile;

// How long, and how much of it, is kept of what nothing names.
struct Retention {
  uint64_t seconds = 0;
  uint64_t budget = 0;  // bytes in each tier; 0: no limit
};

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
  // Its Fsync makes durable what was made in the tiers, too.
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) override;
  IOStatus GetChildren(const std::string& directory, const IOOptions& options,
                       std::vector<std::string>* result, IODebugContext* dbg) override;
  IOStatus GetChildrenFileAttributes(const std::string& directory, const IOOptions& options,
                                     std::vector<FileAttributes>* result,
                                     IODebugContext* dbg) override;
  // An error of a CURRENT that is not there, while tiers have files of the database: RocksDB would
  // make a new one in its place, and delete what the other has.
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override;
  // Also what the tiers hold of it.
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
  // As the option `checkpoints` says; to the directory of an open database within the tier, where
  // that can.
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

  const Policy& policy() const { return policy_; }
  const Retention& retention() const { return retention_; }
  // Whether a directory of the option db_paths has a file.
  bool IsBeside(const std::string& base, uint64_t size) const;
  Folders* folders() { return folders_.get(); }
  RecipeLogFollower* follower() { return follower_.get(); }

  // Where a file is, or would be: at home if it does not exist. An error if its stub is damaged, or
  // is of a tier that the options do not name.
  IOStatus Resolve(const std::string& path, Place* place);

  // --- For files that are being written. ---

  // Where a new file in a tier can be.
  IOStatus NewPlace(const std::string& path, Tier* tier, Place* place);
  // Writes a stub under a file's name, over what is there; durably, unless `file` takes it, to be
  // synced.
  IOStatus WriteStub(const std::string& path, const Place& place,
                     std::unique_ptr<FSWritableFile>* file = nullptr);
  // Frees the name of a file that is at home: it has another place then.
  IOStatus SetAside(const std::string& path, const Place& place, Place* aside);
  // Appends the first `size` bytes of a file to another one. Corruption if there are fewer.
  // `stop`, if given: Aborted once it is true.
  static IOStatus Copy(const Place& from, uint64_t size, FSWritableFile* to,
                       RateLimiter* limiter = nullptr, const std::atomic<bool>* stop = nullptr);
  // A compaction has rewritten these SSTs, and RocksDB has installed, durably, what became of them.
  void Compacted(const std::vector<std::string>& inputs);
  // Something was added to a database's MANIFEST.
  void Changed(const std::shared_ptr<Database>& database);

  // --- For the mover and for tools. ---

  // Puts a file into another tier. Aborted if it is not where it was, any more, NoSpace if there is
  // no room. A crash leaves it in one of the two, whole. `anyway`: whatever the budget.
  IOStatus MoveFile(Database* database, const Database::Misplaced& file, RateLimiter* limiter,
                    bool anyway = false);
  void WaitForMoves();
  // Whether a database that is locked may be opened, or worked on, over these tiers.
  IOStatus Claim(const std::string& directory);
  // InvalidArgument if a directory has stubs, and not the name of its folders.
  IOStatus CheckName(const std::string& directory);
  // Finds out which tiers are read-only, and tells what has changed in the LOG of the database in
  // `directory`.
  void LookForReadOnly(const std::string& directory);
  // Rebuilds what volatile tiers have lost of a database that is locked, and gives it a recovery
  // manager if there are such tiers. With `given_up`: RecoveryManager::Salvage(), which fills it.
  IOStatus Recover(Database* database, std::vector<std::string>* given_up = nullptr);

  void ReportSpill(const std::string& path, Tier& wanted, const Tier& got);
  void ReportFailure(const std::string& path, Tier* tier, const IOStatus& reason);
  void ReportMove(const std::string& path, const Database::Misplaced& file, const IOStatus& result);
  // A reader is being destroyed.
  void Closed(TieredRandomAccessFile* reader);

  void AddStats(TieredStats* stats);
  // Null if the database in the directory has none of ours.
  std::shared_ptr<Logger> InfoLog(const std::string& directory) const;

 private:
  using InfoLogs = std::map<std::string, std::weak_ptr<Logger>>;

  // Calls use(place) for a file, again if it was moved meanwhile.
  template <typename UsePlace>
  IOStatus WithPlace(const std::string& path, const UsePlace& use);
  template <typename UsePlace>
  IOStatus TryPlaces(const std::string& path, const UsePlace& use, Place* place);
  // What was said of a file that has no stub; or that it is lost with a tier in memory.
  IOStatus OrLost(const std::string& path, IOStatus s, bool* lost);
  // Whether what a tier in memory has lost of an open database is there again.
  bool BringBack(const std::string& path, const Place& place) const;
  bool InUse() const;
  std::shared_ptr<Database> FindDatabase(const std::string& directory) const;
  std::shared_ptr<Database> FindByWalDir(const std::string& directory) const;
  IOStatus ReadStub(const std::string& path, Stub* stub) const;
  IOStatus SyncStub(const std::string& path);
  // Makes way for a new file: what the name stood for is not moved any more, and not in a tier.
  IOStatus Vacate(const std::string& path, Database* database, const IOOptions& options,
                  IODebugContext* dbg);
  void NoteNew(const std::string& path, Tier* tier);
  // Gives a file in a tier another name in a directory whose folders are others. Requires
  // names_mutex_.
  IOStatus LinkPlace(const Place& from, const std::string& to);
  IOStatus LinkPlain(const Place& from, const std::string& to);
  // Whether a stub keeps its meaning in this directory.
  bool BelongsTo(const Place& place, const std::string& directory);
  IOStatus DeleteOurs(const std::string& directory);
  // Deletes what a stub that is gone stood for.
  IOStatus DeletePlace(const std::string& path, const Place& place);
  IOStatus MoveInto(Database* database, const Database::Misplaced& file, RateLimiter* limiter,
                    bool* swapped);
  IOStatus CheckRoom(const Place& place, uint64_t bytes);
  IOStatus Swap(const std::string& path, const Place& from, const Place& to, bool* swapped);
  IOStatus CopyToNew(const Place& from, uint64_t size, const Place& to, RateLimiter* limiter,
                     const std::atomic<bool>* stop);
  static IOStatus OpenReader(const Place& place, const FileOptions& options,
                             std::unique_ptr<FSRandomAccessFile>* result);
  void SwitchReaders(const std::string& path);
  // Requires readers_mutex_.
  void SwitchReader(TieredRandomAccessFile* reader);
  // Requires mutex_.
  InfoLogs::const_iterator FindInfoLog(const std::string& directory) const;
  IOStatus Open(const std::string& directory, std::shared_ptr<Database>* result);
  IOStatus CheckTiers(const std::string& directory, const Survey& survey);
  // Brings everything from volatile tiers to others.
  void Persist(const std::shared_ptr<Database>& database);
  bool HasVolatileTier() const;
  IOStatus MakeVolatileTiers() const;
  // Whether a directory has CURRENT or a MANIFEST.
  bool HasMetadata(const std::string& directory) const;
  // Whether a file is CURRENT or the MANIFEST that it names: who deletes them destroys the
  // database.
  bool IsVital(const std::string& path) const;
  // RepairDB() is about to put the MANIFEST aside: what it names must be there without it.
  IOStatus Shelter(const std::shared_ptr<Database>& database);
  // What an OPTIONS file says of it: the database has its write-ahead logs elsewhere.
  IOStatus NoteWalDir(const std::shared_ptr<Database>& database, const std::string& wal_dir);
  // A file's database, and what keeps its volatile SSTs; null if there is none.
  RecoveryManager* RecoveryManagerOf(const std::string& path,
                                     std::shared_ptr<Database>* database) const;
  IOStatus DeleteName(const std::string& path, const IOOptions& options, IODebugContext* dbg);
  IOStatus RenameName(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg);
  IOStatus RetireLog(RecoveryManager* manager, const std::string& from, const std::string& to,
                     const IOOptions& options, IODebugContext* dbg);

  TieredOptions options_;
  std::string prepared_;              // options_ at the last PrepareOptions()
  Policy policy_;                     // constant after PrepareOptions()
  RecoveryOptions recovery_options_;  // as well
  Retention retention_;               // as well
  std::shared_ptr<RateLimiter> limiter_;
  std::vector<std::string> beside_;              // as well: directories of options_.db_paths
  std::unique_ptr<Folders> folders_;             // as well
  std::unique_ptr<RecipeLogFollower> follower_;  // as well
  std::unique_ptr<Mover> mover_;                 // null: files are not moved

  std::mutex names_mutex_;  // one change of what a name stands for at a time

  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  std::map<std::string, std::shared_ptr<Database>> databases_;  // by directory
  std::map<std::string, std::weak_ptr<Database>> wal_dirs_;     // of those with a recovery manager
  std::map<FileId, std::weak_ptr<Database>> wal_dir_ids_;       // the same, and their homes
  std::map<FileLock*, std::string> locked_;
  InfoLogs info_logs_;  // by path

  mutable std::mutex readers_mutex_;
  // All below: guarded by readers_mutex_.
  std::unordered_multimap<std::string, TieredRandomAccessFile*> readers_;  // by Normalized() path
  uint64_t switches_ = 0;
};

// The tiers for a file that belongs to `first`: that one, those after it, home.
std::vector<Tier*> SpillOrder(const Policy& policy, Tier* first);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
