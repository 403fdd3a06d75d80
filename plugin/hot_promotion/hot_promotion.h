// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// hot_promotion: a block-based table factory that serves hot records of SSTs on slow storage from
// copies on fast storage. RocksDB and its files are as they were.
//
// Follows Qiu et al., "HotRAP: Hot Record Retention and Promotion for LSM-trees with Tiered
// Storage". Sections named below are of this paper. README.md is the introduction, REFERENCE.md the
// full reference.

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
//
// A value out of its range is InvalidArgument with the option's name: from
// NewHotPromotionTableFactory(), DB::Open() and SetOptions(). DB::SetOptions() changes `slow`,
// `slow_read_micros`, `retention` and `scan_records`, for SSTs that are opened or written from then
// on; it refuses changes of the others.
//
// Where several factories of a process share a `path`, those four are each factory's own. Of the
// others those of the first factory that opens the directory count.
struct HotPromotionOptions {
  static const char* kName() { return "HotPromotionOptions"; }

  // Directory on fast storage for the copies of hot records and for the access table. Absolute. It
  // is made if it is missing; the directory above it must exist. Databases and column families of
  // one process may share it. It may be deleted while none is open: nothing in it is the only copy.
  // DB::Open() is InvalidArgument if it is somebody else's. If it cannot be used at present, the
  // database is served without copies, and it is tried again. Default: empty, a plain block-based
  // table; no other option is looked at then.
  std::string path;

  // Most bytes of the copies in `path`; their files may have 5% more. Up to 85% of it can be hot.
  // The access table has a limit of its own (ralt_bytes) in addition. More keeps more records.
  // Required with a path. At least 1 MiB.
  uint64_t budget = 0;

  // Which SSTs are on slow storage, a list separated by commas. An entry is an absolute directory
  // (with all below it, compared as text with the SST's path), or "temperature:" and one of
  // unknown, hot, warm, cold, and since RocksDB 11 cool, ice: what the FileSystem reports of the
  // file. Required with a path.
  std::string slow;

  // Bytes of memory for records that were read from slow storage and are not in `path` yet (the
  // promotion cache, section 3.4). They are written when a part of it is full. Records larger than
  // a sixteenth of it, or a 64th of the budget, are not promoted. As many bytes bound what
  // retention keeps of one SST. Default: 64 MiB. At least 64 KiB.
  uint64_t promotion_cache = 64 << 20;

  // Microseconds. A read of an SST on slow storage that took less was answered by memory (the block
  // cache, the page cache): its record is not promoted. 0: the time does not matter, as for a trial
  // with a small database. Default: 20. Any value.
  uint64_t slow_read_micros = 20;

  // Whether hot records of SSTs that are written to slow storage are copied then (section 3.1), so
  // that a compaction does not make them slow. Default: true.
  bool retention = true;

  // Records that are counted as accessed of each scan and SST, from where the scan begins. Scans
  // are not answered from copies; point reads of the same records are. 0: none. Default: 16. Any
  // value.
  uint32_t scan_records = 16;

  // Most bytes of access records in the access table (RALT, sections 3.2 and 3.7). Its files take
  // more for filters, indexes and merges. With too little fewer records are known as hot.
  // Default: 0, 15% of the budget. Less than 64 KiB counts as 64 KiB.
  uint64_t ralt_bytes = 0;

  // Bytes of memory for accesses that are not in the access table's files yet. More takes fewer
  // writes; less makes records known as hot earlier, and loses less to a kill -9. While they are
  // written, up to 100 bytes more are used for each access, of 16 MiB of the buffer at a time.
  // Default: 0, a 16th of ralt_bytes, but 256 KiB at least and 16 MiB at most. Other values are
  // brought into 4 KiB to 1 GiB.
  uint64_t ralt_buffer_bytes = 0;

  // Whether copies are read and written past the page cache, as SSTs are with use_direct_reads and
  // use_direct_io_for_flush_and_compaction. The file system of `path` must be able to. Without it
  // the page cache holds copies too, in memory without a limit. Default: false.
  bool direct_io = false;

