// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// blob_hybrid: garbage collection of RocksDB's integrated BlobDB by the garbage that blob files
// have, within a bound on space; and values of medium size that are in blob files until they come
// near the last level. All files are RocksDB's own.
//
// Follows Xanthakis et al., "Parallax: Hybrid Key-Value Placement in LSM-based Key-Value Stores".
// Sections named below are of this paper. README.md is the introduction, REFERENCE.md the full
// reference.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "rocksdb/compaction_filter.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// The merge level: from which level on compactions put medium values into SSTs (section 3.3).
// kLast, "last": the last level that has SSTs. kLastButOne, "last-1": the level above as well.
enum class MergeLevel { kLast, kLastButOne };

// Where classes of values begin, in bytes of the uncompressed value. Values below `medium` are
// small, those from `large` on are large.
struct ValueClasses {
  uint64_t medium = 0;  // 0: there is no medium class
  uint64_t large = 0;   // 0: min_blob_size, whatever that is
};

// The options of a family. All but user_filter can be set by name from strings, where sizes may end
// in K, M or G: "compaction_filter_factory={id=BlobHybrid;max_space_amplification=1.5}".
//
// A value out of its range is InvalidArgument with the option's name: from NewBlobHybrid(),
// UseBlobHybrid() and DB::Open(). Options do not change while a database is open. A plain struct:
// not thread-safe; the factory keeps a copy.
struct BlobHybridOptions {
  static const char* kName() { return "BlobHybridOptions"; }

  // Share of a blob file's bytes. Compactions move the large values that they come across out of
  // blob files that have more garbage than this, even if there is room for it. Less takes less
  // space and more writes. Near max_space_amplification files are collected all the same, those
  // with most garbage first. From 0 to 1; 1 is never. Default: 0, which stands for 1 with a bound
  // (max_space_amplification) and for 0.5 without.
  double gc_garbage_ratio = 0;

  // The bound: most bytes of SSTs and blob files for each byte of live keys and values. As this
  // comes near, a background job compacts the SSTs that keep garbage alive, and flushes wait for
  // the job, and writers with them. What is live is estimated, by a sample of the keys of each SST.
  // If there is less garbage than a tenth of what lives, because keys and values are small, the job
  // rests. The nearer to 1, the more is written. Default: 1.5. At least 1.1, or 0: no bound.
  double max_space_amplification = 1.5;

  // Bytes. A family with less live data than this may take as much space as if it had this much.
  // Default: 64 MiB. Any value.
  uint64_t space_floor = 64 << 20;

  // Bytes that the job writes in a second at most. From where flushes wait for the job on, it works
  // as fast as it can. Default: 64 MiB. Any value; 0: no limit.
  uint64_t gc_bytes_per_second = 64 << 20;

  // Most bytes that a compaction reads ahead from each blob file that values are moved out of,
  // where these are in sequence. It begins with the size of a value and doubles with each read.
  // Files that are mapped into memory (allow_mmap_reads) are not read ahead. Default: 256 KiB. Any
  // value; 0: each value is read alone.
  uint64_t readahead_size = 256 << 10;

  // Bytes of an uncompressed value. Values from this size on, and below min_blob_size, are medium:
  // a flush writes them to blob files, the transient log, and compactions to the merge level put
  // them into SSTs (section 3.3). Needs the table factory BlobHybridTable and a larger
  // min_blob_size. Default: 0, no medium class.
  uint64_t medium_value_size = 0;

  // Bytes of a usual key, from which the sizes of both classes follow (section 2.2). Takes the
  // place of medium_value_size; setting both is refused. A value is medium from where the prefix is
  // at most a share of t_sm of key and value together, and large from where it is at most t_ml.
  // min_blob_size must be what follows; UseBlobHybrid() sets it. Default: 0, the classes go by
  // medium_value_size.
  uint64_t key_size = 0;

  // Bytes. The part of a key that the shares are of. At most key_size. Default: 0, the whole key.
  uint64_t prefix_size = 0;

  // Shares, the paper's thresholds (section 2.2). 0 < t_ml < t_sm < 1. Used with key_size only.
  double t_sm = 0.2;
  double t_ml = 0.02;

