// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The SecondaryCache interface, with blocks in DRAM.

#include "plugin/secondary_cache_2q/cache.h"

#include <memory>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/wait.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

TwoQSecondaryCacheStats Stats(const std::shared_ptr<SecondaryCache>& cache) {
  TwoQSecondaryCacheStats stats;
  EXPECT_OK(GetTwoQSecondaryCacheStats(cache.get(), &stats));
  return stats;
}

TEST(CacheTest, ReturnsWhatWasInserted) {
  const auto cache = NewCache("capacity=1M");
  EXPECT_EQ("<none>", Get(cache.get(), Key(1)));
  Offer(cache.get(), Key(1), "one");
  Offer(cache.get(), Key(2), std::string(10000, 'x'));
  EXPECT_EQ("one", Get(cache.get(), Key(1)));
  EXPECT_EQ(std::string(10000, 'x'), Get(cache.get(), Key(2)));
  EXPECT_EQ("<none>", Get(cache.get(), Key(3)));
  const TwoQSecondaryCacheStats stats = Stats(cache);
  EXPECT_EQ(2u, stats.hits);
  EXPECT_EQ(2u, stats.misses);
  EXPECT_EQ(2u, stats.offers);
  EXPECT_EQ(2u, stats.admitted);
  EXPECT_EQ(2u, stats.blocks);
  EXPECT_EQ(10003u, stats.copied_bytes);
  EXPECT_EQ(10003u, stats.read_bytes);
}

TEST(CacheTest, KeysOfAnyLength) {
  const auto cache = NewCache("capacity=1M");
  for (const std::string& key : {std::string("k"), std::string(15, 'k'), std::string(300, 'k')}) {
    Offer(cache.get(), key, "value of " + key);
    EXPECT_EQ("value of " + key, Get(cache.get(), key));
  }
}

TEST(CacheTest, NullObjectIsRefused) {
  const auto cache = NewCache("capacity=1M");
  EXPECT_TRUE(cache->Insert(Key(1), nullptr, TextHelper(), false).IsInvalidArgument());
}

TEST(CacheTest, ASecondOfferOfAHeldBlockIsNotCopied) {
  const auto cache = NewCache("capacity=1M");
  Offer(cache.get(), Key(1), "one");
  Offer(cache.get(), Key(1), "one");
  EXPECT_EQ(3u, Stats(cache).copied_bytes);
  EXPECT_EQ(1u, Stats(cache).blocks);
}

TEST(CacheTest, FullCacheTakesABlockAtItsSecondUse) {
  const auto cache = NewCache("capacity=256K;num_shard_bits=0");
  for (uint64_t i = 0; i < 200; i++) {
    Touch(cache.get(), Key(i), Noise(i, 4000));
  }
  EXPECT_GT(Stats(cache).rejected, 100u);
  const uint64_t evictions = Stats(cache).evictions;
  Touch(cache.get(), Key(1000), Noise(1000, 4000));
  EXPECT_EQ("<none>", Get(cache.get(), Key(1000)));  // the miss marks the reference
  Offer(cache.get(), Key(1000), Noise(1000, 4000));
  EXPECT_TRUE(Noise(1000, 4000) == Get(cache.get(), Key(1000)));
  EXPECT_GT(Stats(cache).evictions, evictions);
  EXPECT_GT(Stats(cache).ghost_hits, 0u);
}

TEST(CacheTest, ForceInsertIsNotAskedTwice) {
  const auto cache = NewCache("capacity=256K;num_shard_bits=0");
  for (uint64_t i = 0; i < 200; i++) {
    Touch(cache.get(), Key(i), Noise(i, 4000));
  }
  Offer(cache.get(), Key(1000), "forced", /*force=*/true);
  EXPECT_EQ("forced", Get(cache.get(), Key(1000)));
}

// The charge is what the allocator hands out, so memory stays within the capacity for all sizes.
TEST(CacheTest, UsageStaysWithinTheCapacity) {
  for (const char* policy : {"2q", "2q_paper", "lru"}) {
    const auto cache = NewCache(std::string("capacity=1M;policy=") + policy);
    for (uint64_t i = 0; i < 5000; i++) {
      Touch(cache.get(), Key(i), Noise(i, 1 + i * 37 % 9000));
      const TwoQSecondaryCacheStats stats = Stats(cache);
      ASSERT_LE(stats.usage, 1u << 20) << policy << " " << i;
    }
    const TwoQSecondaryCacheStats stats = Stats(cache);
    EXPECT_GT(stats.usage, (1u << 20) * 8 / 10) << policy;
    EXPECT_GE(stats.largest_shard, stats.smallest_shard);
    EXPECT_EQ(1u << 20, stats.capacity);
  }
}

