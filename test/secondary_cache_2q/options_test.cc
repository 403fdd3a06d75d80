// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/options.h"

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

Status Create(const std::string& options) {
  std::shared_ptr<SecondaryCache> cache;
  return SecondaryCache::CreateFromString(ConfigOptions(), "id=TwoQSecondaryCache" + options,
                                          &cache);
}

// The creation fails and says what the user has to mend.
void ExpectRefused(const std::string& options, const std::string& mentions) {
  const Status s = Create(options);
  EXPECT_FALSE(s.ok()) << options;
  EXPECT_NE(std::string::npos, s.ToString().find(mentions)) << options << ": " << s.ToString();
}

const TwoQSecondaryCacheOptions* OptionsOf(const std::shared_ptr<SecondaryCache>& cache) {
  return cache->GetOptions<TwoQSecondaryCacheOptions>();
}

TEST(OptionsTest, Defaults) {
  const auto cache = NewCache("capacity=1M");
  const TwoQSecondaryCacheOptions* options = OptionsOf(cache);
  EXPECT_EQ(1u << 20, options->capacity);
  EXPECT_EQ(Policy::k2Q, options->policy);
  EXPECT_EQ(Storage::kDram, options->storage);
  EXPECT_EQ(-1, options->ghost_ratio);
  EXPECT_FALSE(options->exclusive);
  EXPECT_EQ("none", options->compression);
  EXPECT_FALSE(options->carry);
}

TEST(OptionsTest, RoundTrip) {
  const std::string path = test::PerThreadDBPath("options_round_trip");
  const std::vector<std::string> all = {
      "capacity=1M", "capacity=3M;policy=2q_paper;ghost_ratio=0.25;exclusive=true;num_shard_bits=2",
      "capacity=64K;policy=lru;compression=lz4;metrics_interval=7;metrics_file=" + path + ".prom",
      "capacity=8M;storage=file;path=" + path +
          ";io=pread;direct_io=false;write_buffer_size=1M;compression=zstd;policy=2q;carry=true"};
  for (const std::string& text : all) {
    auto first = NewCache(text);
    std::string written;
    ASSERT_OK(first->GetOptionString(ConfigOptions(), &written));
    const TwoQSecondaryCacheOptions expected = *OptionsOf(first);
    first.reset();
    const auto second = NewCache(written);
    const TwoQSecondaryCacheOptions* got = OptionsOf(second);
    EXPECT_TRUE(SameButCapacity(expected, *got)) << text << " -> " << written;
    EXPECT_EQ(expected.capacity, got->capacity);
    std::string again;
    ASSERT_OK(second->GetOptionString(ConfigOptions(), &again));
    EXPECT_EQ(written, again);
  }
}

TEST(OptionsTest, RefusesBadOptionsByName) {
  const std::string path = test::PerThreadDBPath("options_refused");
  ExpectRefused("", "capacity");
  ExpectRefused(";capacity=0", "capacity");
  ExpectRefused(";capacity=10K", "capacity=10240");
  ExpectRefused(";capacity=1M;no_such_option=1", "no_such_option");
  ExpectRefused(";capacity=1M;policy=3q", "policy=3q");
  ExpectRefused(";capacity=1M;storage=tape", "storage=tape");
  ExpectRefused(";capacity=1M;compression=gzip", "compression=gzip");
  ExpectRefused(";capacity=1M;ghost_ratio=17", "ghost_ratio=17");
  ExpectRefused(";capacity=1M;metrics_interval=86401", "metrics_interval=86401");
  ExpectRefused(";capacity=1M;metrics_file=/a/b", "metrics_file=/a/b");
  ExpectRefused(";capacity=1M;metrics_file=b.prom", "metrics_file=b.prom");
  ExpectRefused(";capacity=1M;ghost_ratio=-2", "ghost_ratio=-2");
  ExpectRefused(";capacity=1M;num_shard_bits=13", "num_shard_bits=13");
  ExpectRefused(";capacity=1M;num_shard_bits=10", "num_shard_bits=10");
  ExpectRefused(";capacity=8M;storage=file", "path");
  ExpectRefused(";capacity=1M;path=/x", "storage=file");
  ExpectRefused(";capacity=1M;storage=file;path=" + path, "capacity=1048576");
  ExpectRefused(";capacity=8M;storage=file;path=" + path + ";io=tape", "io=tape");
  ExpectRefused(";capacity=8M;storage=file;write_buffer_size=1K;path=" + path,
                "write_buffer_size=1024");
  ExpectRefused(";capacity=8M;storage=file;path=/no/such/folder/cache", "/no/such/folder/cache");
  ExpectRefused(";capacity=8M;storage=file;path=" + test::TmpDir(), test::TmpDir());
}

TEST(OptionsTest, ANanIsNoRatio) {
  TwoQSecondaryCacheOptions options;
  options.capacity = 1 << 20;
  options.ghost_ratio = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(Validate(options).IsInvalidArgument());
}

