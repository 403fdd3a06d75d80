// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// TwoQSecondaryCache: a scan-resistant SecondaryCache for RocksDB's block cache, in DRAM or in a
// file.
//
// The policy is 2Q as in Lersch, Oukid, Schreter, Lehner, "Rethinking DRAM Caching for LSMs in an
// NVRAM Environment", section 6, Algorithm 1. AM holds blocks, in the order of their use as CLOCK
// tells it. A1 is a FIFO of references (ghosts) to blocks that are not held. A block enters AM only
// if A1 knows it.
//
// README.md tells how to use the cache, REFERENCE.md has all guarantees, limits and messages.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/compression_type.h"
#include "rocksdb/listener.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/secondary_cache.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

// Which of the blocks that the primary cache evicts are kept. The primary cache is RocksDB's block
// cache.
enum class Policy : char {
  // "2q": Algorithm 1, changed to work behind a primary cache. A look-up that misses and finds a
  // reference in A1 marks it, until the block leaves the primary cache and is offered. The free
  // room of an empty cache is filled once. A1 is larger, and grows while the hot set moves. Some
  // victims are blocks that both caches have.
  k2Q,
  // "2q_paper": Algorithm 1 to the letter. An offered block is kept if AM has room or A1 knows it;
  // else A1 takes its reference.
  k2QPaper,
  // "lru": every offered block is kept; the least recently used one goes.
  kLru,
};

// Where the blocks are.
enum class Storage : char {
  // "dram": in memory.
  kDram,
  // "file": in a preallocated file on a fast disk or on a DAX mount. Its contents survive a
  // restart.
  kFile,
};

// How the cache file is read and written (storage=file only).
enum class Io : char {
  // "auto": kPmem on a DAX mount, else kUring, else kPread where the kernel refuses io_uring.
  kAuto,
  // "uring": io_uring. NotSupported at creation where the kernel or the build refuses it.
  kUring,
  // "pread": pread and pwrite. Look-ups with wait=false are then answered synchronously.
  kPread,
  // "pmem": libpmem. The file is mapped, written by non-temporal stores and read in place.
  // NotSupported at creation in a build without libpmem, IOError if libpmem cannot map the file.
  kPmem,
};

// The options of a cache. All sizes are in bytes. Every option can be set by its name in a URI or
// an OPTIONS file, where sizes may end in K, M or G:
//   id=TwoQSecondaryCache;capacity=1G;policy=2q;storage=file;path=/nvme/cache
// A value out of range fails the creation of the cache with InvalidArgument that names the option.
// Once the cache is made, only `capacity` can be changed. A plain struct: not thread-safe; the
// cache keeps a copy.
struct TwoQSecondaryCacheOptions {
  static const char* kName() { return "TwoQSecondaryCacheOptions"; }

  // What the cache may hold, in bytes. Required: the default, 0, is refused.
  // storage=dram: memory, with the allocator's and our own overhead. At least 64K.
  // storage=file: the size of the file's data area, from 4M to 8T. The file is up to 4% larger. The
  // index in memory comes on top of it: about 24 bytes for each block of 4 KiB. See REFERENCE.md.
  // At least 4096 bytes for each shard, and with storage=file at most 256G.
  // May be changed while the cache is open; with storage=file no higher than it was at creation.
  size_t capacity = 0;

  // Which blocks are kept: "2q", "2q_paper" or "lru". Default: 2q.
  Policy policy = Policy::k2Q;

  // The size of A1: references as a share of the blocks in AM. From 0 to 16; -1, the default,
  // stands for 0.5 with 2q, 0.25 with 2q and storage=file, where each admission is a write to the
  // disk, and 0.05, the paper's value, with 2q_paper. Not used by lru.
  // More references remember a block for longer, so that rarer blocks are admitted. Each costs 4
  // bytes, charged to `capacity` with storage=dram. There is at most one for 512 bytes of
  // `capacity`.
  // With policy=2q this is the least: A1 grows up to eightfold while the hot set moves, and to
  // twice the number of blocks in the primary cache where that is more. That number is estimated
  // from the stream of look-ups.
  double ghost_ratio = -1;

  // What becomes of a block that the primary cache takes over. Default: false.
  // false: it stays here, and is among the first to go when room is needed. It is written again
  // when it leaves the primary cache only if it had to go.
  // true: it is removed here at once. Uses the space a little better while the hot set is stable,
  // and copies more.
  bool exclusive = false;

  // The cache has 2^num_shard_bits shards with a lock each. From 0 to 12; -1, the default, stands
  // for 4, or for fewer where a shard would be below 512K (dram) or 4M (file), or for 5 where one
  // would be above 256G (file).
  int num_shard_bits = -1;

