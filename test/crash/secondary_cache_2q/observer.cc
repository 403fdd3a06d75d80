// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/secondary_cache_2q/observer.h"

#include "cache/cache_key.h"
#include "plugin/secondary_cache_2q/opening.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "test/support/files.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)
using secondary_cache_2q::Slot;
using secondary_cache_2q::Superblock;

std::unique_ptr<SecondaryCacheResultHandle> Observer::Lookup(const Slice& key,
                                                             const Cache::CacheItemHelper* helper,
                                                             Cache::CreateContext* context,
                                                             bool wait, bool advise_erase,
                                                             Statistics* statistics, bool& kept) {
  auto result = target()->Lookup(key, helper, context, wait, advise_erase, statistics, kept);
  if (wait) {
    if (result != nullptr && result->Value() != nullptr) {
      served_.insert(key.ToString());
    } else {
      misses_++;
    }
  }
  return result;
}

Superblock ReadLayout(const std::string& path) {
  Superblock layout;
  secondary_cache_2q::Descriptor file;
  Require(secondary_cache_2q::OpenForReading(path, &file, &layout), path);
  return layout;
}

FileIndex ReadIndex(const std::string& path) {
  const Superblock layout = ReadLayout(path);
  const std::string file = ReadFile(path);
  FileIndex index;
  for (uint64_t i = 0; i < layout.slots; i++) {
    Slot slot;
    bool used;
    const char* bytes = file.data() + layout.IndexOffset() + i * Slot::kSize;
    if (Slot::Decode(bytes, layout.uuid, &slot, &used) && used) {
      index[std::string(slot.key, Slot::kKeySize)] = slot;
    }
  }
  return index;
}

std::set<std::string> DamagedBlocks(const std::string& path) {
  const uint64_t data = ReadLayout(path).DataOffset();
  const std::string file = ReadFile(path);
  std::set<std::string> damaged;
  for (const auto& [key, slot] : ReadIndex(path)) {
    const Slice extent(file.data() + data + slot.offset,
                       secondary_cache_2q::BlockHeader::kSize + slot.size);
    secondary_cache_2q::BlockHeader header;
    Slice bytes;
    if (!secondary_cache_2q::BlockHeader::Decode(extent, &header, &bytes) || header.Key() != key) {
      damaged.insert(key);
    }
  }
  return damaged;
}

std::set<std::string> LiveFiles(DB* db) {
  TablePropertiesCollection all;
  Require(db->GetPropertiesOfAllTables(&all), "properties of all tables");
  std::set<std::string> files;
  for (const auto& [name, properties] : all) {
    const OffsetableCacheKey base(properties->db_id, properties->db_session_id,
                                  properties->orig_file_number);
    files.insert(base.CommonPrefixSlice().ToString());
  }
  return files;
}

std::string GetAll(DB* db, const Oracle& oracle, uint64_t* device_reads) {
  SetPerfLevel(PerfLevel::kEnableCount);
  const uint64_t before = get_perf_context()->block_read_count;
  std::string wrong;
  for (uint32_t key = 0; key < kKeys && wrong.empty(); key++) {
    const uint32_t oldest = oracle.Oldest(key);
    PinnableSlice value;
    Status s = db->Get(ReadOptions(), db->DefaultColumnFamily(), Oracle::Key(key), &value);
    wrong = oracle.Check(key, oldest, s, value);
  }
  *device_reads = get_perf_context()->block_read_count - before;
  return wrong;
}

std::string ScanAll(DB* db, const Oracle& oracle) {
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  std::string wrong;
  uint32_t next = 0;
  auto expect_missing = [&](uint32_t end) {
    for (; next < end && wrong.empty(); next++) {
      wrong = oracle.Check(next, oracle.Oldest(next), Status::NotFound(), Slice());
    }
  };
  for (it->SeekToFirst(); it->Valid() && wrong.empty(); it->Next()) {
    uint32_t key;
    if (!Oracle::ParseKey(it->key(), &key) || key < next) {
      return "scan: a key that nobody wrote, or twice: " + it->key().ToString(/*hex=*/true);
    }
    expect_missing(key);
    if (wrong.empty()) {
      wrong = oracle.Check(key, oracle.Oldest(key), Status::OK(), it->value());
    }
    next = key + 1;
  }
  if (!it->status().ok()) {
    return "scan: " + it->status().ToString();
  }
  expect_missing(kKeys);
  return wrong;
}

std::string ReadAll(DB* db, const Oracle& oracle) {
  uint64_t device_reads;
  const std::string wrong = GetAll(db, oracle, &device_reads);
  return wrong.empty() ? ScanAll(db, oracle) : wrong;
}

double ShareServed(const std::set<std::string>& served, const std::set<std::string>& keys) {
  uint64_t n = 0;
  for (const std::string& key : keys) {
    n += served.count(key);
  }
  return keys.empty() ? 1 : static_cast<double>(n) / static_cast<double>(keys.size());
}

}  // namespace rocktier
