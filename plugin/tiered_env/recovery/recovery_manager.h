// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "plugin/tiered_env/db/database.h"
#include "plugin/tiered_env/db/manifest.h"
#include "plugin/tiered_env/db/relocate.h"
#include "plugin/tiered_env/files/namespace.h"
#include "plugin/tiered_env/recipe/recipe_log.h"
#include "plugin/tiered_env/recovery/recovery.h"
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/wal/log_directories.h"
#include "plugin/tiered_env/wal/segments.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/file_system.h"
#include "rocksdb/rate_limiter.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// How the SSTs of volatile tiers are kept: TieredOptions, checked.
struct RecoveryOptions {
  double high = 0;
  double low = 0;
  CompressionType compression = kNoCompression;
  uint64_t wal_budget = 0;
  bool persist_on_close = false;
  uint32_t recovery_threads = 0;
};

// Purpose: what an SST is written for: a column family and a level, -1 if that is not known.
struct Purpose {
  uint32_t column_family = 0;
  int level = -1;

  bool operator<(const Purpose& other) const {
    return std::tie(column_family, level) < std::tie(other.column_family, other.level);
  }
};

// Keeps what is needed to rebuild the SSTs of a database that are in volatile tiers: their recipes,
// and the logs that these refer to. What an SST was made of becomes durable before the MANIFEST
// says that it is there. FORMAT.md tells how. Thread-safe.
class RecoveryManager {
 public:
  // Called when files of the database shall be in other tiers than before.
  using NotifyMover = std::function<void(const std::shared_ptr<Database>& database)>;

  // `limiter` may be null, and so may `notify_mover` if Start() is not called.
  RecoveryManager(Relocator* relocator, Database* database, const RecoveryOptions& options,
                  std::shared_ptr<RateLimiter> limiter, NotifyMover notify_mover);
  ~RecoveryManager();

  // Returns whether a directory has such things. `fs` shows all that is in it, here and below.
  static bool Exists(FileSystem* fs, const std::string& directory);
  // Returns whether an SST may need these: false if the creation of the database was interrupted,
  // or if it was destroyed.
  static bool HasRecipes(FileSystem* fs, const std::string& directory);
  // Deletes them. In directories that are not in this one nothing goes as long as one of them has a
  // log of a newer home, which may need all that are there.
  static IOStatus Remove(const Namespace& names, const std::string& directory);
  // Deletes retained logs of a newer home, which openings leave alone. Adds to *files and *bytes
  // what was deleted, or with `dry_run` would be.
  static IOStatus DeleteAlien(const Namespace& names, const std::string& directory, bool dry_run,
                              uint64_t* files, uint64_t* bytes);

  // Rebuilds what was lost of `tables`, those that the MANIFEST has. An error names an SST that
  // cannot be, and why; then nothing was deleted. To be called first, once.
  IOStatus Recover(const std::map<uint64_t, LiveTable>& tables);

  // Whether Recover() has found all that there should be, and nothing that is not its own.
  bool complete() const { return complete_; }