  // Compression of blocks on their way in: "none", "lz4" or "zstd". Default: none. A block that
  // does not shrink by an eighth is kept as it is. An algorithm that RocksDB was built without is
  // refused.
  std::string compression = "none";

  // Where the blocks are: "dram" or "file". Default: dram.
  Storage storage = Storage::kDram;

  // The cache file. Required with storage=file, refused with storage=dram. Created when it does not
  // exist. A cache file of another capacity or number of shards, or of an earlier version, is
  // replaced by an empty one.
  // Anything else that is there is refused and left as it is. One cache at a time owns the file;
  // others pass everything through.
  std::string path;

  // How the file is read and written: "auto", "uring", "pread" or "pmem". Default: auto. Only with
  // storage=file.
  Io io = Io::kAuto;

  // Whether the file is opened with O_DIRECT, so that the kernel does not hold its blocks a second
  // time. I/O is buffered where the file system refuses. Default: true. Only with storage=file.
  bool direct_io = true;

  // Bytes of admitted blocks that may wait to be written, but never more than an eighth of
  // `capacity`. At least 64K, default 16M. Only with storage=file. A block that finds no room is
  // dropped and counted. One that still waits when the process is killed is lost. A larger block is
  // never held.
  size_t write_buffer_size = 16 << 20;

  // Whether blocks survive compactions. Default: false. Only with storage=file, and with the
  // listener in the database. When a compaction ends, a thread of the cache reads those blocks of
  // the new SSTs that have what the cache held of the old ones, at up to 64 MiB/s, and the cache
  // takes them. Without it such blocks are missed until they are admitted anew. Costs bytes that
  // are read and copied into the file: see RESULTS.md.
  bool carry = false;

  // Seconds after which the statistics file is renewed: OpenMetrics' text. It goes with the cache.
  // From 0 to 86400, default 1; 0: there is none.
  uint64_t metrics_interval = 1;

  // Absolute path of the statistics file, which ends in ".prom". Its directory must exist. Default:
  // empty, `path` with ".prom" behind it; with storage=dram there is none then.
  std::string metrics_file;
};

// Makes a cache, the same as SecondaryCache::CreateFromString() does from a URI. With storage=file
// it opens the file, which may mean to preallocate it, and reads the index. OK also if another
// cache owns the file: the new one then passes everything through, and its GetPrintableOptions()
// says so. On an error *result is not changed. InvalidArgument: an option is out of range, or what
// is at `path` is refused. Corruption: the file is not a cache file, or is damaged. NotSupported:
// the file has another version, or `io` is not available. IOError: names the file.
// Thread-safe, and so is the cache.
Status NewTwoQSecondaryCache(const TwoQSecondaryCacheOptions& options,
                             std::shared_ptr<SecondaryCache>* result);

// The statistics of a cache: X(name, type, unit, description). Counters begin at 0 when the cache
// is made and only grow. Gauges move. Properties, metrics and the block in the LOG follow from the
// list. REFERENCE.md says more of each.
#define TWOQ_SECONDARY_CACHE_STATS(X)                                                              \
  X(hits, counter, blocks, "look-ups that found a block")                                          \
  X(misses, counter, blocks, "look-ups that found none")                                           \
  X(ghost_hits, counter, blocks, "missed look-ups whose reference was in A1")                      \
  X(offers, counter, blocks, "blocks offered by the primary cache")                                \
  X(admitted, counter, blocks, "offered blocks that were taken")                                   \
  X(rejected, counter, blocks, "offered blocks that the policy did not take")                      \
  X(dropped, counter, blocks,                                                                      \
    "blocks that the policy took, but that found no room or could not be written")                 \
  X(evictions, counter, blocks, "blocks that made room for others")                                \
  X(erased, counter, blocks, "blocks removed by Erase, taken by the primary cache, or unreadable") \
  X(erased_obsolete, counter, blocks, "blocks removed because their file was deleted")             \
  X(carried, counter, blocks, "blocks of new SSTs taken in place of blocks of compacted ones")     \
  X(carry_dropped, counter, blocks, "blocks not carried, as too much was to be carried at once")   \
  X(carry_failed, counter, files, "SSTs that could not be read to carry blocks")                   \
  X(carry_read_bytes, counter, bytes, "bytes of SSTs read to carry blocks")                        \
  X(copied_bytes, counter, bytes, "bytes copied into the cache")                                   \
  X(read_bytes, counter, bytes, "bytes of blocks returned by look-ups")                            \
  X(corrupt, counter, blocks, "blocks that failed verification and were answered as a miss")       \
  X(io_errors, counter, events, "failed reads and writes of the cache file")                       \
  X(recovered, counter, blocks, "blocks found in the cache file when it was opened")               \
  X(blocks, gauge, blocks, "blocks held now")                                                      \
  X(ghosts, gauge, references, "references in A1 now")                                             \
  X(usage, gauge, bytes, "bytes charged to the capacity now")                                      \
  X(capacity, gauge, bytes, "capacity in force now")                                               \
  X(memory, gauge, bytes, "memory of the bookkeeping now: indexes, references, free space")        \
  X(largest_shard, gauge, bytes, "usage of the fullest shard")                                     \
  X(smallest_shard, gauge, bytes, "usage of the emptiest shard")

