// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// blob_hybrid: garbage collection of RocksDB's integrated BlobDB by the garbage that blob files have, and a bound of the
// space that they take. After "Parallax: Hybrid Key-Value Placement in LSM-based Key-Value Stores"; all files are
// RocksDB's own.

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

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {

// All options but user_filter can be set by name from strings:
// "compaction_filter_factory={id=BlobHybrid;gc_garbage_ratio=0.3;max_space_amplification=1.5}". They do not change while a
// database is open.
struct BlobHybridOptions {
  static const char* kName() { return "BlobHybridOptions"; }

  // A compaction moves the large values that it comes across out of blob files that have more garbage than this share of
  // their bytes. Less: less space, more writes. Default: 0.3. Above 0, at most 1; 1: never.
  double gc_garbage_ratio = 0.3;

  // Most bytes of files for each byte of live data. A background job compacts the SSTs that keep garbage alive as this
  // comes near; when it is exceeded flushes wait for the job, and writers with them. What is live is estimated from
  // the entries of SSTs; see README.md. Default: 1.5. At least 1.1; 0: no bound, no job.
  double max_space_amplification = 1.5;

  // Families with less live data than this may take as much space as if they had so much. Bytes; default: 64 MiB.
  uint64_t space_floor = 64 << 20;

  // Bytes that the job writes in a second at most, as long as the bound is not exceeded; 0: no limit. Default: 64 MiB.
  uint64_t gc_bytes_per_second = 64 << 20;

  // Bytes that are read ahead from each blob file that values are moved out of; 0: none. Default: 256 KiB.
  uint64_t readahead_size = 256 << 10;

  // The user's own filters, which see what they would see without this plugin. They take the place of
  // ColumnFamilyOptions::compaction_filter and compaction_filter_factory; not both. The first is not owned.
  const CompactionFilter* user_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> user_filter_factory;
};

// X(name, unit, description). Counters count since the factory was made, of all families that share it.
#define BLOB_HYBRID_COUNTERS(X)                                                                  \
  X(moved_values, "values", "moved out of blob files with garbage by compactions")               \
  X(moved_bytes, "bytes", "of these, as they are in blob files")                                 \
  X(read_errors, "events", "values that could not be read: they stayed where they are")          \
  X(jobs, "compactions", "of the background job: SSTs that keep garbage alive, or that hide it") \
  X(job_bytes, "bytes", "written by these")                                                      \
  X(job_errors, "events", "failures of these; those that collide with others do not count")      \
  X(flush_waits, "flushes", "that waited for the job, because the bound was exceeded")           \
  X(flush_wait_micros, "microseconds", "that they waited")                                       \
  X(bound_missed, "flushes", "that went on above the bound: the job found nothing to do")

// X(name, unit, description): of one column family, as it is.
#define BLOB_HYBRID_GAUGES(X)                                                             \
  X(blob_files, "files", "blob files")                                                    \
  X(blob_file_bytes, "bytes", "of blob files")                                            \
  X(large_bytes, "bytes", "of large values in blob files, garbage included")              \
  X(large_garbage_bytes, "bytes", "of large values that no SST refers to")                \
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
// the listener to `db` once. Leaves min_blob_size as it is. InvalidArgument, with the option's name.
Status UseBlobHybrid(const BlobHybridOptions& options, DBOptions* db, ColumnFamilyOptions* family);

// The parts that UseBlobHybrid() puts together.
Status NewBlobHybrid(const BlobHybridOptions& options,
                     std::shared_ptr<CompactionFilterFactory>* result);
std::shared_ptr<EventListener> NewBlobHybridListener();

// The gauges of a family of any open database; the counters too if it uses the plugin. Thread-safe.
Status GetBlobHybridStats(DB* db, ColumnFamilyHandle* family, BlobHybridStats* stats);

// The gauges of each family of a database, which may be open. With the options that it was opened with last; nothing is
// changed. Errors: those of LoadLatestOptions() and DB::OpenForReadOnly().
Status InspectBlobHybrid(const std::string& path, std::map<std::string, BlobHybridSpace>* families);

// Waits until the background job of a database finds nothing more to do. For tests and benchmarks. Thread-safe.
Status SettleBlobHybrid(DB* db);

}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
