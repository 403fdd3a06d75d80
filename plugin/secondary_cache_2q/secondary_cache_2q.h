// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// TwoQSecondaryCache: a scan-resistant SecondaryCache for RocksDB's block cache, in DRAM or in a file.
//
// The policy is 2Q as Lersch et al. put it ("Rethinking DRAM Caching for LSMs in an NVRAM
// Environment", section 6, Algorithm 1): AM holds blocks in LRU order, A1 is a FIFO of references to
// blocks that are not held (ghosts), and a block enters AM only if A1 knows it.

#pragma once

#include <cstdint>
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

// Which blocks that leave the primary cache are kept.
enum class Policy : char {
  // 2Q made to work behind a primary cache: a reference found by a look-up is kept aside until the
  // block leaves the primary cache, the free room of an empty cache is filled once, A1 is large and
  // grows while the hot set moves, and room is made first of all by blocks that both caches have.
  k2Q,
  // Algorithm 1 of the paper to the letter: a block that leaves the primary cache is kept if AM has
  // room or A1 knows it; else A1 takes its reference.
  k2QPaper,
  // Every block that leaves the primary cache is kept; the least recently used one goes.
  kLru,
};

// Where the blocks are.
enum class Storage : char {
  kDram,
  // A preallocated file on a fast disk or on a DAX mount; its contents survive a restart.
  kFile,
};

// How the cache file is read and written (storage=file only).
enum class Io : char {
  // Pmem on a DAX mount, else Uring, else Pread where the kernel refuses io_uring.
  kAuto,
  // io_uring; an error at creation where the kernel refuses it.
  kUring,
  // pread and pwrite; look-ups with wait=false are then answered synchronously.
  kPread,
  // libpmem: the file is mapped, written by non-temporal stores and read in place.
  kPmem,
};

// All sizes are in bytes. Every option can be set by its name in a URI or an OPTIONS file:
//   id=TwoQSecondaryCache;capacity=1G;policy=2q;storage=file;path=/nvme/cache
// A value out of range fails the creation of the cache with InvalidArgument naming the option.
struct TwoQSecondaryCacheOptions {
  static const char* kName() { return "TwoQSecondaryCacheOptions"; }

  // Bytes the cache may hold. storage=dram: memory, with the allocator's and our own overhead.
  // storage=file: the size of the file's data area; the file is up to 4% larger, and the in-memory
  // index takes about 200 bytes of DRAM per block on top of this. Required: there is no default, and
  // 0 is refused. At least 64K (storage=dram) or 4M (storage=file).
  size_t capacity = 0;

  // "2q", "2q_paper" or "lru". Default: 2q.
  Policy policy = Policy::k2Q;

  // References in A1 as a share of the blocks in AM. More remember a block for longer, so that rarer
  // blocks are admitted; each costs 32 bytes, charged to `capacity` with storage=dram, and all together
  // take a sixteenth of `capacity` at most. With policy=2q this is the least: A1 grows up to eightfold
  // while the hot set moves, and to twice the number of blocks in the primary cache where that is more
  // (the number is estimated from the stream of look-ups). From 0 to 16; -1 stands for the default: for
  // 2q 0.5, and 0.25 with storage=file, where each admission is a write to the disk; 0.05, the paper's
  // value, for 2q_paper. Not used by lru.
  double ghost_ratio = -1;

  // false: a block stays here when the primary cache takes it, and is among the first to go when room is
  // needed; it is written again when it leaves the primary cache only if it had to go.
  // true: a hit that the primary cache keeps removes the block here at once. Uses the space better by a
  // little while the hot set is stable, and copies more. Default: false.
  bool exclusive = false;

  // The cache is cut into 2^num_shard_bits shards with a lock each. From 0 to 12; -1, the default,
  // stands for 4, or fewer where a shard would be smaller than 512K (dram) or 4M (file).
  int num_shard_bits = -1;

  // "none", "lz4" or "zstd": blocks are compressed on their way in. A block that does not shrink by
  // an eighth is kept as it is. An algorithm that RocksDB was built without is refused. Default: none.
  std::string compression = "none";

  // "dram" or "file". Default: dram.
  Storage storage = Storage::kDram;

  // The cache file (storage=file). Created when it does not exist; an existing file that is not a
  // cache file of this format is refused and left as it is. A cache file of another capacity is
  // formatted anew. One process at a time owns it: in others the cache passes everything through.
  std::string path;

  // "auto", "uring", "pread" or "pmem" (storage=file). Default: auto.
  Io io = Io::kAuto;

  // Open the cache file with O_DIRECT, so that the kernel does not hold its blocks a second time.
  // Falls back to buffered I/O where the file system refuses. Default: true.
  bool direct_io = true;

