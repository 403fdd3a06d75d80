// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The index and the free space against simple models, and which SSTs are known.

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/chunked_array.h"
#include "plugin/secondary_cache_2q/dead_ssts.h"
#include "plugin/secondary_cache_2q/free_space.h"
#include "plugin/secondary_cache_2q/index.h"
#include "plugin/secondary_cache_2q/known_ssts.h"
#include "plugin/secondary_cache_2q/sst_numbers.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

TEST(ChunkedArrayTest, KeepsItsElementsAndClearsNewOnes) {
  ChunkedArray<uint32_t> array;
  for (uint32_t i = 0; i < 1000; i++) {  // in four chunks
    array.Resize(i + 1);
    EXPECT_EQ(0u, array[i]);
    array[i] = i + 1;
  }
  const size_t memory = array.MemoryUsage();
  array.Resize(300);
  EXPECT_LE(array.MemoryUsage(), memory / 2);
  array.Resize(1000);
  for (uint32_t i = 0; i < 1000; i++) {
    ASSERT_EQ(i < 300 ? i + 1 : 0, array[i]);
  }
  array.Resize(0);
  EXPECT_EQ(0u, array.MemoryUsage());
}

TEST(IndexTest, FindsWhatWasAdded) {
  Index index(2);
  EXPECT_EQ(kNoBlock, index.Find(0));
  index.Add(5, 0);
  index.Add(0, 77);
  EXPECT_EQ(5u, index.Find(0));
  EXPECT_EQ(0u, index.Find(77));
  EXPECT_TRUE(index.Has(5) && index.Has(0));
  EXPECT_FALSE(index.Has(3) || index.Has(6));
  EXPECT_EQ(6u, index.ids());
  EXPECT_EQ(77u, index.Tag(0));
  index.Set(0, Index::kUsed, true);
  EXPECT_TRUE(index.Is(0, Index::kUsed));
  EXPECT_FALSE(index.Is(0, Index::kPromoted) || index.Is(5, Index::kUsed));
  index.Move(5, 3);
  EXPECT_EQ(3u, index.Find(0));
  EXPECT_FALSE(index.Has(5));
  index.Remove(3);
  EXPECT_EQ(kNoBlock, index.Find(0));
  EXPECT_EQ(1u, index.size());
  index.Truncate(1);
  EXPECT_EQ(1u, index.ids());
  EXPECT_EQ(0u, index.Find(77));
}

// Few tags, so that chains are long, and flags that must not change.
TEST(IndexTest, AgreesWithAMapUnderCollisions) {
  const uint32_t seed = 301;
  fprintf(stderr, "seed %u\n", seed);
  Random random(seed);
  for (const size_t load : {1, 4}) {
    Index index(load);
    std::map<BlockId, std::pair<uint32_t, bool>> model;
    for (int i = 0; i < 200000; i++) {
      const BlockId id = random.Uniform(i % 20000 < 10000 ? 2000 : 50);
      if (model.count(id) == 0) {
        const uint32_t tag = random.Uniform(500) | (random.OneIn(2) ? 0 : 0xFFFF0000);
        const bool used = random.OneIn(2);
        index.Add(id, tag);
        index.Set(id, Index::kUsed, used);
        model[id] = {tag, used};
      } else if (random.OneIn(2)) {
        index.Remove(id);
        model.erase(id);
      } else {
        BlockId to = random.Uniform(2000);
        if (model.count(to) == 0 && to < index.ids()) {
          index.Move(id, to);
          model[to] = model[id];
          model.erase(id);
        }
      }
      ASSERT_EQ(model.size(), index.size());
      const BlockId probe = random.Uniform(2000);
      const auto it = model.find(probe);
      ASSERT_EQ(it != model.end(), index.Has(probe));
      if (it != model.end()) {
        ASSERT_EQ(it->second.first, index.Tag(probe));
        ASSERT_EQ(it->second.second, index.Is(probe, Index::kUsed));
        const BlockId found = index.Find(it->second.first);
        ASSERT_TRUE(found != kNoBlock && model[found].first == it->second.first);
      }
    }
    for (const auto& [id, unused] : model) {
      index.Remove(id);
    }
    EXPECT_EQ(0u, index.size());
    EXPECT_LT(index.MemoryUsage(), 24000u);  // the buckets are gone
  }
}

TEST(SstNumbersTest, CountsAndUsesNumbersAgain) {
  SstNumbers ssts;
  EXPECT_EQ(0u, ssts.AddBlock(0));
  EXPECT_EQ(0u, ssts.Find(7));
  EXPECT_EQ(1u, ssts.AddBlock(7));
  EXPECT_EQ(1u, ssts.AddBlock(7));
  EXPECT_EQ(2u, ssts.AddBlock(8));
  EXPECT_EQ(2u, ssts.Blocks(1));
  EXPECT_EQ(0u, ssts.Blocks(0));
  ssts.DropBlock(1);
  EXPECT_EQ(1u, ssts.Find(7));
  ssts.DropBlock(1);
  ssts.DropBlock(0);
  EXPECT_EQ(0u, ssts.Find(7));
  EXPECT_EQ(2u, ssts.Find(8));
  EXPECT_EQ(1u, ssts.AddBlock(9));
  EXPECT_EQ(1u, ssts.Find(9));
}

