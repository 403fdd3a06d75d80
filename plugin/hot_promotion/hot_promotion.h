// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// hot_promotion: a block-based table factory that serves hot records of SSTs on slow storage from copies on fast
// storage. After "HotRAP: Hot Record Retention and Promotion for LSM-trees with Tiered Storage"; RocksDB and its files
// are as they were.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {

// All options can be set by name from strings, beside those of BlockBasedTableOptions:
// "table_factory={id=HotPromotionTable;path=/ssd/hot;budget=10G;slow=/hdd;block_size=16K}".
struct HotPromotionOptions {
  static const char* kName() { return "HotPromotionOptions"; }

  // Directory on fast storage that copies of hot records are kept in, and which records are accessed. It is made if
  // it is missing, may be shared by databases and column families of one process, and may be deleted while none is
  // open: nothing in it is the only copy. Default: empty, no promotion: a plain block-based table.
  std::string path;

  // Most bytes of these copies in `path`. Required, at least 1 MiB. The access table has a limit of its own
  // (ralt_bytes) in addition.
  uint64_t budget = 0;

  // Which SSTs are on slow storage, a list separated by commas. An entry is a directory (with all below it), or
  // "temperature:" and one of hot, warm, cool, cold, ice, unknown: what the FileSystem reports of the file. Required.
  std::string slow;

  // Bytes of memory for records that were read from slow storage and are not in `path` yet. They are written when a
  // part of it is full. Records larger than a sixteenth of it, or a 64th of the budget, are not promoted. Default: 64 MiB. At least 64 KiB.
  uint64_t promotion_cache = 64 << 20;

  // A read of an SST on slow storage that took less than so many microseconds was answered by memory (the block cache, the
  // page cache): its record is not promoted. Default: 20. 0: the time does not matter.
  uint64_t slow_read_micros = 20;

  // Whether hot records of SSTs that are written to slow storage are copied then, so that a compaction does not make
  // them slow. Default: true.
  bool retention = true;

  // Records that are counted as accessed of each scan and SST, from where it begins. Scans are not answered from copies;
  // point reads of the same records are. Default: 16. 0: none.
  uint32_t scan_records = 16;

  // Most bytes of the access table's files. Default: 0, 15% of the budget.
  uint64_t ralt_bytes = 0;

  // Bytes of memory for accesses that are not in these files yet. Default: 0, by ralt_bytes.
  uint64_t ralt_buffer_bytes = 0;

  // Whether copies are read and written past the page cache, as SSTs are with use_direct_reads and
  // use_direct_io_for_flush_and_compaction. The file system of `path` must be able to. Default: false.
  bool direct_io = false;

  // Most files of the hot store that are open at a time. Default: 0, a quarter of the database's max_open_files or of what the
  // process may open (RLIMIT_NOFILE), whichever is less, but 20. The access table has a few dozen more.
  int store_open_files = 0;
};

