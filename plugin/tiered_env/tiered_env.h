// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env: a FileSystem that spreads the files of a database over tiers of storage, by level,
// temperature or kind, and moves them when their level changes. RocksDB and all tools see one
// directory, the home of the database. RocksDB and its files are as they were.
//
// Follows "PmemEnv" (tiers of persistent memory, section 5) and, for tiers in memory, "WAL-assisted
// tiering". Sections named below are of the latter. README.md is the introduction, REFERENCE.md the
// full reference.

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

// What a tier is made of. In text: path, pmem, memory.
enum class TierKind {
  // A directory of the target FileSystem.
  kPath,
  // A directory whose files are mapped and written by libpmem. NotSupported where files cannot be
  // mapped, or in a build without libpmem.
  kPmem,
  // A directory in memory, a tmpfs, for SSTs only. SSTs that are lost with it are rebuilt from
  // write-ahead logs. Evidence for it is still being gathered: not for data that matters yet.
  kMemory,
};

// Makes a tier slower, for benchmarks and planning. The device does one thing after another.
struct Emulation {
  // Microseconds that are added to each read. Default: 0, none.
  uint64_t read_latency_us = 0;
  // Most reads, writes and syncs per second. Default: 0, no limit.
  uint64_t iops = 0;
  // Most bytes per second, read and written. Default: 0, no limit.
  uint64_t bandwidth = 0;
  // Each operation takes so many times as long as it did. At least 1. Default: 1, as it is.
  double slowdown = 1;

  // Whether nothing is slowed down.
  bool none() const { return read_latency_us == 0 && iops == 0 && bandwidth == 0 && slowdown <= 1; }
};

// One tier, as the option `tiers` has it: "name={path=...;budget=...}".
struct TierOptions {
  // One to 64 letters, digits, '_' and '-'. "home" is the tier of the database directory itself; it
  // has neither a path nor a kind.
  std::string name;

  // Default: path.
  TierKind kind = TierKind::kPath;

  // Absolute directory of the tier, without ';', braces and "..". Databases have folders of their
  // own in it. It must exist when a database is opened; one of kind memory is made. Empty for home
  // only.
  //
  // In text, several with commas between them: "/d1,/d2,/d3". Each file goes to one of them, by
  // their free space. The second one is a TierOptions of its own, with the name "NAME.2", and so
  // on; all else is as the first one's. Not of kind memory.
  std::string path;

  // The name of the tier whose further directory this is. Empty: it is the first or only one.
  std::string first;

  // Most bytes of SSTs and blob files in this directory, of all databases that are open through one
  // FileSystem. What finds no room goes to the next directory or tier. Default: 0, no limit.
  uint64_t budget = 0;

  // What the tier's files are reported as. In text: hot, warm, cold, ... Default: unknown.
  Temperature temperature = Temperature::kUnknown;

  // Default: the tier is as fast as it is.
  Emulation emulate;
};

// All options can be set by name from strings: "id=TieredFileSystem;tiers={...};placement={...}".
// The grammar is in REFERENCE.md. Sizes in text may end in K, M, G or T.
//
// A value out of its range is InvalidArgument with the option's name. Options cannot be changed
// while a database is open through the FileSystem: InvalidArgument.
struct TieredOptions {
  static const char* kName() { return "TieredOptions"; }

  // The tiers, the fastest first. A file that finds no room goes to the next one. "home" is added
  // at the end if it is not there. Default: home only.
  std::string tiers;

  // Rules that say which files belong to which tier, by level, temperature, kind, age or column
  // family. The first rule that fits counts. What fits none stays at home. Default: no rules.
  std::string placement;

  // Bytes per second that files are moved with; each byte counts once, though it is read and
  // written. Trimming of logs counts, too. More brings files sooner where they belong, and takes
  // more of the devices. 0: no limit. Default: 100 MiB.
  uint64_t mover_bytes_per_second = 100 << 20;

  // What holds the mover back. "own": mover_bytes_per_second. "database": DBOptions::rate_limiter
  // of the database whose files are moved, at low priority; mover_bytes_per_second if it has none.
  // Default: own.
  std::string mover_limiter = "own";