  // Most files of the hot store that are open at a time. With fewer than it has some reads of
  // copies open a file first. The access table has a few dozen more. Default: 0, a quarter of the
  // database's max_open_files or of what the process may open (RLIMIT_NOFILE), whichever is less,
  // but at least 20. Else at least 20.
  int store_open_files = 0;

  // Seconds after which the statistics file is renewed: OpenMetrics' text. There is one for each
  // directory, and it goes when that is closed. Default: 1. At most 86400; 0: there is none.
  uint64_t metrics_interval = 1;

  // Absolute path of the statistics file, which ends in ".prom". Its directory must exist. Default:
  // empty, rocktier_hot_promotion.prom in `path`.
  std::string metrics_file;
};

// X(name, type, unit, description). Counters count since the directory was opened, of all databases
// that share it; gauges move. Reads that memtables or a row cache answer are not seen. Those that
// the block cache answers are counted with the SST's tier. Properties, metrics and the block in the
// LOG follow from the list. REFERENCE.md has more on each.
#define HOT_PROMOTION_STATS(X)                                                                     \
  X(served_memory, counter, "reads",                                                               \
    "reads of records on slow storage, answered by the promotion cache")                           \
  X(served_store, counter, "reads", "reads of records on slow storage, answered by the hot store") \
  X(served_fast, counter, "reads", "reads of records on fast storage")                             \
  X(served_slow, counter, "reads", "reads of records on slow storage that were read from there")   \
  X(bypassed, counter, "reads", "reads that had to go to an SST on slow storage")                  \
  X(scanned, counter, "records", "records that iterators came to, as far as they are recorded")    \
  X(captured, counter, "records",                                                                  \
    "records read from slow storage and put into the promotion cache")                             \
  X(refused, counter, "records",                                                                   \
    "records not put into the promotion cache: it is full, or the record too large")               \
  X(quick, counter, "records",                                                                     \
    "records not put into the promotion cache: read in less than slow_read_micros")                \
  X(promoted, counter, "records", "records written from the promotion cache to the hot store")     \
  X(promoted_bytes, counter, "bytes", "keys and values of the promoted records")                   \
  X(cooled, counter, "records",                                                                    \
    "records dropped from the promotion cache: not hot when their turn came")                      \
  X(retained, counter, "records",                                                                  \
    "records written to the hot store when their SST was written to slow storage")                 \
  X(retained_bytes, counter, "bytes", "keys and values of the retained records")                   \
  X(lost, counter, "records", "hot records that found no room in the hot store in time")           \
  X(errors, counter, "events", "failed reads and writes of the hot store")                         \
  X(sampling, gauge, "accesses", "of so many accesses one is recorded; 1 if they are not many")    \
  X(cache_bytes, gauge, "bytes", "size of the promotion cache")                                    \
  X(store_bytes, gauge, "bytes", "size of the files of the hot store")                             \
  X(store_budget, gauge, "bytes", "the most that the files of the hot store may have")             \
  X(store_records, gauge, "records", "records in the hot store, about")                            \
  X(store_memory, gauge, "bytes", "filters and indexes of the open files of the hot store")        \
  X(store_files, gauge, "files", "SSTs on slow storage that are known")                            \
  X(store_written_bytes, counter, "bytes",                                                         \
    "bytes added to the hot store, without its compactions")                                       \
  X(dropped_dead, counter, "records",                                                              \
    "records dropped by compactions of the hot store: their SST is gone")                          \
  X(dropped_cold, counter, "records",                                                              \
    "records dropped, no longer hot, when there was little room")                                  \
  X(dropped_forced, counter, "records", "hot records dropped when there was no room")

// What a table factory has counted, and what its store has. A plain struct: not thread-safe.
struct HotPromotionStats {
#define X(name, type, unit, description) uint64_t name = 0;
  HOT_PROMOTION_STATS(X)
#undef X
  std::map<std::string, uint64_t> access_table;  // the same of the access table; see REFERENCE.md

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;    // one object on one line, with the object "access_table" in it
};

