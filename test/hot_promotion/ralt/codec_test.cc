// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The catalog, the digest and the filter of a file.

#include <string>

#include "plugin/hot_promotion/ralt/catalog.h"
#include "plugin/hot_promotion/ralt/digest.h"
#include "plugin/hot_promotion/ralt/filter.h"
#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "test/hot_promotion/ralt/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

Catalog SomeCatalog() {
  Catalog catalog;
  catalog.clock = {300, 7};
  catalog.next_file = 12;
  catalog.limits = {1000, 200};
  catalog.stable = {900, 180};
  catalog.alpha = 0.5;
  catalog.hot_rank = 2;
  catalog.runs = {{{11, 4096, "a"}}, {{7, 1000, "b"}, {8, 2000, "cd"}}};
  return catalog;
}

Digest SomeDigest() {
  Digest digest;
  digest.total = {100, 9000, 50000, 8000, 40, 20000};
  digest.last = "z";
  digest.points = {{"a", 0, 0}, {"h", 4000, 5000}, {"p", 6000, 15000}};
  return digest;
}

}  // namespace

TEST(CatalogTest, RoundTrip) {
  const Catalog catalog = SomeCatalog();
  Catalog read;
  ASSERT_OK(Catalog::Decode(catalog.Encode(), &read));
  EXPECT_EQ(catalog.Encode(), read.Encode());
  EXPECT_EQ(300u, read.clock.tick);
  EXPECT_EQ(200u, read.limits.table);
  EXPECT_EQ(180u, read.stable.table_bytes);
  EXPECT_EQ(2, read.hot_rank);
  ASSERT_EQ(2u, read.runs.size());
  ASSERT_EQ(2u, read.runs[1].size());
  EXPECT_EQ("cd", read.runs[1][1].begin);
  ASSERT_OK(Catalog::Decode(Catalog().Encode(), &read));
}

TEST(CatalogTest, GoldenBytes) {
  Catalog catalog = SomeCatalog();
  catalog.runs.pop_back();
  const std::string expected(
      "RKTRALT\n\x01\0\0\0"
      "\x3d\xc8\x37\xc1"
      "\xac\x02\x07\x0c\xe8\x07\xc8\x01\x84\x07\xb4\x01"
      "\0\0\0\0\0\0\xe0\x3f\0\0\0\0\0\0\0\x40"
      "\x01\x01\x0b\x80\x20\x01"
      "a",
      51);
  EXPECT_EQ(Slice(expected).ToString(true), Slice(catalog.Encode()).ToString(true));
}

TEST(CatalogTest, DamageIsSeen) {
  const std::string good = SomeCatalog().Encode();
  for (size_t i = 0; i < good.size(); ++i) {
    Catalog read;
    EXPECT_TRUE(Catalog::Decode(Slice(good.data(), i), &read).IsCorruption()) << i;
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const Status s = Catalog::Decode(bad, &read);
    EXPECT_TRUE(i >= 8 && i < 12 ? s.IsNotSupported() : s.IsCorruption()) << i << s.ToString();
  }
  Catalog read;
  EXPECT_TRUE(Catalog::Decode(good + "x", &read).IsCorruption());
}

TEST(DigestTest, RoundTrip) {
  const Digest digest = SomeDigest();
  Digest read;
  ASSERT_TRUE(Digest::Decode(digest.Encode(), &read));
  EXPECT_EQ(digest.Encode(), read.Encode());
  EXPECT_EQ(100u, read.total.records);
  EXPECT_EQ(20000u, read.total.hot_bytes);
  EXPECT_EQ("p", read.points[2].key);
}

TEST(DigestTest, RefusesWhatIsNoDigest) {
  const std::string good = SomeDigest().Encode();
  Digest read;
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Digest::Decode(Slice(good.data(), size), &read)) << size;
  }
  EXPECT_FALSE(Digest::Decode(good + "x", &read));
  Digest unsorted = SomeDigest();
  std::swap(unsorted.points[0].key, unsorted.points[1].key);
  EXPECT_FALSE(Digest::Decode(unsorted.Encode(), &read));
  Digest shrinking = SomeDigest();
  shrinking.points[2].hot_bytes = 4000;
  EXPECT_FALSE(Digest::Decode(shrinking.Encode(), &read));
  Digest none = SomeDigest();
  none.points.clear();
  EXPECT_FALSE(Digest::Decode(none.Encode(), &read));
  std::string other = good;
  other[0] = 2;
  EXPECT_FALSE(Digest::Decode(other, &read)) << "version 2";
}

TEST(DigestTest, TheRestAfterAKey) {
  const Amounts rest = SomeDigest().From("k");
  EXPECT_EQ(15000u, rest.hot_bytes);
  EXPECT_EQ(4000u, rest.table_bytes);
  EXPECT_EQ(30u, rest.hot_keys);
  EXPECT_EQ(50u, rest.records);
}

TEST(FilterTest, HasItsKeysAndFewOthers) {
  Random64 random(Seed());
  std::vector<uint64_t> hashes;
  for (int i = 0; i < 10000; ++i) {
    hashes.push_back(random.Next());
  }
  const std::string bits = Filter::Make(hashes);
  ASSERT_TRUE(Filter::Sound(bits));
  EXPECT_NEAR(25000, static_cast<double>(bits.size()), 64);
  const Filter filter(bits);
  for (const uint64_t hash : hashes) {
    ASSERT_TRUE(filter.MayHave(hash));
  }
  int others = 0;
  for (int i = 0; i < 1000000; ++i) {
    others += filter.MayHave(random.Next()) ? 1 : 0;
  }
  EXPECT_LT(others, 500) << "about 0.01%";
}

TEST(FilterTest, WithoutKeysHasNone) { EXPECT_FALSE(Filter(Filter::Make({})).MayHave(0)); }

TEST(NameTest, OfRunFiles) {
  uint64_t number = 0;
  EXPECT_EQ("/d/000012.sst", RunFileName("/d", 12));
  EXPECT_TRUE(ParseRunFileName("000012.sst", &number));
  EXPECT_EQ(12u, number);
  EXPECT_TRUE(ParseRunFileName("12345678.sst", &number));
  for (const char* name : {"12.sst", "000012.ss", "000012.sstx", "000012.log", "CATALOG", "x"}) {
    EXPECT_FALSE(ParseRunFileName(name, &number)) << name;
  }
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