  // When files are moved, each day: "HH:mm-HH:mm" in UTC, as DBOptions::daily_offpeak_time_utc. The
  // end may be on the next day. What leaves tiers in memory is moved at any hour. Default: empty,
  // always.
  std::string mover_hours;

  // Whether files are moved at all. Default: true.
  bool mover = true;

  // --- For tiers of kind memory ("WAL-assisted tiering", section 3). ---

  // Bytes of logs for each byte of SSTs in memory. Write-ahead logs are retained as long as these
  // SSTs need them. When logs have more than `high`, those of whose bytes the smallest part is
  // needed are rewritten without the rest, until they have less than `low` (thresholds lambda_t and
  // lambda_s of the paper, section 3.2). Less takes less disk and writes more. `low` is at least 1,
  // `high` at least `low`. Defaults: 1.5 and 1.3.
  double wal_amplification_high = 1.5;
  double wal_amplification_low = 1.3;

  // Most bytes of retained logs of a database, and of its other logs that recipes need. When it is
  // reached, SSTs are brought from memory to the next tier, the oldest first, and new ones go
  // there. InvalidArgument with mover=false. Default: 0, no limit.
  uint64_t wal_budget = 0;

  // How rewritten logs are compressed: "none", "lz4" or "zstd". If not none, all retained logs are
  // rewritten. InvalidArgument if RocksDB was built without it. Default: none.
  std::string wal_compression = "none";

  // What happens when a database is closed. "keep": SSTs in memory stay there. "persist": they are
  // brought to the next tier, whatever its budget, and closing waits for it. Default: keep.
  std::string on_close = "keep";

  // Threads that rebuild SSTs when a database is opened. Default: 0, one for each CPU.
  uint32_t recovery_threads = 0;

  // --- For all kinds of tiers. ---

  // What a file becomes that is linked to a directory of no open database, as checkpoints and
  // exports do. "plain": a plain file. It is a hard link to the file in the tier where both are on
  // one file system, else a copy; always a copy of files in tiers of kind pmem and memory.
  // "linked": a link within the tier and a stub. It costs nothing, and means nothing without the
  // tiers: such a checkpoint cannot be copied or sent elsewhere. Default: plain.
  std::string checkpoints = "plain";

  // Seconds for which files in tiers that nothing names any more are kept, in lost/ of the
  // database's folder. They may be of a home that is put back. When they are over, the next opening
  // that finds all that is the database's own deletes them. Any value. Default: 7 days.
  uint64_t orphan_retention = 7 * 24 * 60 * 60;

  // Most bytes of such files in each tier. What is more is deleted, the oldest first, but nothing
  // that is not a day old. 0: no limit. Default: 10 GiB.
  uint64_t orphan_budget = uint64_t{10} << 30;

  // Seconds after which the statistics file of each open database is renewed: OpenMetrics' text. It
  // goes when the database is closed. 0: there is none. Default: 1. At most 86400.
  uint64_t metrics_interval = 1;

  // Absolute path of one file for all databases, in the place of rocktier_tiered_env.prom in the
  // directory of each. Ends in ".prom"; its directory must exist. Default: empty.
  std::string metrics_file;

  // Directories of DBOptions::db_paths and cf_paths, but for the database's own, separated by
  // colons. RocksDB does not write them into its OPTIONS file. An SST or blob file that is not in
  // the database's directory is looked for there before it is called missing. Nothing is placed
  // there, or deleted. Default: none.
  std::string db_paths;
};

// X(name, type, unit, description), of one tier. Counters count since the FileSystem was made,
// gauges are as it is now. Properties, metrics and the block in the LOG follow from the list.
#define TIERED_TIER_STATS(X)                                                                   \
  X(files, gauge, "count", "SSTs and blob files of open databases")                            \
  X(bytes, gauge, "bytes", "size of these files and of those being written")                   \
  X(budget, gauge, "bytes", "the most that these may have; 0: no limit")                       \
  X(held_bytes, gauge, "bytes", "size of files that left memory and are mapped yet")           \
  X(misplaced_files, gauge, "count", "files that are here and belong elsewhere")               \
  X(stranded_bytes, gauge, "bytes", "size of the files that are here and belong elsewhere")    \
  X(reads, counter, "count", "reads of SSTs and blob files")                                   \
  X(read_bytes, counter, "bytes", "bytes read from SSTs and blob files")                       \
  X(written_bytes, counter, "bytes", "bytes that databases have written, without the mover's") \
  X(spills, counter, "count", "files that belonged here and found no room")                    \
  X(moves, counter, "count", "files that the mover has put here")                              \
  X(moved_bytes, counter, "bytes", "size of the files that the mover has put here")            \
  X(errors, counter, "count", "files that could not be made here, or moved here")

