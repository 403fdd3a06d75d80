// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// blob_hybrid: garbage collection of RocksDB's integrated BlobDB by the garbage that blob files have, a bound of the space
// that they take, and values of medium size that are in blob files until they come near the last level. After "Parallax:
// Hybrid Key-Value Placement in LSM-based Key-Value Stores"; all files are RocksDB's own.

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

// Where medium values go from blob files into SSTs: at the last level that has any SSTs, or at the one above as well.
enum class MergeLevel { kLast, kLastButOne };

// Values of less than `medium` bytes are small, those of `large` bytes and more are large.
struct ValueClasses {
  uint64_t medium = 0;  // 0: there is no medium class
  uint64_t large = 0;   // 0: min_blob_size, whatever that is
};

// All options but user_filter can be set by name from strings:
// "compaction_filter_factory={id=BlobHybrid;max_space_amplification=1.5}". They do not change while a database is open.
struct BlobHybridOptions {
  static const char* kName() { return "BlobHybridOptions"; }

  // A compaction moves the large values that it comes across out of blob files that have more garbage than this share of
  // their bytes, even if there is room for it. Less: less space, more writes. At most 1, which is never. Near
  // max_space_amplification files are collected all the same, those with most garbage first. Default: 0, which is 1 with
  // max_space_amplification, and 0.5 without.
  double gc_garbage_ratio = 0;

  // Most bytes of files for each byte of live keys and values. A background job compacts the SSTs that keep garbage alive as
  // this comes near; when it is exceeded flushes wait for the job, and writers with them. What is live is estimated by the
  // sketches of SSTs; see README.md. Where keys and values are so small that there is less garbage than a tenth of what lives,
  // the job rests. Default: 1.5. At least 1.1; 0: no bound, no job.
  double max_space_amplification = 1.5;

  // Families with less live data than this may take as much space as if they had so much. Bytes; default: 64 MiB.
  uint64_t space_floor = 64 << 20;

  // Bytes that the job writes in a second at most, as long as the bound is not exceeded; 0: no limit. Default: 64 MiB.
  uint64_t gc_bytes_per_second = 64 << 20;

  // Most bytes that a compaction reads ahead from each blob file that values are moved out of, where these are in sequence. It
  // begins with the size of a value, and doubles with each read. Default: 256 KiB; 0: each value is read alone.
  uint64_t readahead_size = 256 << 10;

  // Values from this size on, and below min_blob_size, are of the medium class: a flush writes them to blob files, the
  // transient log, and compactions to the merge level put them into SSTs. Bytes, uncompressed; default: 0, no medium class.
  // Needs the table factory BlobHybridTable.
  uint64_t medium_value_size = 0;

  // In the place of medium_value_size: bytes of a usual key, from which the sizes of both classes follow. A value is medium
  // from where the prefix is a share of t_sm of key and value, and large from where it is t_ml. min_blob_size must be what
  // follows; UseBlobHybrid() sets it. Bytes; default: 0, by medium_value_size.
  uint64_t key_size = 0;

  // The part of a key that the shares are of. Bytes; default: 0, the whole key.
  uint64_t prefix_size = 0;

  // Thresholds of the paper (section 2.2). Shares; 0 < t_ml < t_sm < 1.
  double t_sm = 0.2;
  double t_ml = 0.02;

  // "last" or "last-1". The latter: less space, as the log does not have what is in the last level but one, and more
  // writes. Default: last.
  MergeLevel merge_level = MergeLevel::kLast;

  // Most bytes of the transient log that SSTs refer to, for each live byte (but for space_floor of these at least). The job
  // merges early as this comes near; when it is exceeded flushes wait for the job. The less, the more often the merge level is
  // rewritten: below about 0.4 that may cost more than the log saves. Default: 0.5; 0: no bound.
  double transient_log_budget = 0.5;

  // The user's own filters, which see what they would see without this plugin. They take the place of
  // ColumnFamilyOptions::compaction_filter and compaction_filter_factory; not both. The first is not owned.
  const CompactionFilter* user_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> user_filter_factory;
};

