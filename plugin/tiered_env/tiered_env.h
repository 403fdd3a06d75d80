// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env: a FileSystem that spreads the files of a database over tiers of storage, by level, and moves
// them when their level changes. RocksDB and all tools see one directory. After "PmemEnv" (tiers of
// persistent memory, section 5) and "WAL-assisted tiering"; RocksDB and its files are as they were.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/advanced_options.h"
#include "rocksdb/file_system.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// What a tier is made of.
enum class TierKind {
  kPath,  // a directory of the target FileSystem
  kPmem,  // a directory whose files are mapped and written by libpmem
  kMemory,  // a directory in memory, a tmpfs: SSTs that are lost with it are rebuilt from write-ahead logs
};

// Makes a tier slower, for benchmarks and planning. 0, or 1 for slowdown: as it is.
struct Emulation {
  uint64_t read_latency_us = 0;  // added to each read
  uint64_t iops = 0;             // reads, writes and syncs per second
  uint64_t bandwidth = 0;        // bytes per second, read and written
  double slowdown = 1;           // each operation takes so many times as long as it did

  bool none() const { return read_latency_us == 0 && iops == 0 && bandwidth == 0 && slowdown <= 1; }
};

struct TierOptions {
  // Letters, digits, '_' and '-'. "home" is the tier of the database directory itself.
  std::string name;

  TierKind kind = TierKind::kPath;

  // Directory of the tier; databases have folders of their own in it. Empty for home only.
  std::string path;

  // Most bytes of SSTs and blob files in this tier, of all databases that are open through one
  // FileSystem; 0 for no limit. What finds no room goes to the next tier.
  uint64_t budget = 0;

  // What the tier's files are reported as.
  Temperature temperature = Temperature::kUnknown;

  Emulation emulate;
};

// All options can be set by name from strings: "id=TieredFileSystem;tiers={...};placement={...}". The
// grammar is in README.md.
struct TieredOptions {
  static const char* kName() { return "TieredOptions"; }

  // The fastest first: a file that finds no room goes to the next one. "home" is added at the end if it
  // is not there.
  std::string tiers;

  // Which files belong to which tier; the first rule that fits counts, and what fits none stays at home.
  std::string placement;

  // Bytes per second that files are moved with, read and write counted once. Default: 100M. 0: no limit.
  uint64_t mover_bytes_per_second = 100 << 20;

  // Whether files are moved at all. Default: true.
  bool mover = true;

  // --- For tiers of kind memory ("WAL-assisted tiering", section 3). ---

  // Write-ahead logs are retained as long as SSTs in memory need them. When they have more than so many bytes per
  // byte of these, the ones with the least that is needed are rewritten without the rest, until they have less than
  // the second (thresholds lambda_t and lambda_s of the paper, section 3.3). Defaults: 1.5 and 1.3.
  double wal_amplification_high = 1.5;
  double wal_amplification_low = 1.3;

  // Most bytes of retained logs of a database. When it is reached, SSTs are brought from memory to the next tier,
  // the oldest first, and new ones go there. Needs the mover. Default: 0, no limit.
  uint64_t wal_budget = 0;

  // How what is rewritten is compressed: none, lz4 or zstd. Then all logs that are retained are rewritten. Default:
  // none.
  std::string wal_compression = "none";

  // What happens when a database is closed: "keep": SSTs in memory stay there; "persist": they are brought to the next
  // tier. Default: keep.
  std::string on_close = "keep";

  // Threads that rebuild SSTs when a database is opened. Default: 0, one for each CPU.
  uint32_t recovery_threads = 0;

  // "plain": what is linked to a directory of no open database, as checkpoints and exports are, is a plain file there: a hard link
  // to the file in the tier where both are on one file system, else a copy. "linked": a link within the tier and a stub, which
  // costs nothing, and means nothing without the tiers: such a checkpoint cannot be copied or sent elsewhere. Default: plain.
  std::string checkpoints = "plain";

  // Seconds for which files in tiers that nothing names any more are kept, in lost/ of the database's folder: they may be of a
  // home that is put back. When they are over, the next opening that finds all that is the database's own deletes them.
  // Default: 7 days.
  uint64_t orphan_retention = 7 * 24 * 60 * 60;