// What a tier has, and has counted since the FileSystem was made. A plain struct: not thread-safe.
struct TieredTierStats {
  std::string name;  // of the tier
#define X(name, type, unit, description) uint64_t name = 0;
  TIERED_TIER_STATS(X)
#undef X
};

// X(name, type, unit, description), of the tiers of kind memory together, of all databases that are
// open. Counters of a database count since it was opened.
#define TIERED_VOLATILE_STATS(X)                                                                 \
  X(bytes, gauge, "bytes", "size of SSTs in memory")                                             \
  X(recipes, gauge, "count", "recipes of SSTs in memory")                                        \
  X(recipe_bytes, gauge, "bytes", "size of these recipes")                                       \
  X(recipe_log_bytes, gauge, "bytes", "size of the recipe log")                                  \
  X(recipe_log_written_bytes, counter, "bytes", "bytes written to the recipe log")               \
  X(segments, gauge, "count", "retained logs: deleted by RocksDB, and recipes need them")        \
  X(retained_bytes, gauge, "bytes", "size of retained logs")                                     \
  X(needed_bytes, gauge, "bytes", "size of logs that RocksDB has still and recipes need")        \
  X(live_entries, gauge, "count", "entries of all these logs that recipes refer to")             \
  X(live_bytes, gauge, "bytes", "size of these entries, as they are in logs that are rewritten") \
  X(index_bytes, gauge, "bytes", "memory that is used to know the entries")                      \
  X(tables, counter, "count", "SSTs that recipes were made of")                                  \
  X(table_bytes, counter, "bytes", "size of these SSTs: durable storage was not written that")   \
  X(entries, counter, "count", "entries in these SSTs, but for compressed blocks")               \
  X(references, counter, "count", "entries that recipes have by reference to a log")             \
  X(literal_bytes, counter, "bytes", "size of keys and values that recipes have themselves")     \
  X(trims, counter, "count", "logs that were rewritten")                                         \
  X(trimmed_bytes, counter, "bytes", "bytes that this has saved")                                \
  X(archived_bytes, counter, "bytes", "bytes that were written for this")                        \
  X(persisted_bytes, counter, "bytes", "size of SSTs that were brought to durable tiers")        \
  X(damaged_logs, counter, "count", "retained logs that were found to be damaged")               \
  X(barriers, counter, "count", "syncs of the recipe log")                                       \
  X(rebuilt_files, counter, "count", "SSTs that were rebuilt")                                   \
  X(rebuilt_bytes, counter, "bytes", "size of SSTs that were rebuilt")                           \
  X(recovery_micros, counter, "microseconds", "time that openings have spent on that")

// What tiers in memory have, and what was counted of them. A plain struct: not thread-safe.
struct VolatileStats {
#define X(name, type, unit, description) uint64_t name = 0;
  TIERED_VOLATILE_STATS(X)
#undef X

  // Bytes of logs that recipes need, for each byte in memory: the "WAL amplification factor",
  // lambda. 0 if nothing is in memory.
  double wal_amplification() const {
    return bytes == 0
               ? 0
               : static_cast<double>(retained_bytes + needed_bytes) / static_cast<double>(bytes);
  }
  // Share of the entries, 0 to 1, of which recipes have keys and values themselves.
  double literal_ratio() const {
    return entries == 0 ? 0
                        : static_cast<double>(entries - references) / static_cast<double>(entries);
  }
  // Bytes that durable storage was not written: SSTs, less all that was written instead. Below 0:
  // more was written.
  int64_t saved_bytes() const {
    return static_cast<int64_t>(table_bytes) -
           static_cast<int64_t>(persisted_bytes + recipe_log_written_bytes + archived_bytes);
  }
};

