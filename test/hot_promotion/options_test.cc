// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/options.h"

#include "plugin/hot_promotion/factory.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

std::shared_ptr<TableFactory> Create(const std::string& options) {
  std::shared_ptr<TableFactory> factory;
  EXPECT_OK(
      TableFactory::CreateFromString(ConfigOptions(), "id=HotPromotionTable" + options, &factory));
  return factory;
}

const HotPromotionOptions& OptionsOf(const TableFactory& factory) {
  return *factory.GetOptions<HotPromotionOptions>();
}

void ExpectRefused(const std::string& options, const std::string& mentions) {
  std::shared_ptr<TableFactory> factory;
  const Status s =
      TableFactory::CreateFromString(ConfigOptions(), "id=HotPromotionTable" + options, &factory);
  EXPECT_TRUE(s.IsInvalidArgument()) << options << ": " << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find(mentions)) << options << ": " << s.ToString();
}

TEST(OptionsTest, WithoutAPathItIsABlockBasedTable) {
  const auto factory = Create("");
  EXPECT_OK(factory->ValidateOptions(DBOptions(), ColumnFamilyOptions()));
  EXPECT_TRUE(factory->IsInstanceOf(TableFactory::kBlockBasedTableName()));
  EXPECT_NE(nullptr, factory->GetOptions<BlockBasedTableOptions>());
}

TEST(OptionsTest, BothKindsOfOptionsRoundTrip) {
  const auto first = Create(
      ";path=/a/b;budget=3M;slow=/c,temperature:cold;promotion_cache=1M;retention=false;"
      "scan_records=5;slow_read_micros=7;store_open_files=50;ralt_bytes=2M;ralt_buffer_bytes=64K;"
      "direct_io=true;metrics_interval=9;metrics_file=/d/e.prom;"
      "block_size=8K");
  std::string text;
  ASSERT_OK(first->GetOptionString(ConfigOptions(), &text));
  const auto second = Create(";" + text);
  const HotPromotionOptions& options = OptionsOf(*second);
  EXPECT_EQ("/a/b", options.path);
  EXPECT_EQ(3u << 20, options.budget);
  EXPECT_EQ("/c,temperature:cold", options.slow);
  EXPECT_EQ(1u << 20, options.promotion_cache);
  EXPECT_FALSE(options.retention);
  EXPECT_EQ(5u, options.scan_records);
  EXPECT_EQ(7u, options.slow_read_micros);
  EXPECT_EQ(2u << 20, options.ralt_bytes);
  EXPECT_EQ(64u << 10, options.ralt_buffer_bytes);
  EXPECT_TRUE(options.direct_io);
  EXPECT_EQ(9u, options.metrics_interval);
  EXPECT_EQ("/d/e.prom", options.metrics_file);
  EXPECT_EQ(50, options.store_open_files);
  EXPECT_EQ(8u << 10, second->GetOptions<BlockBasedTableOptions>()->block_size);
}

TEST(OptionsTest, ACloneHasOptionsOfItsOwn) {
  const auto first = Create(";path=/a;budget=3M;slow=/c;block_size=8K");
  const std::unique_ptr<TableFactory> clone = first->Clone();
  ASSERT_OK(clone->ConfigureFromString(ConfigOptions(), "budget=5M;block_size=16K"));
  EXPECT_EQ(3u << 20, OptionsOf(*first).budget);
  EXPECT_EQ(5u << 20, OptionsOf(*clone).budget);
  EXPECT_EQ("/a", OptionsOf(*clone).path);
  EXPECT_EQ(8u << 10, first->GetOptions<BlockBasedTableOptions>()->block_size);
  EXPECT_EQ(16u << 10, clone->GetOptions<BlockBasedTableOptions>()->block_size);
}

TEST(OptionsTest, RefusesBadOptionsByName) {
  ExpectRefused(";path=a;budget=1M;slow=/c", "path=a");
  ExpectRefused(";path=/a;slow=/c", "budget");
  ExpectRefused(";path=/a;budget=1K;slow=/c", "budget=1024");
  ExpectRefused(";path=/a;budget=1M;slow=/c;promotion_cache=1K", "promotion_cache=1024");
  ExpectRefused(";path=/a;budget=1M;slow=/c;store_open_files=5", "store_open_files=5");
  ExpectRefused(";path=/a;budget=1M;slow=/c;metrics_interval=86401", "metrics_interval=86401");
  ExpectRefused(";path=/a;budget=1M;slow=/c;metrics_file=/a/b", "metrics_file=/a/b");
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