TEST(CacheTest, BlockLargerThanAShardIsDropped) {
  const auto cache = NewCache("capacity=64K");
  Offer(cache.get(), Key(1), Noise(1, 100000), /*force=*/true);
  EXPECT_EQ("<none>", Get(cache.get(), Key(1)));
  EXPECT_EQ(1u, Stats(cache).dropped);
}

TEST(CacheTest, SetCapacityEvictsAndGrowsAgain) {
  const auto cache = NewCache("capacity=1M");
  for (uint64_t i = 0; i < 100; i++) {
    Offer(cache.get(), Key(i), Noise(i, 4000));
  }
  ASSERT_OK(cache->SetCapacity(100000));
  size_t capacity = 0;
  ASSERT_OK(cache->GetCapacity(capacity));
  EXPECT_EQ(100000u, capacity);
  EXPECT_LE(Stats(cache).usage, 100000u);
  ASSERT_OK(cache->SetCapacity(0));
  EXPECT_EQ(0u, Stats(cache).blocks);
  Offer(cache.get(), Key(1), "one", /*force=*/true);
  EXPECT_EQ("<none>", Get(cache.get(), Key(1)));
  ASSERT_OK(cache->SetCapacity(1 << 20));
  Offer(cache.get(), Key(2), "two");  // the room is new, so it may be filled
  EXPECT_EQ("two", Get(cache.get(), Key(2)));
}

TEST(CacheTest, DeflateAndInflate) {
  const auto cache = NewCache("capacity=1M");
  ASSERT_OK(cache->Deflate(1 << 19));
  EXPECT_EQ(1u << 19, Stats(cache).capacity);
  size_t capacity = 0;
  ASSERT_OK(cache->GetCapacity(capacity));
  EXPECT_EQ(1u << 20, capacity);  // the configured one
  ASSERT_OK(cache->Deflate(1 << 20));
  EXPECT_EQ(0u, Stats(cache).capacity);
  ASSERT_OK(cache->Inflate(1 << 20));
  ASSERT_OK(cache->Inflate(1 << 19));
  EXPECT_EQ(1u << 20, Stats(cache).capacity);
}

// The index of the larger cache must not fill the smaller one.
TEST(CacheTest, SmallCacheThatWasLargeStillHoldsBlocks) {
  const auto cache = NewCache("capacity=64M;num_shard_bits=0");
  for (uint64_t i = 0; i < 100000; i++) {
    Touch(cache.get(), Key(i), "a small block");
  }
  ASSERT_OK(cache->SetCapacity(200000));
  EXPECT_GT(Stats(cache).blocks, 100u);
  EXPECT_LE(Stats(cache).usage, 200000u);
  Offer(cache.get(), Key(1u << 20), "new", /*force=*/true);
  EXPECT_EQ("new", Get(cache.get(), Key(1u << 20)));
}

// As the lower tier of a TieredSecondaryCache: what the primary cache lets go never comes back.
TEST(CacheTest, WithoutOffersBlocksAgeInOneOrder) {
  const auto cache = NewCache("capacity=256K;num_shard_bits=0");
  auto use = [&cache](uint64_t i) {
    if (Get(cache.get(), Key(i), /*advise_erase=*/true) == "<none>") {
      const std::string value = Noise(i, 4000);
      ASSERT_OK(cache->InsertSaved(Key(i), value, kNoCompression, CacheTier::kVolatileTier));
    }
  };
  for (uint64_t hot_set = 0; hot_set < 4; hot_set++) {
    for (uint64_t round = 0; round < 40; round++) {
      for (uint64_t i = 0; i < 20; i++) {
        use(hot_set * 1000 + i);
      }
    }
    const uint64_t before = Stats(cache).hits;
    for (uint64_t i = 0; i < 20; i++) {
      use(hot_set * 1000 + i);
    }
    EXPECT_GE(Stats(cache).hits - before, 20u) << hot_set;
  }
}

