// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// RocksDB makes an SST's cache keys and its public unique id from the same two numbers, the session
// and "the file and the rest". Here they are taken back from the id, which RocksDB keeps stable
// (table/unique_id.cc, util/hash.cc). Then they are mixed as in a cache key (cache/cache_key.cc).

#include "plugin/secondary_cache_2q/cache_key.h"

#include <cstring>
#include <utility>

#include "plugin/secondary_cache_2q/coding.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/unique_id.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {

namespace {

uint64_t HighProduct(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

uint64_t Unavalanche(uint64_t hash) {
  hash = (hash ^ hash >> 32) * 0x08da8ee41d6df849;
  return hash ^ hash >> 37;
}

// What InternalUniqueIdToExternal() does, backwards.
void FindOrigin(uint64_t low, uint64_t high, uint64_t* session, uint64_t* file) {
  constexpr uint64_t kInverse = 0x0ba79078168d4baf;
  low = Unavalanche(low) * kInverse;
  high = (Unavalanche(high) - HighProduct(low, 0xc2b2ae3d27d4eb4f)) * kInverse;
  low = ((low ^ __builtin_bswap64(high)) - 0x03c0000000000000) * 0x0887493432badb37;
  high -= HighProduct(low, 0x9e3779b185ebca87);
  // It was `high` + the lower half of it * 0x85ebca76.
  const uint64_t half = static_cast<uint32_t>(high) * 0xb6c92f47;
  const uint64_t lower = static_cast<uint32_t>(half);
  high = (high - lower * 0x85ebca76) ^ 0xc202797692d63d58;
  low ^= high ^ 0x59973f0033362349;
  *session = low - 6417269962128484497u;
  *file = high - 17391078804906429400u;
}

uint64_t ReverseBits(uint64_t v) {
  v = __builtin_bswap64(v);
  v = (v & 0x0f0f0f0f0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f0f0f0f0f);
  v = (v & 0x3333333333333333) << 2 | (v >> 2 & 0x3333333333333333);
  return (v & 0x5555555555555555) << 1 | (v >> 1 & 0x5555555555555555);
}

uint64_t DownwardInvolution(uint64_t v) {
  v ^= v >> 32;
  v ^= (v & 0xffff0000ffff0000) >> 16;
  v ^= (v & 0xff00ff00ff00ff00) >> 8;
  v ^= (v & 0xf0f0f0f0f0f0f0f0) >> 4;
  v ^= (v & 0xcccccccccccccccc) >> 2;
  return v ^ (v & 0xaaaaaaaaaaaaaaaa) >> 1;
}

}  // namespace

std::string FileKeys::KeyOf(uint64_t offset) const {
  const uint64_t halves[] = {file, Block(offset)};
  std::string key(sizeof(halves), '\0');
  memcpy(key.data(), halves, sizeof(halves));
  return key;
}

FileKeys FindFileKeys(const std::string& db_id, const std::string& session_id, uint64_t number) {
  FileKeys keys;
  TableProperties origin;
  origin.db_id = db_id;
  origin.db_session_id = session_id;
  origin.orig_file_number = number;
  std::string id;
  if (!GetUniqueIdFromTableProperties(origin, &id).ok()) {
    return keys;
  }
  uint64_t session;
  uint64_t file;
  FindOrigin(DecodeFixed64(id.data()), DecodeFixed64(id.data() + 8), &session, &file);
  if (session == 0) {
    session = file;
  }
  keys.file = DownwardInvolution(session) ^ ReverseBits(file);
  keys.mask = ReverseBits(session);
  if (keys.file == 0) {
    std::swap(keys.file, keys.mask);
  }
  return keys;
}

}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
