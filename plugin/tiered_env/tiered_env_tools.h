// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// tiered_env for tools: what a database has in which tier, whether it is sound, and what brings it
// back, elsewhere or home. `rocktier tier` is made of these functions.
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

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// By the name alone: both are in one folder, wherever that is.
#include "tiered_env.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {

// Says what NewTieredFileSystem() would of the options, and gives their tiers, as far as they are
// sound. Looks at no directory: whether one of kind pmem can be mapped is not known.
Status CheckTieredOptions(const TieredOptions& options, std::vector<TierOptions>* tiers);

// Is called with the bytes that are done, and the bytes of all.
using TieredProgress = std::function<void(uint64_t done, uint64_t total)>;

// An SST or blob file, or a file of any kind that is not at home.
struct TieredFileInfo {
  std::string name;   // below the database directory
  uint64_t size = 0;  // bytes
  // Whether `needed` is known: it is an SST or blob file, and RocksDB could read the MANIFEST.
  bool need_is_known = false;
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

// What a column family has in a tier where it has a budget.
struct TieredFamilyInfo {
  // Its name, or, if no column family of the database goes by a pattern, the pattern.
  std::string name;
  bool is_pattern = false;
  uint64_t bytes = 0;   // of its SSTs and blob files
  uint64_t budget = 0;  // bytes
};

// What a database has in one tier.
struct TieredTierInfo {
  std::string name;
  std::string path;                        // of home: the database directory
  bool there = false;                      // there is such a directory
  uint64_t budget = 0;                     // bytes; 0: no limit
  uint64_t files = 0;                      // SSTs and blob files of the database
  uint64_t bytes = 0;                      // of them
  uint64_t other_files = 0;                // write-ahead logs, MANIFESTs... that are not at home
  uint64_t other_bytes = 0;                // of them
  uint64_t stranded_files = 0;             // SSTs and blob files that belong elsewhere
  uint64_t stranded_bytes = 0;             // of them
  uint64_t free_bytes = 0;                 // on its device; 0 if the tier is not there
  bool is_memory = false;                  // of kind memory
  std::vector<TieredFamilyInfo> families;  // that have a budget here
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
// aside, in lost/. Nothing is repaired while a folder is another home's, or another tier's, nor if
// the MANIFEST is damaged: that is the only problem of files then.
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
  bool adopted = false;  // false: nothing was changed, unless there was an error
};

// Makes a closed database the owner of its folders in the tiers: one that is not opened because it
// is a copy or an older state, or because a tier's device was replaced. If anything is missing or
// unnamed, nothing is changed without `force`; nothing ever is with `dry_run`. Corruption, without
// `force`: the MANIFEST is damaged, and so nobody knows what would be lost. IOError names the
// tiers that cannot be written to, and so are still another's; the others were adopted, and it can
// be called again. Does not begin as an opening does.
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
  std::string refusal;                // why SalvageTiers() would fail; empty: it would not
};

// Says what RecoverTiers() would rebuild and SalvageTiers() would give up, and changes nothing. If
// anything is lost, all SSTs that memory should have are rebuilt on trial, which needs as much
// memory as a recovery. `gone`: as SalvageTiers() has it.
Status RehearseRecovery(FileSystem* fs, const std::string& directory, TieredLoss* result,
                        const std::vector<std::string>& gone = {});

// Rebuilds what tiers of kind memory have lost of a closed database, as opening it would.
// Corruption names an SST that cannot be rebuilt, and why; then nothing is deleted.
Status RecoverTiers(FileSystem* fs, const std::string& directory);

// Saves what there is of a closed database that cannot be recovered: brings all SSTs that tiers of
// kind memory have, or that can be rebuilt, to other tiers. *given_up: the others, each with the
// reason. For RocksDB they are missing then, so that RepairDB(), best_efforts_recovery or
// DestroyDB() can go on. The MANIFEST need not be readable. Takes the tiers over as an opening
// does, and puts nothing aside.
//
// IOError, and nothing is given up: a log that is needed is not found, and a wal_dir that the
// database has or had is not there, or has none of its logs: the disk may not be mounted. `gone`:
// such directories whose disks are gone for good. What needs their logs is given up.
Status SalvageTiers(FileSystem* fs, const std::string& directory,
                    std::vector<std::string>* given_up, const std::vector<std::string>& gone = {});

// Brings all files of a closed database home, whatever home's budget, and removes all that the
// plugin has made. Then it is a directory as RocksDB without the plugin has it. *moved: files.
// NoSpace, before anything is moved, if home's device has no room.
Status EvacuateTiers(FileSystem* fs, const std::string& directory, uint64_t* moved,
                     const TieredProgress& progress = nullptr, bool dry_run = false);

}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