  // Most bytes of them in each tier; what is more is deleted, the oldest first, but nothing that is not a day old. 0: no limit.
  // Default: 10G.
  uint64_t orphan_budget = uint64_t{10} << 30;

  // Directories of DBOptions::db_paths and cf_paths, but for the database's own, separated by colons: RocksDB does not write
  // them into its OPTIONS file. An SST or blob file that is not in the database's directory is looked for there before it
  // is called missing. Nothing is placed there, or deleted. Default: none.
  std::string db_paths;
};

// One line per counter: name, unit, description. All since the FileSystem was made.
#define TIERED_TIER_STATS(X)                                          \
  X(files, "count", "SSTs and blob files of databases that are open") \
  X(bytes, "bytes", "of them, and of those that are being written")   \
  X(budget, "bytes", "most of that; 0: no limit")                     \
  X(held_bytes, "bytes", "of files that left memory, mapped yet")     \
  X(misplaced_files, "count", "that are here and belong elsewhere")   \
  X(stranded_bytes, "bytes", "of them")                               \
  X(reads, "count", "of SSTs and blob files")                         \
  X(read_bytes, "bytes", "read from them")                            \
  X(written_bytes, "bytes", "written by databases, not by the mover") \
  X(spills, "count", "files that belonged here and found no room")    \
  X(moves, "count", "files that the mover put here")                  \
  X(moved_bytes, "bytes", "of them")                                  \
  X(errors, "count", "files that could not be made here, or moved here")

struct TieredTierStats {
  std::string name;
#define X(name, unit, description) uint64_t name = 0;
  TIERED_TIER_STATS(X)
#undef X
};

// The same of tiers of kind memory, of all databases that are open.
#define TIERED_VOLATILE_STATS(X)                                                      \
  X(bytes, "bytes", "of SSTs that are in memory")                                     \
  X(recipes, "count", "recipes of them")                                              \
  X(recipe_bytes, "bytes", "of these recipes")                                        \
  X(recipe_log_bytes, "bytes", "of the recipe log")                                   \
  X(recipe_log_written_bytes, "bytes", "written to it")                               \
  X(segments, "count", "write-ahead logs that RocksDB has deleted and recipes need")  \
  X(retained_bytes, "bytes", "of them")                                               \
  X(needed_bytes, "bytes", "of logs that RocksDB has still and recipes need")         \
  X(live_entries, "count", "in all these logs, that recipes refer to")                \
  X(live_bytes, "bytes", "of them, as they are in logs that are rewritten")           \
  X(index_bytes, "bytes", "of memory, to know their entries")                         \
  X(tables, "count", "SSTs that recipes were made of")                                \
  X(table_bytes, "bytes", "of them: what would have been written to durable storage") \
  X(entries, "count", "in them, but for compressed blocks")                           \
  X(references, "count", "of these, by reference to a log")                           \
  X(literal_bytes, "bytes", "of keys and values of the others")                       \
  X(trims, "count", "logs that were rewritten")                                       \
  X(trimmed_bytes, "bytes", "that this has saved")                                    \
  X(archived_bytes, "bytes", "that were written for it")                              \
  X(persisted_bytes, "bytes", "of SSTs that were brought to durable tiers")           \
  X(damaged_logs, "count", "retained logs that were found to be damaged")             \
  X(barriers, "count", "of the recipe log's syncs")                                   \
  X(rebuilt_files, "count", "SSTs that were rebuilt")                                 \
  X(rebuilt_bytes, "bytes", "of them")                                                \
  X(recovery_micros, "microseconds", "that openings have spent on that")

struct VolatileStats {
#define X(name, unit, description) uint64_t name = 0;
  TIERED_VOLATILE_STATS(X)
#undef X