// Takes a snapshot of the statistics of a table factory's directory. InvalidArgument: the factory
// is not a HotPromotionTable. NotFound: its directory has not been opened, or could not be.
// Thread-safe.
Status GetHotPromotionStats(const TableFactory* factory, HotPromotionStats* stats);

// Sets *value to one of these figures, in base units: "rocktier.hot_promotion.NAME", as in
// "rocktier.hot_promotion.served_store", those of the access table as access_table_NAME. The names
// are in docs/metrics.md. False, and *value stays: there is no such property, or
// GetHotPromotionStats() fails. Thread-safe.
bool GetHotPromotionProperty(const TableFactory* factory, const std::string& property,
                             std::string* value);

// Returns all figures in OpenMetrics' text format, with the directory as the label `path`. Empty if
// GetHotPromotionStats() fails. Thread-safe.
std::string HotPromotionMetricsText(const TableFactory* factory);

// Does at once what the background does anyway: writes recorded accesses to the access table,
// writes what is hot in the promotion cache to the store, and removes copies of SSTs that are gone.
// For tests and benchmarks. Errors: those of GetHotPromotionStats(), and of writing; Busy: the
// store had no room. Thread-safe.
Status SettleHotPromotion(const TableFactory* factory);

// Says what a directory (the option `path`) has, and what a look at it has found.
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
  // Records whose SST is gone, or that this process cannot open by the default FileSystem.
  uint64_t unchecked = 0;
  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;    // one object on one line
};

// Counts what a directory has. Does not change it, also while it is in use; what is removed
// meanwhile may then be an error. Errors: NotFound: no hot store; IOError; Corruption;
// NotSupported: another version. Thread-safe, as are all functions below.
Status InspectHotStore(const std::string& path, HotStoreInfo* info);

// Does what InspectHotStore() does, and compares each record with what its SST has. `progress` may
// be null; it is called by the calling thread, with the entries that are done, and about how many
// there are.
Status VerifyHotStore(const std::string& path, HotStoreInfo* info,
                      const std::function<void(uint64_t done, uint64_t total)>& progress = nullptr);

// Calls visit(path of the SST, user key, value) for each record, by SST, until it returns false.
// The path is empty if it is not known. Changes nothing. Errors as of InspectHotStore().
using HotRecordVisitor =
    std::function<bool(const std::string& file, const Slice& user_key, const Slice& value)>;
Status DumpHotStore(const std::string& path, const HotRecordVisitor& visit);

// Removes the store and the access table; nothing is lost but time. Busy: the directory is in use.
// NotFound: it has neither. InvalidArgument: it, or a part of it, is or has somebody else's. With
// `dry_run` nothing is removed, and the errors are as without it.
Status ClearHotStore(const std::string& path, bool dry_run = false);

// Makes a table factory; `table_options` are those of its SSTs. InvalidArgument: an option is
// wrong; its name is in the message. The directory is only opened with the first SST. An error
// there is in the database's LOG; then nothing is promoted, and the directory is tried again.
Status NewHotPromotionTableFactory(const HotPromotionOptions& options,
                                   const BlockBasedTableOptions& table_options,
                                   std::shared_ptr<TableFactory>* result);

// Makes one in front of another factory, which reads and writes the SSTs: any that is derived from
// BlockBasedTable, such as BlobHybridTable. GetOptions<BlockBasedTableOptions>() of the result
// gives that factory's. In an OPTIONS file: "table={id=BlobHybridTable}" beside the other options;
// what is said of block-based tables beside it is that factory's. InvalidArgument, besides the
// above: `table` is null, of another kind, or has a HotPromotionTable in it.
Status NewHotPromotionTableFactory(const HotPromotionOptions& options,
                                   const std::shared_ptr<TableFactory>& table,
                                   std::shared_ptr<TableFactory>* result);

}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