TEST(SstNumbersTest, AgreesWithAMap) {
  Random random(17);
  SstNumbers ssts;
  std::map<uint64_t, uint32_t> model;  // blocks
  for (int i = 0; i < 100000; i++) {
    const uint64_t file = (1 + random.Uniform(300)) * 0x100000001u;
    if (random.OneIn(2)) {
      ASSERT_NE(0u, ssts.AddBlock(file));
      model[file]++;
    } else if (model.count(file) > 0) {
      ssts.DropBlock(ssts.Find(file));
      if (--model[file] == 0) {
        model.erase(file);
      }
    }
    const uint64_t probe = (1 + random.Uniform(300)) * 0x100000001u;
    const auto it = model.find(probe);
    ASSERT_EQ(it == model.end() ? 0 : it->second, ssts.Blocks(ssts.Find(probe)));
  }
}

TEST(DeadSstsTest, RemembersTheLatest) {
  DeadSsts dead;
  EXPECT_FALSE(dead.Has(0));
  EXPECT_FALSE(dead.Has(1));
  const size_t memory = dead.MemoryUsage();
  dead.Add(0);
  EXPECT_EQ(memory, dead.MemoryUsage());
  for (uint64_t file = 1; file <= 100000; file++) {
    dead.Add(file);
    ASSERT_TRUE(dead.Has(file));
  }
  size_t held = 0;
  for (uint64_t file = 99001; file <= 100000; file++) {
    held += dead.Has(file) ? 1 : 0;
  }
  EXPECT_GE(held, 990u);
  EXPECT_FALSE(dead.Has(1));
  EXPECT_FALSE(dead.Has(0));
  EXPECT_LT(dead.MemoryUsage(), 40000u);
}

TEST(FreeSpaceTest, FirstFitAndCoalescing) {
  FreeSpace extents(100);
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
  EXPECT_EQ(a, small);  // the first of two that fit
}

TEST(FreeSpaceTest, ReserveTakesOnlyWhatIsFree) {
  FreeSpace extents(100);
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

TEST(FreeSpaceTest, NeverHandsOutAUnitTwice) {
  const uint32_t seed = 17;
  fprintf(stderr, "seed %u\n", seed);
  Random random(seed);
  constexpr uint64_t kUnits = 9000;  // two groups, and a part of one
  FreeSpace extents(kUnits);
  std::vector<bool> used(kUnits);
  std::vector<std::pair<uint64_t, uint64_t>> held;
  uint64_t in_use = 0;
  for (int i = 0; i < 100000; i++) {
    if (random.OneIn(2)) {
      const uint64_t units = random.OneIn(50) ? random.Uniform(5000) : 1 + random.Uniform(20);
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

// What it says is free is just what is.
TEST(FreeSpaceTest, FindsTheFirstRunThatFits) {
  Random random(23);
  constexpr uint64_t kUnits = 5 * 4096 + 100;
  FreeSpace extents(kUnits);
  std::vector<bool> used(kUnits);
  const auto first_fit = [&](uint64_t units) {
    uint64_t run = 0;
    for (uint64_t u = 0; u < kUnits; u++) {
      run = used[u] ? 0 : run + 1;
      if (run == units) {
        return u + 1 - units;
      }
    }
    return UINT64_MAX;
  };
  for (int i = 0; i < 3000; i++) {
    const uint64_t units = 1 + random.Uniform(random.OneIn(10) ? 9000 : 300);
    const uint64_t start = random.Uniform(static_cast<int>(kUnits - units));
    const bool all_free = std::none_of(used.begin() + static_cast<ptrdiff_t>(start),
                                       used.begin() + static_cast<ptrdiff_t>(start + units),
                                       [](bool u) { return u; });
    const bool all_used =
        std::all_of(used.begin() + static_cast<ptrdiff_t>(start),
                    used.begin() + static_cast<ptrdiff_t>(start + units), [](bool u) { return u; });
    if (all_used) {
      extents.Free(start, units);
    } else {
      ASSERT_EQ(all_free, extents.Reserve(start, units));
    }
    for (uint64_t u = start; (all_used || all_free) && u < start + units; u++) {
      used[u] = all_free;
    }
    const uint64_t wanted = 1 + random.Uniform(9000);
    const uint64_t expected = first_fit(wanted);
    uint64_t found;
    ASSERT_EQ(expected != UINT64_MAX, extents.Allocate(wanted, &found)) << i;
    if (expected != UINT64_MAX) {
      ASSERT_EQ(expected, found);
      extents.Free(found, wanted);
    }
  }
  EXPECT_LT(extents.MemoryUsage(), kUnits / 4);
}

TEST(FreeSpaceTest, TakesMemoryWhenItIsUsed) {
  FreeSpace extents(uint64_t{1} << 29);
  EXPECT_EQ(0u, extents.MemoryUsage());
  uint64_t start;
  for (int i = 0; i < 100; i++) {
    ASSERT_TRUE(extents.Allocate(9, &start));
  }
  EXPECT_LT(extents.MemoryUsage(), 2000u);
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
