// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The index, the FIFO and the extents against simple models, and which SSTs are known.

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "plugin/secondary_cache_2q/extents.h"
#include "plugin/secondary_cache_2q/fifo.h"
#include "plugin/secondary_cache_2q/index.h"
#include "plugin/secondary_cache_2q/known_ssts.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

TEST(IndexTest, FindsWhatWasSet) {
  Index index;
  Block block;
  EXPECT_EQ(Kind::kNone, index.Find(0).kind());
  index.Set(0, Known(&block));
  index.Set(1, Known(Kind::kGhost, 12345));
  EXPECT_EQ(Kind::kBlock, index.Find(0).kind());
  EXPECT_EQ(&block, index.Find(0).block());
  EXPECT_EQ(Kind::kGhost, index.Find(1).kind());
  EXPECT_EQ(12345u, index.Find(1).position());
  index.Set(1, Known(Kind::kMarked, 6));
  EXPECT_EQ(Kind::kMarked, index.Find(1).kind());
  EXPECT_EQ(2u, index.size());
  index.Erase(0);
  index.Erase(0);
  EXPECT_EQ(Kind::kNone, index.Find(0).kind());
  EXPECT_EQ(1u, index.size());
}

// Few home slots, so that runs of collisions and wrap-around are common.
TEST(IndexTest, AgreesWithAMapUnderCollisions) {
  const uint32_t seed = 301;
  fprintf(stderr, "seed %u\n", seed);
  Random random(seed);
  Index index;
  std::unordered_map<uint64_t, uint64_t> model;
  for (int i = 0; i < 300000; i++) {
    const uint64_t hash = random.Uniform(40) | uint64_t{random.Uniform(40)} << 40 |
                          uint64_t{random.OneIn(4) ? 60u : 0u};
    if (random.OneIn(3)) {
      index.Erase(hash);
      model.erase(hash);
    } else {
      const uint64_t position = random.Uniform(1 << 20);
      index.Set(hash, Known(Kind::kGhost, position));
      model[hash] = position;
    }
    ASSERT_EQ(model.size(), index.size());
    const uint64_t probe = random.Uniform(40) | uint64_t{random.Uniform(40)} << 40;
    const auto it = model.find(probe);
    ASSERT_EQ(it == model.end() ? Kind::kNone : Kind::kGhost, index.Find(probe).kind());
    if (it != model.end()) {
      ASSERT_EQ(it->second, index.Find(probe).position());
    }
  }
}

TEST(FifoTest, PositionsGrowAndComeOutInOrder) {
  Fifo fifo;
  const uint64_t a = fifo.Push(10);
  const uint64_t b = fifo.Push(11);
  EXPECT_EQ(a + 1, b);
  uint64_t position;
  EXPECT_EQ(10u, fifo.Pop(&position));
  EXPECT_EQ(a, position);
  EXPECT_EQ(b + 1, fifo.Push(12));
  EXPECT_EQ(11u, fifo.Pop(&position));
  EXPECT_EQ(b, position);
  EXPECT_EQ(1u, fifo.size());
}

TEST(ExtentsTest, BestFitAndCoalescing) {
  Extents extents(100);
  uint64_t a, b, c, d;
  ASSERT_TRUE(extents.Allocate(10, &a));
  ASSERT_TRUE(extents.Allocate(20, &b));
  ASSERT_TRUE(extents.Allocate(10, &c));
  ASSERT_TRUE(extents.Allocate(60, &d));
  uint64_t none;
  EXPECT_FALSE(extents.Allocate(1, &none));
  extents.Free(b, 20);
  extents.Free(c, 10);
  uint64_t both;
  ASSERT_TRUE(extents.Allocate(30, &both));  // only if the neighbours were joined
  EXPECT_EQ(b, both);
  extents.Free(a, 10);
  extents.Free(d, 60);
  uint64_t small;
  ASSERT_TRUE(extents.Allocate(8, &small));
  EXPECT_EQ(a, small);  // the smaller of two that fit
}

TEST(ExtentsTest, ReserveTakesOnlyWhatIsFree) {
  Extents extents(100);
  EXPECT_TRUE(extents.Reserve(10, 20));
  EXPECT_FALSE(extents.Reserve(29, 1));
  EXPECT_FALSE(extents.Reserve(0, 11));
  EXPECT_FALSE(extents.Reserve(90, 11));
  EXPECT_FALSE(extents.Reserve(100, 1));
  EXPECT_FALSE(extents.Reserve(5, 0));
  EXPECT_FALSE(extents.Reserve(50, UINT64_MAX));
  EXPECT_TRUE(extents.Reserve(30, 70));
  EXPECT_TRUE(extents.Reserve(0, 10));
  uint64_t none;
  EXPECT_FALSE(extents.Allocate(1, &none));
}

TEST(ExtentsTest, NeverHandsOutAUnitTwice) {
  const uint32_t seed = 17;
  fprintf(stderr, "seed %u\n", seed);
  Random random(seed);
  constexpr uint64_t kUnits = 1000;
  Extents extents(kUnits);
  std::vector<bool> used(kUnits);
  std::vector<std::pair<uint64_t, uint64_t>> held;
  uint64_t in_use = 0;
  for (int i = 0; i < 100000; i++) {
    if (random.OneIn(2)) {
      const uint64_t units = 1 + random.Uniform(20);
      uint64_t start;
      if (extents.Allocate(units, &start)) {
        for (uint64_t u = start; u < start + units; u++) {
          ASSERT_FALSE(used[u]);
          used[u] = true;
        }
        held.emplace_back(start, units);
        in_use += units;
      }
    } else if (!held.empty()) {
      const size_t n = random.Uniform(static_cast<int>(held.size()));
      const auto [start, units] = held[n];
      held[n] = held.back();
      held.pop_back();
      for (uint64_t u = start; u < start + units; u++) {
        used[u] = false;
      }
      extents.Free(start, units);
      in_use -= units;
    }
  }
  for (const auto& [start, units] : held) {
    extents.Free(start, units);
  }
  uint64_t start;
  EXPECT_TRUE(extents.Allocate(kUnits, &start));  // all in one piece again
}

TEST(KnownSstsTest, AnSstIsKnownUntilItsLastPathIsGone) {
  KnownSsts ssts;
  ssts.Add("a", 1);
  ssts.Add("b", 1);
  ssts.Add("b", 1);
  ssts.Add("c", 2);
  EXPECT_EQ(0u, ssts.Remove("d"));
  EXPECT_EQ(1u, ssts.Remove("b"));
  EXPECT_EQ(0u, ssts.Remove("b"));
  EXPECT_TRUE(ssts.Has(1));
  ssts.Add("a", 2);  // of a database that was made anew
  EXPECT_FALSE(ssts.Has(1));
  EXPECT_EQ(2u, ssts.Remove("a"));
  EXPECT_TRUE(ssts.Has(2));
  EXPECT_EQ(2u, ssts.Remove("c"));
  EXPECT_FALSE(ssts.Has(2));
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