// A snapshot of all statistics.
struct TieredStats {
  std::vector<TieredTierStats> tiers;  // in their order
  VolatileStats in_memory;             // all 0 if there are no tiers of kind memory

  // One line for each figure.
  std::string ToString() const;
  // One object: {"fast":{"files":...},...,"in memory":{...}}.
  std::string ToJson() const;
};

// Makes a FileSystem over `target` (FileSystem::Default() if null). It is thread-safe, as all
// FileSystems are. InvalidArgument names the option that is not sound; NotSupported: a tier of kind
// pmem is not possible. *result is set only if the Status is OK. The tiers' directories are looked
// at when a database is opened, those of kind pmem here already.
Status NewTieredFileSystem(const TieredOptions& options, const std::shared_ptr<FileSystem>& target,
                           std::shared_ptr<FileSystem>* result);

// Makes a listener for DBOptions::listeners. It tells the FileSystem the level and column family of
// each SST and blob file before that is written, so that none has to be moved for want of it. With
// tiers of kind memory it also drops the recipes of what a compaction has rewritten. One object may
// serve several databases; thread-safe. From an OPTIONS file: listeners={id=TieredEnvListener}.
std::shared_ptr<EventListener> NewTieredEnvListener();

// Takes a snapshot of the statistics of all databases that are open through `fs`. Thread-safe.
// InvalidArgument if `fs` is not a TieredFileSystem, and wraps none.
Status GetTieredStats(FileSystem* fs, TieredStats* stats);

// Sets *value to one figure of the statistics, in base units: "rocktier.tiered_env.NAME", and of a
// tier "rocktier.tiered_env.NAME.TIER", as in "rocktier.tiered_env.tier_bytes.fast". The names are
// in docs/metrics.md. False, and *value stays: there is no such property, or `fs` is not a
// TieredFileSystem, and wraps none. Thread-safe.
bool GetTieredProperty(FileSystem* fs, const std::string& property, std::string* value);

// Returns all figures in OpenMetrics' text format, with the database's directory as the label `db`.
// Empty if `fs` is not a TieredFileSystem, and wraps none. Thread-safe.
std::string TieredMetricsText(FileSystem* fs);

// Waits until every file of the databases that are open is where it belongs, or as near as there is
// room. Returns at once without a mover. Thread-safe. InvalidArgument as above.
Status WaitForMoves(FileSystem* fs);

// --- For tools. ---
//
// `fs` is a TieredFileSystem, or wraps one, with the options that the database in `directory` has;
// else InvalidArgument. NotFound: there is no database. A function that needs the database closed
// fails with IOError if it is open somewhere. Those that need it closed begin as an opening for
// writing does, unless their comment says otherwise: they fail with InvalidArgument or Busy if the
// tiers are another home's or locked, rebuild what memory has lost, and put aside what nothing
// names; Corruption if a file that the MANIFEST needs is missing or damaged. After a crash each can
// be run again. The mover has no part in them.
//
// `dry_run`: nothing is changed, and *moved, *files, *later... tell what would be. What would be
// refused is, as far as that is known before anything is written. SSTs that memory has lost count
// as if they were there.

// Is called with the bytes that are done, and the bytes of all.
using TieredProgress = std::function<void(uint64_t done, uint64_t total)>;

// An SST or blob file, or a file of any kind that is not at home.
struct TieredFileInfo {
  std::string name;                                 // below the database directory
  uint64_t size = 0;                                // bytes
  bool needed = false;                              // the MANIFEST names it
  int level = -1;                                   // of an SST that is needed; -1: not known
  uint32_t column_family = 0;                       // its id, of an SST that is needed
  std::string tier;                                 // where it is
  std::string wanted;                               // the tier where it belongs
  std::string next;                                 // where the mover brings it, or where it is
  std::string path;                                 // where it is
  Temperature temperature = Temperature::kUnknown;  // the MANIFEST's, else the tier's
  bool lost = false;                                // there is a stub, and no file
};

