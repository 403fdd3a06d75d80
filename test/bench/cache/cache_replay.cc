// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Puts a trace of block accesses to one kind of block cache and prints one JSON object of figures.
// A miss inserts the block, as RocksDB's table reader does. One thread.

#include <gflags/gflags.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "rocksdb/advanced_cache.h"
#include "test/bench/cache/block_trace.h"
#include "test/bench/cache/cache_under_test.h"
#include "test/bench/cache/string_block.h"
#include "test/bench/common/json_out.h"

DEFINE_string(trace, "", "file of accesses; see block_trace.h");
DEFINE_uint64(warmup, 0, "accesses before the counted ones");
DEFINE_string(primary, "lru", "primary cache: lru or hyper");
DEFINE_uint64(primary_bytes, 20 << 20, "capacity of the primary cache");
DEFINE_string(secondary, "", "URI of the secondary cache; empty: none");

namespace rocktier_bench {
namespace {

using ROCKSDB_NAMESPACE::Cache;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

// The keys of RocksDB's blocks have 16 bytes.
std::string KeyOf(const BlockAccess& access) {
  std::string key(16, 'b');
  std::memcpy(&key[0], &access.block, sizeof(access.block));
  return key;
}

// Sets `hit` to whether the cache has the block; inserts it if not.
Status Access(Cache* cache, const BlockAccess& access, bool* hit) {
  const std::string key = KeyOf(access);
  Cache::Handle* handle = cache->Lookup(key, StringBlockHelper());
  *hit = handle != nullptr;
  if (*hit) {
    cache->Release(handle);
    return Status::OK();
  }
  auto* const block = new std::string(access.size, 'b');
  Status s = cache->Insert(key, block, StringBlockHelper(), access.size, &handle);
  if (!s.ok()) {
    delete block;
    return s;
  }
  cache->Release(handle);
  return s;
}

Status Replay(const std::vector<BlockAccess>& accesses, const CacheUnderTest& cache,
              uint64_t* hits) {
  for (size_t i = 0; i < accesses.size(); ++i) {
    bool hit = false;
    Status s = Access(cache.block_cache().get(), accesses[i], &hit);
    if (!s.ok()) return s;
    *hits += hit && i >= FLAGS_warmup ? 1 : 0;
  }
  return Status::OK();
}

Status Main() {
  std::vector<BlockAccess> accesses;
  Status s = ReadBlockTrace(FLAGS_trace, &accesses);
  if (s.ok() && accesses.size() <= FLAGS_warmup) {
    s = Status::InvalidArgument("--warmup is all of --trace");
  }
  CacheUnderTest cache;
  if (s.ok()) s = cache.Create(FLAGS_primary, FLAGS_primary_bytes, FLAGS_secondary);
  uint64_t hits = 0;
  if (s.ok()) s = Replay(accesses, cache, &hits);
  uint64_t copied_bytes = 0;
  if (s.ok()) s = cache.CopiedBytes(&copied_bytes);
  if (!s.ok()) return s;
  const uint64_t counted = accesses.size() - FLAGS_warmup;
  JsonObject out;
  out.Add("lookups", counted);
  out.Add("hits", hits);
  out.Add("copied_bytes_per_lookup",
          static_cast<double>(copied_bytes) / static_cast<double>(accesses.size()));
  std::printf("%s\n", out.ToString().c_str());
  return s;
}

}  // namespace
}  // namespace rocktier_bench

int main(int argc, char** argv) {
  gflags::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  const auto s = rocktier_bench::Main();
  if (!s.ok()) std::fprintf(stderr, "cache_replay: %s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