TEST(CacheTest, EraseRemoves) {
  const auto cache = NewCache("capacity=1M");
  Offer(cache.get(), Key(1), "one");
  cache->Erase(Key(2));
  cache->Erase(Key(1));
  EXPECT_EQ("<none>", Get(cache.get(), Key(1)));
  EXPECT_EQ(1u, Stats(cache).erased);
  EXPECT_EQ(0u, Stats(cache).blocks);
}

TEST(CacheTest, InclusiveKeepsWhatThePrimaryCacheTakes) {
  const auto cache = NewCache("capacity=1M");
  EXPECT_TRUE(cache->SupportForceErase());
  Offer(cache.get(), Key(1), "one");
  bool kept = false;
  EXPECT_EQ("one", Get(cache.get(), Key(1), /*advise_erase=*/false, &kept));
  EXPECT_TRUE(kept);
  // It says that it does not keep it, to be told when the primary cache lets it go.
  EXPECT_EQ("one", Get(cache.get(), Key(1), /*advise_erase=*/true, &kept));
  EXPECT_FALSE(kept);
  Offer(cache.get(), Key(1), "one");
  EXPECT_EQ("one", Get(cache.get(), Key(1)));
  EXPECT_EQ(3u, Stats(cache).copied_bytes);  // no second copy
}

TEST(CacheTest, BlocksThatThePrimaryCacheHasMakeRoomAndAreTakenBack) {
  const auto cache = NewCache("capacity=256K;num_shard_bits=0");
  for (uint64_t i = 0; i < 200; i++) {
    Touch(cache.get(), Key(i), Noise(i, 4000));
  }
  Get(cache.get(), Key(30), /*advise_erase=*/true);  // now the most recently used one, and promoted
  for (uint64_t i = 1000; i < 1006; i++) {
    Offer(cache.get(), Key(i), Noise(i, 4000), /*force=*/true);
  }
  EXPECT_EQ(std::string("<none>").size(), Get(cache.get(), Key(30)).size());
  EXPECT_TRUE(Noise(29, 4000) == Get(cache.get(), Key(29)));  // less recently used, but only here
  Offer(cache.get(), Key(30), Noise(30, 4000));
  EXPECT_TRUE(Noise(30, 4000) == Get(cache.get(), Key(30)));
}

TEST(CacheTest, ExclusiveGivesItAwayAndTakesItBack) {
  const auto cache = NewCache("capacity=256K;num_shard_bits=0;exclusive=true");
  for (uint64_t i = 0; i < 200; i++) {
    Touch(cache.get(), Key(i), Noise(i, 4000));
  }
  bool kept = true;
  EXPECT_TRUE(Noise(1, 4000) == Get(cache.get(), Key(1), /*advise_erase=*/true, &kept));
  EXPECT_FALSE(kept);
  EXPECT_EQ("<none>", Get(cache.get(), Key(1)));
  Offer(cache.get(), Key(1), Noise(1, 4000));
  EXPECT_TRUE(Noise(1, 4000) == Get(cache.get(), Key(1), /*advise_erase=*/false, &kept));
  EXPECT_TRUE(kept);  // the primary cache did not take it for good
}

TEST(CacheTest, CompressionSavesRoomAndGivesTheSameBytes) {
  for (const char* codec : {"lz4", "zstd"}) {
    const auto cache = NewCache(std::string("capacity=1M;compression=") + codec);
    const std::string text(100000, 'a');
    Offer(cache.get(), Key(1), text);
    Offer(cache.get(), Key(2), Noise(2, 5000));  // does not shrink: kept as it is
    Offer(cache.get(), Key(3), "tiny");
    EXPECT_EQ(text, Get(cache.get(), Key(1)));
    EXPECT_TRUE(Noise(2, 5000) == Get(cache.get(), Key(2)));
    EXPECT_EQ("tiny", Get(cache.get(), Key(3)));
    EXPECT_LT(Stats(cache).copied_bytes, 10000u) << codec;
  }
}

