// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the plugin has of its own, so that RocksDB's public headers are enough, against what RocksDB
// has.

#include <string>
#include <vector>

#include "file/filename.h"
#include "gtest/gtest.h"
#include "monitoring/histogram.h"
#include "plugin/raw_wal_fs/crc32c.h"
#include "plugin/raw_wal_fs/name.h"
#include "plugin/raw_wal_fs/sync_times.h"
#include "test/support/seed.h"
#include "util/coding.h"
#include "util/crc32c.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace raw_wal_fs {
namespace {

TEST(RawWalInternalsTest, ChecksumsAreThoseOfRocksDB) {
  Random random(static_cast<uint32_t>(rocktier::Seed()));
  for (int round = 0; round < 1000; round++) {
    const std::string bytes = random.RandomString(static_cast<int>(random.Uniform(10000)));
    const size_t cut = random.Uniform(static_cast<int>(bytes.size()) + 1);
    Crc32c crc;
    crc.Add(bytes.data(), cut);
    crc.Add(bytes.data() + cut, bytes.size() - cut);
    const uint32_t expected = crc32c::Mask(crc32c::Value(bytes.data(), bytes.size()));
    ASSERT_EQ(expected, crc.Masked());
    ASSERT_EQ(expected, MaskedCrc32c(bytes.data(), bytes.size()));
  }
  EXPECT_EQ(0xa282ead8, Crc32c().Masked());
}

TEST(RawWalInternalsTest, ALogIsCalledAsByRocksDB) {
  const std::string longest(250, 'x');
  for (const std::string& directory :
       {std::string("/data/db"), std::string("/data//db"), std::string("//data/db"),
        std::string("/data/db///"), std::string("/a b/c:d/e.f-g_h"), std::string("/"),
        "/data/" + longest, "/data/db/" + longest + "/" + longest, std::string("relative/db")}) {
    EXPECT_EQ(InfoLogFileName(directory, directory, "/logs"), "/logs/" + InfoLogName(directory));
  }
}

TEST(RawWalInternalsTest, PercentilesAreThoseOfTheTimes) {
  SyncTimes none;
  EXPECT_EQ(none.Percentile(50), 0u);
  EXPECT_EQ(none.max(), 0u);

  SyncTimes one;
  one.Add(UINT64_MAX);
  EXPECT_EQ(one.max(), UINT64_MAX);
  EXPECT_GE(one.Percentile(99), UINT64_MAX / 9 * 8);

  for (const uint64_t step : {uint64_t{1}, uint64_t{7}, uint64_t{12345}}) {
    SyncTimes times;
    HistogramImpl histogram;
    for (uint64_t i = 1; i <= 1000; i++) {
      times.Add(i * step);
      histogram.Add(i * step);
    }
    EXPECT_EQ(times.max(), 1000 * step);
    for (const double percent : {1.0, 50.0, 95.0, 99.0, 99.9, 100.0}) {
      const double exact = percent * 10 * static_cast<double>(step);
      EXPECT_NEAR(static_cast<double>(times.Percentile(percent)), exact, exact / 8 + 1);
      EXPECT_NEAR(histogram.Percentile(percent), exact, exact / 2 + 1);
    }
  }
}

}  // namespace
}  // namespace raw_wal_fs
}  // namespace ROCKSDB_NAMESPACE