  // The "WAL amplification factor", lambda: bytes of logs that recipes need, per byte in memory; 0 if nothing is there.
  double wal_amplification() const {
    return bytes == 0
               ? 0
               : static_cast<double>(retained_bytes + needed_bytes) / static_cast<double>(bytes);
  }
  // Share of the entries of which recipes have keys and values themselves.
  double literal_ratio() const {
    return entries == 0 ? 0
                        : static_cast<double>(entries - references) / static_cast<double>(entries);
  }
  // That durable storage was not written: SSTs, less all that was written instead. Below 0: it was written more.
  int64_t saved_bytes() const {
    return static_cast<int64_t>(table_bytes) -
           static_cast<int64_t>(persisted_bytes + recipe_log_written_bytes + archived_bytes);
  }
};

struct TieredStats {
  std::vector<TieredTierStats> tiers;
  VolatileStats in_memory;

  std::string ToString() const;
  std::string ToJson() const;
};

// A FileSystem over `target` (FileSystem::Default() if null). Thread-safe, as all FileSystems are.
// InvalidArgument names the option that is not sound.
Status NewTieredFileSystem(const TieredOptions& options, const std::shared_ptr<FileSystem>& target,
                           std::shared_ptr<FileSystem>* result);

// To be put into DBOptions::listeners: tells the FileSystem each SST's level before it is written, so that
// none has to be moved for want of that. From an OPTIONS file: listeners={id=TieredEnvListener}.
std::shared_ptr<EventListener> NewTieredEnvListener();

// InvalidArgument if `fs` is not a TieredFileSystem, or wraps none.
Status GetTieredStats(FileSystem* fs, TieredStats* stats);

// Waits until every file of the databases that are open is where it belongs, or as near as there is room.
// InvalidArgument as above.
Status WaitForMoves(FileSystem* fs);

// --- For tools. `fs` is a TieredFileSystem, or wraps one, with the options that the database in `directory`
// has. Each of these fails with IOError if it needs the database closed and it is open somewhere; after a
// crash each can be run again. The mover has no part in them. ---

// Bytes done, of all.
using TieredProgress = std::function<void(uint64_t done, uint64_t total)>;

// An SST or blob file, or a file of any kind that is not at home.
struct TieredFileInfo {
  std::string name;  // below the database directory
  uint64_t size = 0;
  bool needed = false;  // the MANIFEST names it
  int level = -1;       // of an SST that is needed
  uint32_t column_family = 0;
  std::string tier;
  std::string wanted;  // the tier where it belongs
  std::string path;    // where it is
  Temperature temperature = Temperature::kUnknown;
  bool lost = false;  // there is a stub, and no file
};

struct TieredTierInfo {
  std::string name;
  std::string path;          // of home: the database directory
  bool there = false;        // there is such a directory
  uint64_t budget = 0;       // bytes; 0: no limit
  uint64_t files = 0;        // SSTs and blob files of the database
  uint64_t bytes = 0;        // of them
  uint64_t other_files = 0;  // write-ahead logs, MANIFESTs... that are not at home
  uint64_t other_bytes = 0;
  uint64_t stranded_files = 0;  // SSTs and blob files that belong elsewhere
  uint64_t stranded_bytes = 0;
  uint64_t free_bytes = 0;  // on its device
  bool is_memory = false;   // of kind memory
};

struct TieredDirectoryInfo {
  std::vector<TieredFileInfo> files;  // by name
  std::vector<TieredTierInfo> tiers;  // in their order
  bool has_memory = false;            // there are tiers of kind memory
  // Of these: bytes, recipes and logs as they are; what was counted is of the process that has the database open, some
  // seconds old, or had it open last.
  VolatileStats in_memory;
};

// Says which file is where, without changing anything. The database may be open.
Status InspectTiers(FileSystem* fs, const std::string& directory, TieredDirectoryInfo* info);

// A write-ahead log that recipes of SSTs in memory refer to, or that is retained.
struct TieredLogInfo {
  uint64_t id = 0;  // the segment's
  std::string
      kind;  // "log": RocksDB has it still; "retained": as it was; "rewritten": by trimming; "lost": it is not there
  std::string path;
  uint64_t bytes = 0;    // of the file
  uint64_t entries = 0;  // that are in it
  // The 1s of its sequence-number bitmap: entries that recipes refer to.
  uint64_t live_entries = 0;
  uint64_t entry_bytes =
      0;  // of the entries, as trimming writes and weighs them: each at most 1/16 off
  uint64_t live_bytes = 0;  // of those that are live
  std::string problem;      // why not all of it was read