// X(name, unit, description). Counters count since the directory was opened, of all databases that share it; gauges
// (marked so) move. Reads that memtables or a row cache answer are not seen. Those that the block cache answers are
// counted with the SST's tier.
#define HOT_PROMOTION_STATS(X)                                                                  \
  X(served_memory, "reads", "of records on slow storage, answered by the promotion cache")      \
  X(served_store, "reads", "of records on slow storage, answered by the hot store")             \
  X(served_fast, "reads", "of records on fast storage")                                         \
  X(served_slow, "reads", "of records on slow storage that were read from there")               \
  X(bypassed, "reads", "that had to go to an SST on slow storage: see README.md")               \
  X(scanned, "records", "that iterators came to, as far as they are recorded")                  \
  X(captured, "records", "read from slow storage and put into the promotion cache")             \
  X(refused, "records", "not put there: full, or the record is too large")                      \
  X(quick, "records", "not put there though looked at: read in less than slow_read_micros")     \
  X(promoted, "records", "written from there to the hot store")                                 \
  X(promoted_bytes, "bytes", "keys and values of them")                                         \
  X(cooled, "records", "dropped from there: not hot when their turn came")                      \
  X(retained, "records", "written to the hot store when their SST was written to slow storage") \
  X(retained_bytes, "bytes", "keys and values of them")                                         \
  X(lost, "records", "that were hot and found no room in the hot store in time")                \
  X(errors, "events", "failed reads and writes of the hot store")                               \
  X(sampling, "accesses", "gauge: of so many one is recorded; 1 if there are not very many")    \
  X(cache_bytes, "bytes", "gauge: in the promotion cache")                                      \
  X(store_bytes, "bytes", "gauge: files of the hot store")                                      \
  X(store_budget, "bytes", "gauge: the most that these may have")                               \
  X(store_records, "records", "gauge: in the hot store, about")                                 \
  X(store_memory, "bytes", "gauge: filters and indexes of its open files")                      \
  X(store_files, "files", "gauge: SSTs on slow storage that are known")                         \
  X(store_written_bytes, "bytes", "added to the hot store; its compactions are not counted")    \
  X(dropped_dead, "records", "dropped by compactions of the hot store: their SST is gone")      \
  X(dropped_cold, "records", "no longer hot, when there was little room")                       \
  X(dropped_forced, "records", "hot, when there was no room")

struct HotPromotionStats {
#define X(name, unit, description) uint64_t name = 0;
  HOT_PROMOTION_STATS(X)
#undef X
  std::map<std::string, uint64_t> access_table;  // the same of the access table

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;
};

// The statistics of a table factory's directory. InvalidArgument: not a HotPromotionTable; NotFound: its directory has
// not been opened, or could not be. Thread-safe.
Status GetHotPromotionStats(const TableFactory* factory, HotPromotionStats* stats);

// Writes what is in the promotion cache and hot to the store, and recorded accesses to the access table, and removes what
// is no longer of use; all of this happens in the background anyway. For tests and benchmarks. Errors as above, and of
// writing. Thread-safe.
Status SettleHotPromotion(const TableFactory* factory);

// What a directory (the option `path`) has, and what a look at it has found.
struct HotStoreInfo {
  uint64_t records = 0;
  uint64_t key_bytes = 0;    // of user keys
  uint64_t value_bytes = 0;  // of values
  uint64_t files = 0;        // SSTs with records here
  uint64_t file_bytes = 0;   // of the store
  uint64_t unknown = 0;      // entries that are none of a store
  // VerifyHotStore() only:
  bool verified = false;
  uint64_t equal = 0;      // records that their SST has so
  uint64_t different = 0;  // records that it does not: never if all is well
  uint64_t unchecked =
      0;  // records whose SST is gone, or cannot be opened with the default comparator and FileSystem
  std::string ToString() const;
  std::string ToJson() const;
};

// These read the store without changing it, also while it is in use: what is removed meanwhile may then be an error.
// Errors: NotFound, IOError, Corruption, NotSupported (another version).
Status InspectHotStore(const std::string& path, HotStoreInfo* info);

// The same, and compares each record with what its SST has.
Status VerifyHotStore(const std::string& path, HotStoreInfo* info);

// Calls visit(path of the SST, user key, value) for each record, by SST, until it returns false. The path is empty if it is
// not known.
using HotRecordVisitor =
    std::function<bool(const std::string& file, const Slice& user_key, const Slice& value)>;
Status DumpHotStore(const std::string& path, const HotRecordVisitor& visit);

// Removes the store and the access table. Busy if the directory is in use; NotFound if it has neither.
Status ClearHotStore(const std::string& path);

// Makes a table factory; `table_options` are those of its SSTs. Errors: InvalidArgument, with the option's name. The
// directory is only opened with the first SST: an error there is in the LOG, and nothing is promoted.
Status NewHotPromotionTableFactory(const HotPromotionOptions& options,
                                   const BlockBasedTableOptions& table_options,
                                   std::shared_ptr<TableFactory>* result);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