  // Instead of Recover(): brings all SSTs to durable tiers that are there or can be rebuilt, and
  // removes recipes and logs. The others are in *given_up, with reasons, and their stubs are
  // deleted. `tables`: null if no MANIFEST can be read; then of all SSTs in volatile tiers. `gone`:
  // directories of logs whose disk is. Can be interrupted and run again.
  IOStatus Salvage(const std::map<uint64_t, LiveTable>* tables,
                   const std::vector<std::string>& gone, std::vector<std::string>* given_up);
  struct Rehearsal {
    std::vector<Recovery::Failure> failures;
    uint64_t rebuilt = 0;  // SSTs
    std::string refusal;   // of Recovery::Rehearse()
  };
  // Rebuilds all SSTs of `tables` in volatile tiers, for a trial: Recovery::Rehearse().
  IOStatus Rehearse(const std::map<uint64_t, LiveTable>& tables,
                    const std::vector<std::string>& gone, Rehearsal* result);
  // Rebuilds what volatile tiers have lost while the database is open. OK, if some of it cannot be:
  // who needs that looks whether it is there. Not with a lock that Trim() or Sweep() need.
  IOStatus BringBack();
  // No more SSTs come into volatile tiers: the database is being repaired.
  void Close() { closed_.store(true, std::memory_order_relaxed); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

  // An SST in a volatile tier is complete; `size`: its bytes, behind which the file may have others
  // as long as it is written. The logs that it can be rebuilt of are durable then, its recipe with
  // the next Barrier(). NotSupported: it has to be elsewhere, for a log cannot be made durable, or
  // its recipe would be longer than can be, or half as large as itself. `anyway`: the latter does
  // not count, and a recipe that it has, which lacks something, counts until the new one is
  // written.
  IOStatus AddTable(const std::string& base, const Place& place, uint64_t size,
                    const Purpose& purpose, bool anyway = false);
  // Whether such an SST should be written to a volatile tier at all: not where those before it were
  // compressed, for what is compressed is not found in logs. Now and then one is tried
  // nevertheless.
  bool IsWorthTrying(const Purpose& purpose);
  // Called when an SST is gone, is durable by itself, or is nothing that the MANIFEST names, now
  // and after a crash.
  void DropTable(const std::string& base);
  // The database is being destroyed: so it can be again, if this is interrupted.
  IOStatus Forget() { return recipe_log_.Clear(); }
  bool Has(const std::string& base) const { return recipe_log_.Has(base); }
  // Whether no more SSTs should be put into volatile tiers for the time being: the logs have
  // reached their budget.
  bool full() const { return full_.load(std::memory_order_relaxed) || closed(); }

  // RocksDB begins a log, `file`. Returns what is to be written instead.
  std::unique_ptr<FSWritableFile> Track(const std::string& path,
                                        std::unique_ptr<FSWritableFile>&& file);
  // WalSegments::SetMakesAhead(). Called before RocksDB begins to do so.
  void SetMakesLogsAhead(bool ahead) { logs_.SetMakesAhead(ahead); }
  // RocksDB has logs in another directory than the database's, too; it may have begun one there
  // already. After an error these are left alone.
  IOStatus AddLogDirectory(const std::string& directory);
  // Called when RocksDB wants it to go: WalSegments::Keep().
  IOStatus KeepLog(const std::string& path, bool stays, bool* kept) {
    return logs_.Keep(&recipe_log_, log_directories_.PathOf(path), stays, kept);
  }

  // Has a log that RocksDB does not need any more deleted, as if it did so itself, soon. RocksDB
  // recycles logs while its writers wait. What a crash leaves is deleted by RocksDB.
  void DeleteLater(const std::string& path);

  // Makes the recipes of the SSTs that were added durable. Before anything is written to the
  // MANIFEST.
  IOStatus Barrier();

  // Begins and stops what runs in the background. Where no thread can be had for it, that is tried
  // again with each SST that comes.
  void Start();
  void Stop();

  void AddStats(VolatileStats* stats) const;
  // Writes what was counted to TIERS-STATS, for tools that look at the database when it is closed.
  void WriteStatistics() const;
  // An SST was brought to a durable tier.
  void Persisted(uint64_t bytes) { persisted_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

 private:
  // Brings an SST to a durable tier, for good.
  IOStatus BringAway(const Recovery::Present& table);
  // SSTs in volatile tiers that have a stub and a recipe, and nothing else.
  std::map<uint64_t, LiveTable> FindLost() const;
  // Finds all SSTs that may be in volatile tiers, by stubs and recipes.
  IOStatus FindTables(std::map<uint64_t, LiveTable>* tables) const;
  // Makes durable what an SST can be rebuilt of. NotSupported: it cannot be.
  IOStatus SyncLogs(const std::string& base, const std::set<uint64_t>& segments);
  // Requires mutex_.
  void StartThreadIfNone();
  // Those that are left to be deleted.
  void DeleteLogs(const std::vector<std::string>& paths) const;
  void Run();
  void Trim();
  void WarnOfTrim(const IOStatus& reason);
  void CheckBudget();
  // A retained log is damaged.
  void NoteDamaged(const IOStatus& reason);
  // Brings SSTs to durable tiers that such logs could not rebuild.
  void PersistDamaged(std::chrono::steady_clock::time_point now);
  // An SST was added, or had to leave a volatile tier for it was compressed.
  void NoteAdded(const Purpose& purpose, bool left);
  void CompactRecipes(std::chrono::steady_clock::time_point now);
  double Amplification(const WalSegments::Sizes& sizes) const;

  Relocator* const relocator_;
  Namespace* const names_;
  Database* const database_;
  const RecoveryOptions options_;
  const std::shared_ptr<RateLimiter> limiter_;  // may be null
  const NotifyMover notify_mover_;
  RecipeLog recipe_log_;
  LogDirectories log_directories_;
  WalSegments logs_;

  // Held by whoever rebuilds of retained logs, or changes them. Before all others.
  std::mutex retained_mutex_;
  std::mutex barrier_mutex_;
  std::mutex drop_mutex_;  // one DropTable() at a time: what a recipe refers to is released once
  // SSTs of whose recipes no reference was taken: Recovery::carried(). Guarded by drop_mutex_.
  std::set<std::string> carried_;
  bool complete_ = false;
  std::atomic<uint64_t> added_{0};   // SSTs
  std::atomic<uint64_t> synced_{0};  // of them
  std::atomic<bool> full_{false};
  std::atomic<bool> closed_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> warned_{false};
  // The background thread's:
  static constexpr std::chrono::seconds kLeastPause{1};
  static constexpr std::chrono::seconds kMostPause{300};
  std::chrono::steady_clock::time_point trim_warned_;
  std::chrono::steady_clock::time_point compact_from_;  // not before
  std::chrono::seconds compact_pause_ = kLeastPause;    // after the next failure
  std::chrono::steady_clock::time_point persist_from_;  // not before
  std::chrono::seconds persist_pause_ = kLeastPause;    // if there is nothing to do

  std::mutex mutex_;
  std::condition_variable changed_;
  // All below: guarded by mutex_.
  bool started_ = false;  // Start() was called
  std::vector<std::string> to_delete_;
  std::thread thread_;
  struct Compressed {
    uint32_t in_a_row = 0;  // SSTs that had to leave
    uint32_t skipped = 0;   // that were not tried
  };
  std::map<Purpose, Compressed> compressed_;

  // Statistics.
  std::atomic<uint64_t> tables_{0};
  std::atomic<uint64_t> table_bytes_{0};
  std::atomic<uint64_t> recipe_bytes_{0};
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> references_{0};
  std::atomic<uint64_t> literal_bytes_{0};
  std::atomic<uint64_t> trims_{0};
  std::atomic<uint64_t> trimmed_bytes_{0};
  std::atomic<uint64_t> archived_bytes_{0};
  std::atomic<uint64_t> persisted_bytes_{0};
  std::atomic<uint64_t> damaged_logs_{0};
  std::atomic<uint64_t> barriers_{0};
  std::atomic<uint64_t> rebuilt_files_{0};
  std::atomic<uint64_t> rebuilt_bytes_{0};
  std::atomic<uint64_t> recovery_micros_{0};
};

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
