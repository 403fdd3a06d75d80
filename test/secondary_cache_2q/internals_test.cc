// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the plugin has of its own or takes for granted, so that RocksDB's public headers are enough,
// against what RocksDB has.

#include <string>

#include "cache/cache_key.h"
#include "plugin/secondary_cache_2q/cache_key.h"
#include "plugin/secondary_cache_2q/crc32c.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "table/block_based/block_based_table_reader.h"
#include "table/block_based/block_cache.h"
#include "table/unique_id_impl.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"
#include "util/crc32c.h"
#include "util/hash.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

TEST(InternalsTest, ChecksumsAreThoseOfRocksDB) {
  Random64 random(rocktier::Seed());
  for (int round = 0; round < 1000; round++) {
    const std::string bytes = Noise(random.Next(), random.Uniform(10000));
    const size_t cut = random.Uniform(bytes.size() + 1);
    Crc32c crc;
    crc.Add(bytes.data(), cut);
    crc.Add(bytes.data() + cut, bytes.size() - cut);
    const uint32_t expected = crc32c::Mask(crc32c::Value(bytes.data(), bytes.size()));
    ASSERT_EQ(expected, crc.Masked());
    ASSERT_EQ(expected, MaskedCrc32c(bytes.data(), bytes.size()));
  }
}

// A cache file that was written with RocksDB's hash is read with ours.
TEST(InternalsTest, HashesOfKeysAreThoseOfRocksDB) {
  Random64 random(rocktier::Seed());
  for (int round = 0; round < 10000; round++) {
    const std::string key = Noise(random.Next(), 16);
    ASSERT_EQ(Hash64(key.data(), key.size()), KeyHash(key));
  }
  EXPECT_EQ(0x983171bbbd73777du, KeyHash(std::string(16, '\0')));
}

TEST(InternalsTest, CacheKeysAreThoseOfRocksDB) {
  Random64 random(rocktier::Seed());
  for (int round = 0; round < 10000; round++) {
    const std::string db_id = Noise(random.Next(), 1 + random.Uniform(100));
    const std::string session = EncodeSessionId(random.Next() >> 25, random.Next() >> round % 60);
    const uint64_t number = 1 + (random.Next() >> (1 + random.Uniform(62)));
    const OffsetableCacheKey key(db_id, session, number);
    const uint64_t offset = random.Uniform(1 << 30);
    const CacheKey block = BlockBasedTable::GetCacheKey(key, BlockHandle(offset, 1));
    const FileKeys keys = FindFileKeys(db_id, session, number);
    ASSERT_EQ(block.AsSlice().ToString(/*hex=*/true),
              Slice(keys.KeyOf(offset)).ToString(/*hex=*/true))
        << Slice(db_id).ToString(/*hex=*/true) << ' ' << session << ' ' << number;
    ASSERT_EQ(FileOfKey(block.AsSlice()), keys.file);
    ASSERT_EQ(offset >> 2, keys.QuarterOffset(BlockOfKey(block.AsSlice())));
  }
  EXPECT_EQ(0u, FindFileKeys("", "0123456789ABCDEFGHIJ", 1).file);
  EXPECT_EQ(0u, FindFileKeys("db", "", 1).file);
  EXPECT_EQ(0u, FindFileKeys("db", "0123456789ABCDEFGHIJ", 0).file);
  EXPECT_EQ(0u, FindFileKeys("db", "not a session id", 1).file);
}

// CheckBlock() goes by them.
TEST(InternalsTest, RolesTellWhatABlockIs) {
  const auto role_of = [](BlockType type) { return GetCacheItemHelper(type)->role; };
  EXPECT_EQ(CacheEntryRole::kDataBlock, role_of(BlockType::kData));
  EXPECT_EQ(CacheEntryRole::kIndexBlock, role_of(BlockType::kIndex));
  EXPECT_EQ(CacheEntryRole::kFilterMetaBlock, role_of(BlockType::kFilterPartitionIndex));
  EXPECT_EQ(CacheEntryRole::kFilterBlock, role_of(BlockType::kFilter));
  EXPECT_EQ(CacheEntryRole::kOtherBlock, role_of(BlockType::kRangeDeletion));
  EXPECT_EQ(CacheEntryRole::kOtherBlock, role_of(BlockType::kCompressionDictionary));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