// What a database has in one tier.
struct TieredTierInfo {
  std::string name;
  std::string path;             // of home: the database directory
  bool there = false;           // there is such a directory
  uint64_t budget = 0;          // bytes; 0: no limit
  uint64_t files = 0;           // SSTs and blob files of the database
  uint64_t bytes = 0;           // of them
  uint64_t other_files = 0;     // write-ahead logs, MANIFESTs... that are not at home
  uint64_t other_bytes = 0;     // of them
  uint64_t stranded_files = 0;  // SSTs and blob files that belong elsewhere
  uint64_t stranded_bytes = 0;  // of them
  uint64_t free_bytes = 0;      // on its device; 0 if the tier is not there
  bool is_memory = false;       // of kind memory
};

// What is in a database's directory and its tiers. A plain struct: not thread-safe.
struct TieredDirectoryInfo {
  std::vector<TieredFileInfo> files;    // by name
  std::vector<TieredTierInfo> tiers;    // in their order
  bool has_memory = false;              // there are tiers of kind memory
  uint64_t mover_bytes_per_second = 0;  // the option; 0: no limit
  // Figures of tiers of kind memory. Bytes, recipes and logs are as they are. What is counted is of
  // the process that has the database open, some seconds old, or had it open last.
  VolatileStats in_memory;
};

// Says which file is where, without changing anything. The database may be open.
Status InspectTiers(FileSystem* fs, const std::string& directory, TieredDirectoryInfo* info);

// A write-ahead log that recipes of SSTs in memory refer to, or that is retained.
struct TieredLogInfo {
  uint64_t id = 0;  // the segment's
  // "log": RocksDB has it still. "retained": as it was. "rewritten": by trimming. "lost": it is not
  // there.
  std::string kind;
  std::string path;
  uint64_t bytes = 0;    // of the file
  uint64_t entries = 0;  // that are in it
  // Entries that recipes refer to: the 1s of its sequence-number bitmap.
  uint64_t live_entries = 0;
  // Bytes of the entries, as trimming writes and weighs them: each entry at most 1/16 off.
  uint64_t entry_bytes = 0;
  uint64_t live_bytes = 0;  // of those that are live
  std::string problem;      // why not all of it was read; empty: all was

  // Shares of what is live, 0 to 1.
  double live_entry_share() const { return ShareOf(live_entries, entries); }
  double live_byte_share() const { return ShareOf(live_bytes, entry_bytes); }

 private:
  static double ShareOf(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  }
};

// Reads the recipes and the logs, and lists the logs by id, without changing anything. The database
// may be open; what happens meanwhile is seen in part.
Status InspectLogs(FileSystem* fs, const std::string& directory, std::vector<TieredLogInfo>* logs);

// What CheckTiers() has found wrong.
struct TieredProblem {
  std::string path;         // of the file or directory
  std::string what;         // a sentence for the operator
  bool harmless = false;    // left from interrupted work; the next opening, or nobody, minds it
  bool repaired = false;    // by this call
  bool repairable = false;  // `repair` would try
};

// What CheckTiers() has found. A plain struct: not thread-safe.
struct TieredCheck {
  bool open_elsewhere = false;  // the database is open: what is left over was not looked for
  uint64_t files = 0;           // that the MANIFEST needs
  uint64_t bytes = 0;           // of them
  uint64_t rebuilt = 0;         // SSTs that would be rebuilt if they were lost; with `rebuild`
  std::vector<TieredProblem> problems;  // none: all is well
};

// Checks whether all files that the MANIFEST needs are there with the sizes that it says, all stubs
// and owners of folders are sound, and nothing is left that nothing names. Does not read the files,
// and changes nothing. Does not begin as an opening does. What is wrong is in result->problems; the
// Status is of the check itself.
//
// `repair`, for which the database must be closed: stubs that are lost, damaged or of the wrong
// file are written anew if one tier has one file of that name and size. What nothing names is put
// aside, in lost/. Nothing is repaired while a folder is another home's, or another tier's.
//
// `rebuild`, for which it must be closed, too: checks whether each SST in a tier of kind memory
// could be rebuilt, by doing it in memory. That needs as many bytes as a recovery.
Status CheckTiers(FileSystem* fs, const std::string& directory, bool repair, TieredCheck* result,
                  bool rebuild = false);