// X(name, unit, description). Counters count since the factory was made, of all families that share it.
#define BLOB_HYBRID_COUNTERS(X)                                                                  \
  X(moved_values, "values", "moved out of blob files with garbage by compactions")               \
  X(moved_bytes, "bytes", "of these, as they are in blob files")                                 \
  X(merged_values, "values", "medium ones that compactions put into SSTs")                       \
  X(merged_bytes, "bytes", "of these")                                                           \
  X(not_separated, "values", "that flushes should have separated and left in SSTs")              \
  X(crowded_flushes, "flushes", "that left medium values in SSTs, since there was no room")      \
  X(read_errors, "events", "values that could not be read: they stayed where they are")          \
  X(jobs, "compactions", "of the background job: SSTs that keep garbage alive, or that hide it") \
  X(log_jobs, "compactions", "of these, for transient_log_budget")                               \
  X(job_bytes, "bytes", "written by these")                                                      \
  X(job_errors, "events", "failures of these; those that collide with others do not count")      \
  X(flush_waits, "flushes", "that waited for the job, because the bound was exceeded")           \
  X(flush_wait_micros, "microseconds", "that they waited")                                       \
  X(bound_missed, "flushes", "that went on above the bound: the job found nothing to do")

// X(name, unit, description): of one column family, as it is.
#define BLOB_HYBRID_GAUGES(X)                                                             \
  X(blob_files, "files", "blob files")                                                    \
  X(blob_file_bytes, "bytes", "of blob files")                                            \
  X(medium_bytes, "bytes", "of medium values in blob files that SSTs refer to")           \
  X(large_bytes, "bytes", "of the rest in blob files: large values, and all garbage")     \
  X(large_garbage_bytes, "bytes", "of values of either class that no SST refers to")      \
  X(large_hidden_bytes, "bytes", "of large values that may be overwritten; the estimate") \
  X(large_live_bytes, "bytes", "of large values that are live; the estimate")             \
  X(sst_files, "files", "SSTs")                                                           \
  X(small_bytes, "bytes", "of SSTs: keys, small values and references to large ones")     \
  X(space_amplification_percent, "percent", "of files for live data, with the floor; the estimate")

struct BlobHybridSpace {
#define X(name, unit, description) uint64_t name = 0;
  BLOB_HYBRID_GAUGES(X)
#undef X

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;
};

struct BlobHybridStats : BlobHybridSpace {
#define X(name, unit, description) uint64_t name = 0;
  BLOB_HYBRID_COUNTERS(X)
#undef X

  std::string ToString() const;  // a line "name: value" each
  std::string ToJson() const;
};

// Turns the plugin on for a family: sets the filter factory and enable_blob_files, turns age-based collection off, and adds
// the listener to `db` once. It sets the table factory, too, with the options of the block-based one that is there; one of another
// kind stays, but for a medium class. Leaves min_blob_size as it is unless key_size is given. InvalidArgument, with the
// option's name.
Status UseBlobHybrid(const BlobHybridOptions& options, DBOptions* db, ColumnFamilyOptions* family);

// The parts that UseBlobHybrid() puts together.
Status NewBlobHybrid(const BlobHybridOptions& options,
                     std::shared_ptr<CompactionFilterFactory>* result);
std::shared_ptr<EventListener> NewBlobHybridListener();
std::shared_ptr<TableFactory> NewBlobHybridTableFactory(const BlockBasedTableOptions& options);

// Where classes begin with these options.
ValueClasses ClassesOf(const BlobHybridOptions& options);

// For a family that is written much, and has most bytes in blob files, so that the SST of a flush has few of its memtable's: a level 0 of
// 16 flushes (RocksDB slows writers down at twice, and stops them at three times as many) for a level 1 of four memtables, and
// round-robin compactions, which pass all keys alike. Without compression, which has to be set before, data blocks are aligned: with
// direct I/O a block is then read with one page, not with two. To be given to UseBlobHybrid() then.
void PrepareForBlobs(ColumnFamilyOptions* family);

// The same for a family of mostly medium values, with keys of `key_size` bytes: the paper's thresholds besides, merging from
// the level above the last one on, and space for half of the data in the log.
void PrepareForMediumValues(uint64_t key_size, BlobHybridOptions* hybrid,
                            ColumnFamilyOptions* family);

// The gauges of a family of any open database; the counters too if it uses the plugin. Thread-safe.
Status GetBlobHybridStats(DB* db, ColumnFamilyHandle* family, BlobHybridStats* stats);

// The gauges of each family of a database, which may be open. With the options that it was opened with last; nothing is
// changed. Errors: those of LoadLatestOptions() and DB::OpenForReadOnly().
Status InspectBlobHybrid(const std::string& path, std::map<std::string, BlobHybridSpace>* families);

// Waits until the background job of a database finds nothing more to do. For tests and benchmarks. Thread-safe.
Status SettleBlobHybrid(DB* db);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