  // The merge level: "last" or "last-1". The latter takes less space, as the log does not have what
  // is in the last level but one, and more writes. Default: last.
  MergeLevel merge_level = MergeLevel::kLast;

  // Most bytes of the transient log that SSTs refer to, for each live byte (of these at least
  // space_floor). The job merges early as this comes near; when it is exceeded, flushes wait for
  // the job. The less, the more often the merge level is rewritten: below about 0.4 that may cost
  // more than the log saves. Default: 0.5. From 0.01 to 1, or 0: no bound.
  double transient_log_budget = 0.5;

  // Seconds after which the statistics file of the database is renewed: OpenMetrics' text. It comes
  // after the first flush or compaction, and goes when the database is closed. Default: 1. At most
  // 86400; 0: there is none. Of this option and the next the values of the family count that is
  // flushed or compacted first.
  uint64_t metrics_interval = 1;

  // Absolute path of the statistics file, which ends in ".prom". Its directory must exist. Default:
  // empty, rocktier_blob_hybrid.prom in the database's directory.
  std::string metrics_file;

  // Compaction filters of the user, which see what they would see without this plugin. They take
  // the place of ColumnFamilyOptions::compaction_filter and compaction_filter_factory. At most one
  // of the two is given. user_filter is not owned, and must outlive the factory. Default: none.
  const CompactionFilter* user_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> user_filter_factory;
};

// X(name, unit, description). Counters count since the factory was made, of all families that share
// it. Properties, metrics and the block in the LOG follow from this list and the next one.
// REFERENCE.md has more on each.
#define BLOB_HYBRID_COUNTERS(X)                                                                   \
  X(moved_values, "values", "values moved out of blob files with garbage by compactions")         \
  X(moved_bytes, "bytes", "size of the moved values, as they are in blob files")                  \
  X(merged_values, "values", "medium values that compactions put into SSTs")                      \
  X(merged_bytes, "bytes", "size of the merged values")                                           \
  X(not_separated, "values", "values that flushes should have separated and left in SSTs")        \
  X(crowded_flushes, "flushes", "flushes that left medium values in SSTs for want of room")       \
  X(read_errors, "events", "values that could not be read, for moving or for a user's filter")    \
  X(jobs, "compactions", "compactions of the background job, of SSTs that keep or hide garbage")  \
  X(log_jobs, "compactions", "compactions of the background job for transient_log_budget")        \
  X(job_bytes, "bytes", "bytes written by compactions of the background job")                     \
  X(job_errors, "events", "failed compactions of the background job, without those that collide") \
  X(unread_ssts, "events", "failures to read an SST's properties; it counts by its size then")    \
  X(flush_waits, "flushes", "flushes that waited for the job, because the bound was exceeded")    \
  X(flush_wait_micros, "microseconds", "time that flushes waited")                                \
  X(bound_missed, "flushes", "flushes that went on above the bound: the job had nothing to do")

// X(name, unit, description). Gauges tell what one column family has now. What is live or hidden is
// an estimate.
#define BLOB_HYBRID_GAUGES(X)                                                                  \
  X(blob_files, "files", "blob files")                                                         \
  X(blob_file_bytes, "bytes", "size of blob files")                                            \
  X(medium_bytes, "bytes", "size of medium values in blob files that SSTs refer to")           \
  X(large_bytes, "bytes", "size of the rest in blob files: large values, and all garbage")     \
  X(large_garbage_bytes, "bytes", "size of values of either class that no SST refers to")      \
  X(large_hidden_bytes, "bytes", "size of large values that may be overwritten; the estimate") \
  X(large_live_bytes, "bytes", "size of large values that are live; the estimate")             \
  X(sst_files, "files", "SSTs")                                                                \
  X(small_bytes, "bytes", "size of SSTs: keys, small values and references to large ones")     \
  X(space_amplification_percent, "percent",                                                    \
    "bytes of files for each live byte, with the floor; the estimate")

// The space of one column family: the gauges.
struct BlobHybridSpace {
#define X(name, unit, description) uint64_t name = 0;
  BLOB_HYBRID_GAUGES(X)
#undef X

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;    // one object on one line
};