// What AdoptTiers() has found, or would lose. A plain struct: not thread-safe.
struct TieredAdoption {
  std::vector<std::string> missing;  // files of the database that are not there
  // Files in its folders that it does not name: the next opening puts them aside.
  std::vector<std::string> unnamed;
  bool adopted = false;  // false: nothing was changed
};

// Makes a closed database the owner of its folders in the tiers: one that is not opened because it
// is a copy or an older state, or because a tier's device was replaced. If anything is missing or
// unnamed, nothing is changed without `force`; nothing ever is with `dry_run`. Does not begin as an
// opening does.
Status AdoptTiers(FileSystem* fs, const std::string& directory, bool force, TieredAdoption* result,
                  bool dry_run = false);

// Deletes what openings and tools have put aside of a closed database, in lost/ of its folders,
// because nothing names it; and logs that a newer state of it has retained in another directory: as
// long as they are there, no opening deletes a retained log. *files and *bytes: what was deleted.
// Aborted, and nothing is deleted, if not all is there that is the database's own.
//
// `folders`: names of folders in the tiers to delete, whose directories are gone, as those of
// checkpoints may be (checkpoints=linked). InvalidArgument if the directory is there, NotFound if
// there is no such folder.
Status PurgeTiers(FileSystem* fs, const std::string& directory, uint64_t* files, uint64_t* bytes,
                  const std::vector<std::string>& folders = {}, bool dry_run = false);

// Puts an SST or blob file of a closed database into another tier. *later: where the mover will put
// it when the database is opened; empty if it will stay. NoSpace if it is beyond the tier's budget,
// InvalidArgument if there is no such tier or it is of kind memory, NotFound if there is no such
// file.
Status MoveToTier(FileSystem* fs, const std::string& directory, const std::string& name,
                  const std::string& tier, std::string* later, bool dry_run = false);

// Puts all files of a closed database that are in a tier into others, by placement and budgets, and
// removes its folder from the tier. *moved: files. NoSpace, before anything is moved, if the others
// have no room. InvalidArgument if there is no such tier, and for home.
Status DrainTier(FileSystem* fs, const std::string& directory, const std::string& tier,
                 uint64_t* moved, const TieredProgress& progress = nullptr, bool dry_run = false);

// What tiers of kind memory have lost of a database, by RehearseRecovery(). A plain struct: not
// thread-safe.
struct TieredLoss {
  std::vector<std::string> lost;      // SSTs that the MANIFEST needs and that are not there
  std::vector<std::string> for_good;  // those of them that cannot be rebuilt: "NAME: reason"
};

// Says what RecoverTiers() would rebuild and SalvageTiers() would give up, and changes nothing. If
// anything is lost, all SSTs that memory should have are rebuilt on trial, which needs as much
// memory as a recovery.
Status RehearseRecovery(FileSystem* fs, const std::string& directory, TieredLoss* result);

// Rebuilds what tiers of kind memory have lost of a closed database, as opening it would.
// Corruption names an SST that cannot be rebuilt, and why; then nothing is deleted.
Status RecoverTiers(FileSystem* fs, const std::string& directory);

// Saves what there is of a closed database that cannot be recovered: brings all SSTs that tiers of
// kind memory have, or that can be rebuilt, to other tiers. *given_up: the others, each with the
// reason. For RocksDB they are missing then, so that RepairDB(), best_efforts_recovery or
// DestroyDB() can go on. The MANIFEST need not be readable. Takes the tiers over as an opening
// does, and puts nothing aside.
Status SalvageTiers(FileSystem* fs, const std::string& directory,
                    std::vector<std::string>* given_up);

// Brings all files of a closed database home, whatever home's budget, and removes all that the
// plugin has made. Then it is a directory as RocksDB without the plugin has it. *moved: files.
// NoSpace, before anything is moved, if home's device has no room.
Status EvacuateTiers(FileSystem* fs, const std::string& directory, uint64_t* moved,
                     const TieredProgress& progress = nullptr, bool dry_run = false);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