// As the lower tier of a TieredSecondaryCache: compressed blocks come by InsertSaved and go back
// with their type and source.
TEST(CacheTest, InsertSavedKeepsTypeAndSource) {
  for (const char* options : {"capacity=1M", "capacity=1M;compression=lz4"}) {
    const auto cache = NewCache(options);
    ASSERT_OK(
        cache->InsertSaved(Key(1), "compressed bytes", kZSTD, CacheTier::kVolatileCompressedTier));
    ASSERT_OK(cache->InsertSaved(Key(2), std::string(1000, 'b'), kNoCompression,
                                 CacheTier::kVolatileTier));
    for (uint64_t key : {1, 2}) {
      TextContext context;
      bool kept = false;
      auto handle = cache->Lookup(Key(key), TextHelper(), &context, true, false, nullptr, kept);
      ASSERT_NE(nullptr, handle);
      std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
      EXPECT_EQ(key == 1 ? "compressed bytes" : std::string(1000, 'b'), *value);
      EXPECT_EQ(key == 1 ? kZSTD : kNoCompression, context.type);
      EXPECT_EQ(key == 1 ? CacheTier::kVolatileCompressedTier : CacheTier::kVolatileTier,
                context.source);
    }
  }
}

TEST(CacheTest, BlockThatCannotBeMadeAnObjectIsAMissAndGoes) {
  const auto cache = NewCache("capacity=1M");
  Offer(cache.get(), Key(1), "one");
  TextContext context;
  context.fail = true;
  bool kept = false;
  EXPECT_EQ(nullptr, cache->Lookup(Key(1), TextHelper(), &context, true, false, nullptr, kept));
  EXPECT_EQ(0u, Stats(cache).blocks);
}

TEST(CacheTest, WaitAllTakesAnEmptyList) {
  const auto cache = NewCache("capacity=1M");
  cache->WaitAll({});
}

TEST(CacheTest, EraseFilesRemovesAnSstsBlocksOnly) {
  const auto cache = NewCache("capacity=1M");
  for (uint64_t block = 0; block < 50; block++) {
    for (uint64_t file : {7, 8, 9}) {
      Offer(cache.get(), Key(block, file), "block");
    }
  }
  AsOurs(cache)->EraseFiles({7, 9, 100});
  EXPECT_EQ(50u, Stats(cache).blocks);
  EXPECT_EQ(100u, Stats(cache).erased_obsolete);
  EXPECT_EQ("<none>", Get(cache.get(), Key(3, 7)));
  EXPECT_EQ("block", Get(cache.get(), Key(3, 8)));
  // What the primary cache still has of them is not taken.
  Offer(cache.get(), Key(3, 7), "block", /*force=*/true);
  EXPECT_EQ("<none>", Get(cache.get(), Key(3, 7)));
}

TEST(CacheTest, RoomOfObsoleteBlocksIsFilledAtOnce) {
  const auto cache = NewCache("capacity=256K;num_shard_bits=0");
  for (uint64_t i = 0; i < 200; i++) {
    Touch(cache.get(), Key(i, 1 + i % 2), Noise(i, 4000));
  }
  AsOurs(cache)->EraseFiles({1});
  Touch(cache.get(), Key(1000, 3), "of the compaction's output");
  EXPECT_EQ("of the compaction's output", Get(cache.get(), Key(1000, 3)));
}

TEST(CacheTest, UnpreparedCachePassesThrough) {
  TwoQSecondaryCache cache;
  std::string value = "x";
  EXPECT_OK(cache.Insert(Key(1), &value, TextHelper(), true));
  EXPECT_EQ("<none>", Get(&cache, Key(1)));
  EXPECT_NE(std::string::npos,
            cache.GetPrintableOptions().find("pass-through (no options were set)"));
}

TEST(CacheTest, RefusedCacheSaysWhy) {
  TwoQSecondaryCache cache;
  for (const char* text : {"capacity=32", "capcity=1M", "capacity=1M;policy=3q"}) {
    EXPECT_FALSE(cache.ConfigureFromString(ConfigOptions(), text).ok()) << text;
    const std::string told = cache.GetPrintableOptions();
    const size_t why = told.find("pass-through (options were refused: ");
    ASSERT_NE(std::string::npos, why) << told;
    const std::string last = std::string(text).substr(std::string(text).rfind(';') + 1);
    EXPECT_NE(std::string::npos, told.find(last.substr(0, last.rfind('=')), why)) << told;
  }
}

TEST(StatsTest, OnlyOfOurCaches) {
  TwoQSecondaryCacheStats stats;
  EXPECT_TRUE(GetTwoQSecondaryCacheStats(nullptr, &stats).IsInvalidArgument());
  const auto other = NewCompressedSecondaryCache(CompressedSecondaryCacheOptions());
  EXPECT_TRUE(GetTwoQSecondaryCacheStats(other.get(), &stats).IsInvalidArgument());
}