  double live_entry_share() const { return ShareOf(live_entries, entries); }
  double live_byte_share() const { return ShareOf(live_bytes, entry_bytes); }

 private:
  static double ShareOf(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

// Reads the recipes and the logs, by id, without changing anything. The database may be open; what happens meanwhile is
// seen in part.
Status InspectLogs(FileSystem* fs, const std::string& directory, std::vector<TieredLogInfo>* logs);

struct TieredProblem {
  std::string path;
  std::string what;
  bool harmless = false;  // left from interrupted work; the next opening, or nobody, minds it
  bool repaired = false;
};

struct TieredCheck {
  bool open_elsewhere = false;
  uint64_t files = 0;    // that the MANIFEST needs
  uint64_t bytes = 0;    // of them
  uint64_t rebuilt = 0;  // SSTs that would be rebuilt if they were lost; with `rebuild`
  std::vector<TieredProblem> problems;
};

// Whether all files that the MANIFEST needs are there with the sizes that it says, all stubs and owners of
// folders are sound, and nothing is left that nothing names. Does not read the files. Changes nothing unless
// `repair`, for which the database must be closed: then lost stubs, and those damaged or of the wrong file, are
// written anew if one tier has one file of that name and size; what nothing names is put aside, in lost/. `rebuild`: whether each SST in
// a tier of kind memory could be rebuilt, by doing it in memory, as many bytes as recovery would need; for that the database
// must be closed, too.
Status CheckTiers(FileSystem* fs, const std::string& directory, bool repair, TieredCheck* result,
                  bool rebuild = false);

struct TieredAdoption {
  std::vector<std::string> missing;  // files of the database that are not there
  std::vector<std::string>
      unnamed;  // files in its folders that it does not name: the next opening puts them aside
  bool adopted = false;
};

// Makes a closed database the owner of its folders in the tiers: of one that is not opened because it is a copy, an older
// state, or because a tier's device was replaced. With losses only if `force`.
Status AdoptTiers(FileSystem* fs, const std::string& directory, bool force, TieredAdoption* result);

// Deletes what openings and tools have put aside of a closed database, in lost/ of its folders, because nothing names it.
// Aborted, and nothing is deleted, if not all is there that is the database's own.
// `folders`: names of folders in the tiers to delete, of directories that are gone, as those of checkpoints are (checkpoints=linked).
Status PurgeTiers(FileSystem* fs, const std::string& directory, uint64_t* files, uint64_t* bytes,
                  const std::vector<std::string>& folders = {});

// Puts an SST or blob file of a closed database into another tier. `later`: where the mover will put it when
// the database is opened; empty if it will stay.
Status MoveToTier(FileSystem* fs, const std::string& directory, const std::string& name,
                  const std::string& tier, std::string* later);

// Puts all files of a closed database that are in a tier into others, by placement and budgets, and removes
// its folder from the tier. NoSpace, before anything is moved, if the others have no room.
Status DrainTier(FileSystem* fs, const std::string& directory, const std::string& tier,
                 uint64_t* moved, const TieredProgress& progress = nullptr);

// Rebuilds what tiers of kind memory have lost of a closed database, as opening it would.
Status RecoverTiers(FileSystem* fs, const std::string& directory);

// Of a closed database that cannot be recovered: brings all SSTs that tiers of kind memory have, or that can be rebuilt, to
// other tiers. *given_up: the others, each with the reason why; for RocksDB they are missing then, so that RepairDB(),
// best_efforts_recovery or DestroyDB() can go on. The MANIFEST need not be readable.
Status SalvageTiers(FileSystem* fs, const std::string& directory,
                    std::vector<std::string>* given_up);

// Brings all files of a closed database home, whatever home's budget, and removes all that the plugin has made: then it is
// a directory as RocksDB without the plugin has it.
Status EvacuateTiers(FileSystem* fs, const std::string& directory, uint64_t* moved,
                     const TieredProgress& progress = nullptr);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
