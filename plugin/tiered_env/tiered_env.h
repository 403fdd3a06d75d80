// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env: a FileSystem that spreads the files of a database over tiers of storage, by level,
// temperature or kind, and moves them when their level changes. RocksDB and all tools see one
// directory, the home of the database. RocksDB and its files are as they were.
//
// Follows "PmemEnv" (tiers of persistent memory, section 5) and, for tiers in memory, "WAL-assisted
// tiering". Sections named below are of the latter. README.md is the introduction, REFERENCE.md the
// full reference. What tools ask of a database and do to it is in tiered_env_tools.h.

#pragma once

#include <cstdint>
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

// What each column family may have of a tier, by its name. In text "cf:PATTERN=SIZE".
struct FamilyBudget {
  // As in the option `placement`: of fnmatch(3), without '/', '=', ';' and braces.
  std::string pattern;
  // 0: no limit.
  uint64_t bytes = 0;
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

  // Most bytes of SSTs and blob files that one column family of one database has in this directory:
  // each family that a pattern fits by itself. The first pattern that fits counts. What finds no
  // room goes where it would go if the tier was full, and comes back later. A file that is being
  // written is finished where it was begun, and may have more; no write fails for such a budget.
  // Default: none, no limits.
  std::vector<FamilyBudget> family_budgets;

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

// X(name, type, unit, description), of a column family in a tier where it has a budget.
#define TIERED_FAMILY_STATS(X)                                                                   \
  X(bytes, gauge, "bytes", "size of a family's SSTs and blob files, and of those being written") \
  X(budget, gauge, "bytes", "the most that these shall have in the tier")

// What a column family has in a tier where it has a budget. A plain struct: not thread-safe.
struct TieredFamilyStats {
  std::string database;  // its directory
  std::string tier;      // its name
  std::string family;    // the column family's name
#define X(name, type, unit, description) uint64_t name = 0;
  TIERED_FAMILY_STATS(X)
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
  std::vector<TieredTierStats> tiers;       // in their order
  std::vector<TieredFamilyStats> families;  // that have a budget in a tier
  VolatileStats in_memory;                  // all 0 if there are no tiers of kind memory

  // One line for each figure.
  std::string ToString() const;
  // One object: {"fast":{"files":...},...,"in memory":{...}}, and, if there are such families,
  // "column families":[{"database":...,"tier":...,"family":...,"bytes":...},...].
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
// tier "rocktier.tiered_env.NAME.TIER", as in "rocktier.tiered_env.tier_bytes.fast"; of a column
// family with a budget "rocktier.tiered_env.NAME.TIER.FAMILY", of one database that has it. The
// names are in docs/metrics.md. False, and *value stays: there is no such property, or `fs` is not
// a TieredFileSystem, and wraps none. Thread-safe.
bool GetTieredProperty(FileSystem* fs, const std::string& property, std::string* value);

// Returns all figures in OpenMetrics' text format, with the database's directory as the label `db`.
// Empty if `fs` is not a TieredFileSystem, and wraps none. Thread-safe.
std::string TieredMetricsText(FileSystem* fs);

// Waits until every file of the databases that are open is where it belongs, or as near as there is
// room. Returns at once without a mover. Thread-safe. InvalidArgument as above.
Status WaitForMoves(FileSystem* fs);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