TEST(StatsTest, PropertiesAreTheStatistics) {
  const auto cache = NewCache("capacity=1M");
  const auto other = NewCache("capacity=1M");
  Offer(cache.get(), Key(1), "one");
  EXPECT_EQ("one", Get(cache.get(), Key(1)));
  EXPECT_EQ("<none>", Get(cache.get(), Key(2)));
  const auto property = [](const SecondaryCache* of, const std::string& name) {
    std::string value = "none";
    GetTwoQSecondaryCacheProperty(of, "rocktier.secondary_cache_2q." + name, &value);
    return value;
  };
  EXPECT_EQ("1", property(cache.get(), "hits"));
  EXPECT_EQ("1", property(cache.get(), "misses"));
  EXPECT_EQ(std::to_string(Stats(cache).usage), property(cache.get(), "usage_bytes"));
  EXPECT_EQ("none", property(cache.get(), "hit"));
  // Of all caches of the process, by their names.
  EXPECT_EQ("1", property(nullptr, "hits." + AsOurs(cache)->name()));
  EXPECT_EQ("0", property(nullptr, "hits." + AsOurs(other)->name()));
  EXPECT_EQ("none", property(nullptr, "hits"));
  const std::string hits = "rocktier_secondary_cache_2q_hits_total{cache=\"";
  const std::string text = TwoQSecondaryCacheMetricsText(nullptr);
  EXPECT_NE(std::string::npos, text.find(hits + AsOurs(cache)->name() + "\"} 1\n")) << text;
  EXPECT_NE(std::string::npos, text.find(hits + AsOurs(other)->name() + "\"} 0\n")) << text;
  const std::string of_one = TwoQSecondaryCacheMetricsText(cache.get());
  EXPECT_EQ(std::string::npos, of_one.find(hits + AsOurs(other)->name())) << of_one;
  const auto stock = NewCompressedSecondaryCache(CompressedSecondaryCacheOptions());
  EXPECT_EQ("none", property(stock.get(), "hits"));
  EXPECT_EQ("", TwoQSecondaryCacheMetricsText(stock.get()));
}

// Column families with the same options have a cache each.
TEST(StatsTest, CachesInMemoryMayShareAFile) {
  const std::string path = test::PerThreadDBPath("statistics") + ".prom";
  const std::string options = "capacity=1M;metrics_file=" + path;
  auto cache = NewCache(options);
  auto other = NewCache(options);
  const auto waits_for = [&](const std::string& name, bool there) {
    std::string text;
    return rocktier::WaitFor([&] {
      return ReadFileToString(Env::Default(), path, &text).ok() &&
             (text.find("hits_total{cache=\"" + name + "\"}") != std::string::npos) == there;
    });
  };
  const std::string first = AsOurs(cache)->name();
  const std::string second = AsOurs(other)->name();
  EXPECT_TRUE(waits_for(first, true));
  EXPECT_TRUE(waits_for(second, true));
  cache.reset();
  EXPECT_TRUE(waits_for(first, false));
  EXPECT_TRUE(waits_for(second, true));
  other.reset();
  EXPECT_TRUE(Env::Default()->FileExists(path).IsNotFound());
}

TEST(StatsTest, AProblemWithTheFileIsForgottenWhenItIsWritten) {
  const std::string directory = test::PerThreadDBPath("statistics_directory");
  const std::string path = directory + "/cache.prom";
  auto cache = NewCache("capacity=1M;metrics_file=" + path);
  const auto wait_for = [&](bool problem) {
    rocktier::WaitFor([&] { return AsOurs(cache)->MetricsProblem().empty() != problem; });
    return AsOurs(cache)->MetricsProblem();
  };
  EXPECT_NE(std::string::npos, wait_for(true).find(path + ": ")) << wait_for(true);
  ASSERT_OK(Env::Default()->CreateDir(directory));
  EXPECT_EQ("", wait_for(false));
  cache.reset();
  EXPECT_OK(Env::Default()->DeleteDir(directory));
}

TEST(StatsTest, TextAndJsonNameEachCounter) {
  TwoQSecondaryCacheStats stats;
  stats.hits = 42;
  EXPECT_NE(std::string::npos, stats.ToString().find("hits : 42 blocks"));
  EXPECT_NE(std::string::npos, stats.ToJson().find("\"hits\":42"));
  EXPECT_EQ('{', stats.ToJson().front());
  EXPECT_EQ('}', stats.ToJson().back());
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