// A snapshot of the statistics. A plain struct: not thread-safe.
struct TwoQSecondaryCacheStats {
#define X(name, type, unit, description) uint64_t name = 0;
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
  // One "    name : value unit" per line, or one JSON object without units.
  std::string ToString() const;
  std::string ToJson() const;
};

// Takes a snapshot of the statistics, shard by shard: shards may change between one and the next.
// Thread-safe. InvalidArgument if `cache` is null or not a TwoQSecondaryCache; *stats is then not
// changed.
Status GetTwoQSecondaryCacheStats(const SecondaryCache* cache, TwoQSecondaryCacheStats* stats);

// Sets *value to one of these figures, in base units: "rocktier.secondary_cache_2q.NAME", as in
// "rocktier.secondary_cache_2q.hits". The names are in docs/metrics.md. `cache` may be null: then
// of all caches of the process, with the cache behind the name: ".PATH" of the cache file, or
// ".dram-N" of the N-th cache in memory. False, and *value stays: there is no such property, or
// `cache` is not a TwoQSecondaryCache. Thread-safe.
bool GetTwoQSecondaryCacheProperty(const SecondaryCache* cache, const std::string& property,
                                   std::string* value);

// Returns all figures of the cache, or with null of all caches of the process, in OpenMetrics' text
// format. They have the label `cache`. Empty if `cache` is not a TwoQSecondaryCache. Thread-safe.
std::string TwoQSecondaryCacheMetricsText(const SecondaryCache* cache);

// Makes a listener for Options::listeners. It drops the blocks of every SST, and the blobs of every
// blob file, that a compaction or a deletion has made obsolete from all TwoQSecondaryCaches of the
// process, and lets those with `carry` read what takes the place of blocks. When a compaction ends
// it writes their statistics to the DB's LOG, at most every ten minutes. Optional: without it what
// was in deleted files ages out. In an OPTIONS file: listeners=TwoQSecondaryCacheListener.
// Thread-safe; one object may serve several DBs.
std::shared_ptr<EventListener> NewTwoQSecondaryCacheListener();

// What a cache file says of itself; see FORMAT.md. A plain struct: not thread-safe.
struct CacheFileInfo {
  uint32_t version = 0;
  std::string uuid;
  uint64_t capacity = 0;     // bytes of the data area
  uint64_t file_size = 0;    // bytes
  uint32_t block_size = 0;   // bytes; unit of allocation
  uint32_t shards = 0;       // parts of the file, each with a lock and queues of its own
  uint64_t slots = 0;        // blocks that the index can hold
  uint64_t blocks = 0;       // blocks that the index names
  uint64_t block_bytes = 0;  // bytes of these blocks, as stored
  uint64_t bad_slots = 0;    // index entries that are damaged, unreadable, or name no block
  bool read = false;         // the bytes of the blocks were read (VerifyCacheFile)
  uint64_t verified = 0;     // of these blocks: intact
  uint64_t corrupt = 0;      // of these blocks: not what the index says, or unreadable
  // One "name: value" per line, or one JSON object. `verified` and `corrupt` only if `read`.
  std::string ToString() const;
  std::string ToJson() const;
};

// Reads the superblock and the index of a cache file, without changing it. A cache in use may be
// inspected; the counts are then approximate. Slots that cannot be read are counted, not an error.
// Errors: NotFound, IOError, InvalidArgument (not a regular file), Corruption (not a cache file, or
// a damaged superblock), NotSupported (another version). *info has defaults then. Thread-safe.
Status InspectCacheFile(const std::string& path, CacheFileInfo* info);

// Does the same, and reads every block and checks its key and checksum. A block that does not
// verify or cannot be read is counted, not an error: the cache answers it as a miss. `progress` may
// be null; it is called by the calling thread, with the slots that are done, and all.
Status VerifyCacheFile(
    const std::string& path, CacheFileInfo* info,
    const std::function<void(uint64_t done, uint64_t total)>& progress = nullptr);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