  // Bytes of admitted blocks that may wait to be written (storage=file), but never more than an eighth
  // of `capacity`. A block that finds no room is dropped and counted; one that still waits when the
  // process is killed is lost. At least 64K. Default: 16M.
  size_t write_buffer_size = 16 << 20;
};

// Makes a cache, the same as SecondaryCache::CreateFromString() does from a URI.
// Errors: InvalidArgument (names the option), IOError (names the file), NotSupported.
Status NewTwoQSecondaryCache(const TwoQSecondaryCacheOptions& options,
                             std::shared_ptr<SecondaryCache>* result);

// The counters of a cache: X(name, unit, description). Counters only grow; gauges (marked so) move.
#define TWOQ_SECONDARY_CACHE_STATS(X)                                                     \
  X(hits, blocks, "look-ups that found a block")                                          \
  X(misses, blocks, "look-ups that found none")                                           \
  X(ghost_hits, blocks, "missed look-ups whose reference was in A1")                      \
  X(offers, blocks, "blocks offered by the primary cache")                                \
  X(admitted, blocks, "offered blocks that were taken")                                   \
  X(rejected, blocks, "offered blocks that the policy did not take")                      \
  X(dropped, blocks,                                                                      \
    "blocks that the policy took, but that found no room or could not be written")        \
  X(evictions, blocks, "blocks that made room for others")                                \
  X(erased, blocks, "blocks removed by Erase, taken by the primary cache, or unreadable") \
  X(erased_obsolete, blocks, "blocks removed because their SST was deleted")              \
  X(copied_bytes, bytes, "bytes copied into the cache")                                   \
  X(read_bytes, bytes, "bytes of blocks returned by look-ups")                            \
  X(corrupt, blocks, "blocks that failed verification and were answered as a miss")       \
  X(io_errors, events, "failed reads and writes of the cache file")                       \
  X(recovered, blocks, "blocks found in the cache file when it was opened")               \
  X(blocks, blocks, "gauge: blocks held now")                                             \
  X(ghosts, references, "gauge: references in A1 now")                                    \
  X(usage, bytes, "gauge: bytes charged to the capacity now")                             \
  X(capacity, bytes, "gauge: capacity in force now")                                      \
  X(largest_shard, bytes, "gauge: usage of the fullest shard")                            \
  X(smallest_shard, bytes, "gauge: usage of the emptiest shard")

struct TwoQSecondaryCacheStats {
#define X(name, unit, description) uint64_t name = 0;
  TWOQ_SECONDARY_CACHE_STATS(X)
#undef X
  // One "name: value unit" per line, or one JSON object.
  std::string ToString() const;
  std::string ToJson() const;
};

// Takes a snapshot of the counters. Thread-safe. InvalidArgument if `cache` is not one of ours.
Status GetTwoQSecondaryCacheStats(const SecondaryCache* cache, TwoQSecondaryCacheStats* stats);

// Drops the blocks of every SST that a compaction has made obsolete from all TwoQSecondaryCaches of
// the process, and writes their statistics to the DB's LOG at most every ten minutes. Optional: without
// it the blocks of deleted SSTs age out. In an OPTIONS file: listeners=TwoQSecondaryCacheListener.
// Thread-safe; one object may serve several DBs.
std::shared_ptr<EventListener> NewTwoQSecondaryCacheListener();

// What a cache file says of itself; see FORMAT.md.
struct CacheFileInfo {
  uint32_t version = 0;
  std::string uuid;
  uint64_t capacity = 0;    // bytes of the data area
  uint64_t file_size = 0;   // bytes
  uint32_t block_size = 0;  // bytes; unit of allocation
  uint32_t shards = 0;
  uint64_t slots = 0;        // blocks that the index can hold
  uint64_t blocks = 0;       // blocks that the index names
  uint64_t block_bytes = 0;  // bytes of these blocks, as stored
  uint64_t bad_slots = 0;    // index entries that are damaged, unreadable, or name no block
  bool read = false;         // the bytes of the blocks were read (VerifyCacheFile)
  uint64_t verified = 0;     // of these blocks: intact
  uint64_t corrupt = 0;      // of these blocks: not what the index says, or unreadable
  std::string ToString() const;
  std::string ToJson() const;
};

// Reads the superblock and the index of a cache file, without changing it. A cache in use may be
// inspected; the counts are then approximate. Errors: NotFound, IOError, Corruption (not a cache
// file, or a damaged superblock), NotSupported (another version).
Status InspectCacheFile(const std::string& path, CacheFileInfo* info);

// The same, and reads every block and checks its key and checksum. A block that does not verify is
// counted, not an error: the cache answers it as a miss.
Status VerifyCacheFile(const std::string& path, CacheFileInfo* info);

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