TEST(OptionsTest, OnlyTheCapacityCanBeChangedLater) {
  const auto cache = NewCache("capacity=1M");
  ASSERT_OK(cache->ConfigureFromString(ConfigOptions(), "capacity=2M"));
  size_t capacity = 0;
  ASSERT_OK(cache->GetCapacity(capacity));
  EXPECT_EQ(2u << 20, capacity);
  const Status s = cache->ConfigureFromString(ConfigOptions(), "policy=lru");
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(std::string::npos, s.ToString().find("policy: cannot be changed")) << s.ToString();
  EXPECT_EQ(Policy::k2Q, OptionsOf(cache)->policy);
  EXPECT_TRUE(cache->ConfigureFromString(ConfigOptions(), "carry=true").IsInvalidArgument());
  EXPECT_FALSE(OptionsOf(cache)->carry);
}

TEST(OptionsTest, SoItIsWhenOneOptionIsSet) {
  const auto cache = NewCache("capacity=1M");
  ASSERT_OK(cache->ConfigureOption(ConfigOptions(), "capacity", "2M"));
  size_t capacity = 0;
  ASSERT_OK(cache->GetCapacity(capacity));
  EXPECT_EQ(2u << 20, capacity);
  const Status s = cache->ConfigureOption(ConfigOptions(), "policy", "lru");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("policy: cannot be changed")) << s.ToString();
  EXPECT_EQ(Policy::k2Q, OptionsOf(cache)->policy);
  EXPECT_EQ(2u << 20, OptionsOf(cache)->capacity);
  EXPECT_FALSE(cache->ConfigureOption(ConfigOptions(), "capacity", "1").ok());
  EXPECT_EQ(2u << 20, OptionsOf(cache)->capacity);
}

TEST(OptionsTest, ShardsAreFewWhenSmall) {
  TwoQSecondaryCacheOptions options;
  options.capacity = 64 << 20;
  EXPECT_EQ(4, ShardBits(options));
  options.capacity = 1 << 20;
  EXPECT_EQ(1, ShardBits(options));
  options.capacity = 64 << 10;
  EXPECT_EQ(0, ShardBits(options));
  options.num_shard_bits = 3;
  EXPECT_EQ(3, ShardBits(options));
}

// The bookkeeping of a shard can count no more.
TEST(OptionsTest, ShardsOfAFileAreNotTooLarge) {
  TwoQSecondaryCacheOptions options;
  options.storage = Storage::kFile;
  options.path = "/cache";
  options.capacity = size_t{8} << 40;
  EXPECT_EQ(5, ShardBits(options));
  EXPECT_OK(Validate(options));
  options.num_shard_bits = 4;
  const Status s = Validate(options);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(std::string::npos, s.ToString().find("num_shard_bits=4: leaves more than 256G"));
  options.capacity = size_t{4} << 40;
  EXPECT_OK(Validate(options));
}

TEST(OptionsTest, PrintableOptionsTellTheState) {
  const auto cache = NewCache("capacity=1M;policy=2q_paper");
  const std::string text = cache->GetPrintableOptions();
  for (const char* part : {"policy=2q_paper", "capacity=1048576", "state : open", "ghosts"}) {
    EXPECT_NE(std::string::npos, text.find(part)) << part;
  }
}

std::shared_ptr<Cache> BlockCacheOf(const std::string& value, Status* s) {
  BlockBasedTableOptions table;
  *s = GetBlockBasedTableOptionsFromString(ConfigOptions(), BlockBasedTableOptions(),
                                           "block_cache=" + value, &table);
  return table.block_cache;
}

TEST(BlockCacheUriTest, MakesAnLruCacheWithASecondary) {
  Status s;
  const auto cache = BlockCacheOf(
      "{id={lru+2q://capacity=2M;num_shard_bits=1;secondary_cache={capacity=1M;policy=lru}}}", &s);
  ASSERT_OK(s);
  ASSERT_NE(nullptr, cache);
  EXPECT_EQ(2u << 20, cache->GetCapacity());
  const std::string text = cache->GetPrintableOptions();
  EXPECT_NE(std::string::npos, text.find("policy=lru")) << text;
}

TEST(BlockCacheUriTest, MakesAHyperClockCacheWithASecondary) {
  Status s;
  const auto cache =
      BlockCacheOf("{id={hyper+2q://capacity=2M;secondary_cache={capacity=1M}}}", &s);
  ASSERT_OK(s);
  EXPECT_NE(std::string::npos, std::string(cache->Name()).find("HyperClockCache"));
}

TEST(BlockCacheUriTest, RefusesBadArguments) {
  Status s;
  for (const char* uri :
       {"{id={lru+2q://capacity=2M}}", "{id={lru+2q://secondary_cache={capacity=1M}}}",
        "{id={lru+2q://capacity=2M;colour=red;secondary_cache={capacity=1M}}}",
        "{id={lru+2q://capacity=2M;secondary_cache={capacity=0}}}",
        "{id={hyper+2q://capacity=2M;num_shard_bits=20;secondary_cache={capacity=1M}}}",
        "{id={lru+2q://capacity=2M;high_pri_pool_ratio=2;secondary_cache={capacity=1M}}}"}) {
    BlockCacheOf(uri, &s);
    EXPECT_FALSE(s.ok()) << uri;
  }
  EXPECT_NE(std::string::npos, s.ToString().find("high_pri_pool_ratio=2")) << s.ToString();
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
