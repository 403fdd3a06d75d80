// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A database and a cache file with its blocks that the first version has written: see
// data/README.md.

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "test/mistakes/samples.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr int kKeys = 100;
constexpr uint64_t kManyBlocks = 5;  // of about nine

std::string UserKey(int i) {
  char text[20];
  snprintf(text, sizeof(text), "key%08d", i);
  return text;
}

// It is replaced by an empty file, which is used then.
TEST(CacheSamples, ACacheOfTheFirstVersionBeginsEmpty) {
  const std::string folder = test::PerThreadDBPath("two_q_sample");
  const std::string sample = rocktier::SamplePath("secondary_cache_2q_v1.tar.gz");
  ASSERT_EQ(0, system(("rm -rf '" + folder + "' && mkdir -p '" + folder + "' && tar -xzf '" +
                       sample + "' -C '" + folder + "'")
                          .c_str()));
  for (int round = 0; round < 2; round++) {
    std::shared_ptr<SecondaryCache> secondary;
    ASSERT_OK(SecondaryCache::CreateFromString(
        ConfigOptions(),
        "id=TwoQSecondaryCache;num_shard_bits=0;capacity=4M;storage=file;path=" + folder + "/cache",
        &secondary));
    LRUCacheOptions primary;
    primary.capacity = 8 << 10;
    primary.num_shard_bits = 0;
    primary.secondary_cache = secondary;
    BlockBasedTableOptions table;
    table.block_cache = primary.MakeSharedCache();
    table.cache_index_and_filter_blocks = true;
    Options options;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, folder + "/db", &db));
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_OK(db->Get(ReadOptions(), UserKey(i), &value));
      ASSERT_EQ(Noise(static_cast<uint64_t>(i), 300), value);
    }
    TwoQSecondaryCacheStats stats;
    ASSERT_OK(GetTwoQSecondaryCacheStats(secondary.get(), &stats));
    if (round == 0) {
      EXPECT_EQ(0u, stats.recovered);
      EXPECT_GE(stats.admitted, kManyBlocks);
    } else {
      EXPECT_GE(stats.recovered, kManyBlocks);
      EXPECT_GE(stats.hits, kManyBlocks);
    }
    EXPECT_EQ(0u, stats.corrupt);
    EXPECT_EQ(0u, stats.io_errors);
  }
  EXPECT_EQ(0, system(("rm -rf '" + folder + "'").c_str()));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
