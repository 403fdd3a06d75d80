// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/table/slow.h"

#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

TEST(SlowTest, DirectoriesAreWholeNames) {
  SlowFiles slow;
  ASSERT_OK(SlowFiles::Parse("/mnt/hdd, /b//c/", &slow));
  EXPECT_TRUE(slow.IsSlow("/mnt/hdd/db/1.sst", Temperature::kUnknown));
  EXPECT_TRUE(slow.IsSlow("/mnt//hdd/1.sst", Temperature::kHot));
  EXPECT_TRUE(slow.IsSlow("/b/c/1.sst", Temperature::kUnknown));
  EXPECT_FALSE(slow.IsSlow("/mnt/hdd2/1.sst", Temperature::kUnknown));
  EXPECT_FALSE(slow.IsSlow("/b/1.sst", Temperature::kCold));
  EXPECT_FALSE(slow.AsksForTemperature());
}

TEST(SlowTest, Temperatures) {
  SlowFiles slow;
  ASSERT_OK(SlowFiles::Parse("temperature:cold,temperature:warm,/a", &slow));
  EXPECT_TRUE(slow.AsksForTemperature());
  EXPECT_TRUE(slow.IsSlow("/x/1.sst", Temperature::kCold));
  EXPECT_TRUE(slow.IsSlow("/x/1.sst", Temperature::kWarm));
  EXPECT_TRUE(slow.IsSlow("/a/1.sst", Temperature::kHot));
  EXPECT_FALSE(slow.IsSlow("/x/1.sst", Temperature::kUnknown));
}

TEST(SlowTest, OtherEntriesAreRefusedByName) {
  SlowFiles slow;
  for (const char* text : {"", "a", "/a,,/b", "temperature:tepid", "temperature:"}) {
    const Status s = SlowFiles::Parse(text, &slow);
    EXPECT_TRUE(s.IsInvalidArgument()) << text;
    EXPECT_NE(std::string::npos, s.ToString().find("slow")) << s.ToString();
  }
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