// The gauges of one column family, and the counters of its factory.
struct BlobHybridStats : BlobHybridSpace {
#define X(name, unit, description) uint64_t name = 0;
  BLOB_HYBRID_COUNTERS(X)
#undef X

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;    // one object on one line
};

// Turns the plugin on for a family: sets the filter factory and enable_blob_files, turns age-based
// collection off, and adds the listener to `db` unless it has one. It also sets the table factory,
// with the options of the block-based one that is there. A BlobHybridTable stays, also behind
// another factory. A table factory of another kind stays, but is refused with a medium class.
// min_blob_size stays as it is unless key_size is given. Call it once for each family, after
// PrepareForBlobs(), and before the database is opened. InvalidArgument: an option is wrong or does
// not go with the plugin; its name is in the message, and neither `db` nor `family` is changed. Not
// thread-safe.
Status UseBlobHybrid(const BlobHybridOptions& options, DBOptions* db, ColumnFamilyOptions* family);

// Make the parts that UseBlobHybrid() puts together. NewBlobHybrid() is InvalidArgument, with the
// option's name, if an option is wrong; *result is not changed then. Factories may be shared by
// families and databases. Factories and listener are thread-safe.
Status NewBlobHybrid(const BlobHybridOptions& options,
                     std::shared_ptr<CompactionFilterFactory>* result);
std::shared_ptr<EventListener> NewBlobHybridListener();
std::shared_ptr<TableFactory> NewBlobHybridTableFactory(const BlockBasedTableOptions& options);

// Where classes begin with these options. `large` is 0 without key_size: min_blob_size counts then.
ValueClasses ClassesOf(const BlobHybridOptions& options);

// Sets options of RocksDB for a family that is written much and has most bytes in blob files, so
// that the SST of a flush has few of its memtable's bytes. They are a level 0 of 16 flushes
// (RocksDB slows writers down at twice, and stops them at three times as many), a level 1 of four
// memtables, and round-robin compactions, which pass all keys alike. Data blocks are aligned if
// RocksDB allows it: with block-based tables, and without compression, which has to be set before.
// With direct I/O a block is then read with one page, not with two. Call it before UseBlobHybrid(),
// and after write_buffer_size is set.
void PrepareForBlobs(ColumnFamilyOptions* family);

// Does the same for a family of mostly medium values with keys of `key_size` bytes, and sets
// options of the plugin: the paper's thresholds (key_size in the place of medium_value_size),
// merging from the level above the last one on, and space for half of the data in the log.
void PrepareForMediumValues(uint64_t key_size, BlobHybridOptions* hybrid,
                            ColumnFamilyOptions* family);

// Takes a snapshot of the gauges of a family of any open database; the counters too if the family
// uses the plugin, which are 0 otherwise. Errors: of reading SSTs' properties. Thread-safe.
Status GetBlobHybridStats(DB* db, ColumnFamilyHandle* family, BlobHybridStats* stats);

// Sets *value to one of these figures of a family, in base units: "rocktier.blob_hybrid.NAME", as
// in "rocktier.blob_hybrid.moved_bytes". The names are in docs/metrics.md. False, and *value stays:
// there is no such property, or GetBlobHybridStats() fails. Thread-safe.
bool GetBlobHybridProperty(DB* db, ColumnFamilyHandle* family, const std::string& property,
                           std::string* value);

// Returns the figures of all families that use the plugin in OpenMetrics' text format, with the
// labels `db` and `cf`. A family is known from its first flush or compaction on. Empty if none is.
// Thread-safe.
std::string BlobHybridMetricsText(DB* db);

// Takes the gauges of each family of a database, by the family's name. The database may be open. It
// is opened for reading with the options that it was opened with last; nothing is changed. Errors:
// those of LoadLatestOptions() and DB::OpenForReadOnly(), and of reading SSTs' properties.
// Thread-safe.
Status InspectBlobHybrid(const std::string& path, std::map<std::string, BlobHybridSpace>* families);

// Waits until the background job of a database finds nothing more to do, or the database is closed.
// Files that earlier compactions or snapshots kept from being collected are tried again once.
// For tests and benchmarks. OK at once if no family uses the plugin. Thread-safe.
Status SettleBlobHybrid(DB* db);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
