// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/secondary_cache_2q/references.h"

#include <string>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/coding.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

TEST(ReferencesTest, UpTo16RollOverInOrder) {
  References references;
  references.Push(1, false);  // there is no room yet
  EXPECT_EQ(0u, references.size());
  references.SetCapacity(10, /*now=*/false);
  for (uint32_t i = 1; i <= 12; i++) {
    references.Push(i << 8, i % 2 == 0);
  }
  EXPECT_EQ(10u, references.size());
  bool victim;
  uint64_t age;
  EXPECT_FALSE(references.Has(2 << 8));
  ASSERT_TRUE(references.Find(3 << 8, &victim, &age));
  EXPECT_FALSE(victim);
  EXPECT_EQ(9u, age);
  ASSERT_TRUE(references.Find(12 << 8, &victim, &age));
  EXPECT_TRUE(victim);
  EXPECT_EQ(0u, age);
  references.Erase(5 << 8);  // leaves a place that takes room
  EXPECT_FALSE(references.Has(5 << 8));
  references.Push(13 << 8, false);
  EXPECT_FALSE(references.Has(3 << 8));
  EXPECT_EQ(9u, references.size());
  references.Push(4 << 8, false);  // not there twice, and the newest one now
  EXPECT_EQ(9u, references.size());
  references.SetCapacity(1, /*now=*/false);
  EXPECT_TRUE(references.Has(4 << 8));
  EXPECT_EQ(1u, references.size());
  references.SetCapacity(0, /*now=*/false);
  EXPECT_EQ(0u, references.size());
}

// The tags 0 and 1 are good tags.
TEST(ReferencesTest, AnyTagIsFound) {
  References references;
  references.SetCapacity(100, /*now=*/false);
  for (const uint32_t tag : {0u, 4u, UINT32_MAX, UINT32_MAX - 2, 1u << 31}) {
    EXPECT_FALSE(references.Has(tag)) << tag;
    references.Push(tag, true);
    EXPECT_TRUE(references.Has(tag)) << tag;
    references.Erase(tag);
    EXPECT_FALSE(references.Has(tag)) << tag;
  }
}

// A large table is many short FIFOs: what is pushed stays about as long as in one.
TEST(ReferencesTest, ManyRollOverInAboutTheirOrder) {
  constexpr size_t kCapacity = 4000;
  References references;
  references.SetCapacity(kCapacity, /*now=*/false);
  Random random(301);
  std::vector<uint32_t> pushed;
  for (size_t i = 0; i < 20000; i++) {
    pushed.push_back(random.Next() << 1);
    references.Push(pushed.back(), false);
  }
  const auto held = [&](size_t age) {
    size_t n = 0;
    for (size_t i = 0; i < 1000; i++) {
      n += references.Has(pushed[pushed.size() - 1 - age - i]) ? 1 : 0;
    }
    return n;
  };
  EXPECT_GE(held(0), 995u);
  EXPECT_GE(held(1000), 970u);
  EXPECT_LE(held(6000), 120u);
  EXPECT_LE(held(9000), 10u);
  EXPECT_GT(references.size(), kCapacity * 95 / 100);
  EXPECT_LT(references.MemoryUsage(), kCapacity * 5);
  // Those that remain in a smaller one are the newest, and a larger one loses none.
  references.SetCapacity(kCapacity / 2, /*now=*/true);
  EXPECT_LE(references.size(), kCapacity / 2);
  EXPECT_GE(held(0), 970u);
  const size_t size = references.size();
  references.SetCapacity(kCapacity * 4, /*now=*/true);
  EXPECT_EQ(size, references.size());
  EXPECT_GE(held(0), 970u);
}

TEST(ReferencesTest, AreSavedAndRestored) {
  References references;
  references.SetCapacity(1000, /*now=*/false);
  for (uint32_t i = 0; i < 2000; i++) {
    references.Push(i * 0x9E3779B9u, i % 3 == 0);
  }
  std::string saved;
  references.Save(1000, &saved);
  References again;
  Slice rest(saved);
  ASSERT_TRUE(again.Restore(1000, &rest));
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(references.size(), again.size());
  for (uint32_t i = 0; i < 2000; i++) {
    bool victim = false;
    uint64_t age = 0;
    bool victim_again = false;
    uint64_t age_again = 0;
    const bool has = references.Find(i * 0x9E3779B9u, &victim, &age);
    ASSERT_EQ(has, again.Find(i * 0x9E3779B9u, &victim_again, &age_again));
    ASSERT_EQ(victim, victim_again);
    ASSERT_EQ(age, age_again);
  }
  // With less room the newest.
  saved.clear();
  references.Save(200, &saved);
  EXPECT_LE(saved.size(), 8 + 200 * References::kBytes);
  rest = saved;
  ASSERT_TRUE(again.Restore(200, &rest));
  EXPECT_GT(again.size(), 150u);
  size_t held = 0;
  for (uint32_t i = 1900; i < 2000; i++) {
    held += again.Has(i * 0x9E3779B9u) ? 1 : 0;
  }
  EXPECT_GT(held, 80u);
}

TEST(ReferencesTest, WhatIsDamagedIsNotRestored) {
  References references;
  references.SetCapacity(100, /*now=*/false);
  for (uint32_t i = 0; i < 200; i++) {
    references.Push(i * 0x9E3779B9u, false);
  }
  std::string saved;
  references.Save(100, &saved);
  const size_t size = references.size();
  for (size_t n = 0; n < saved.size(); n++) {
    Slice cut(saved.data(), n);
    ASSERT_FALSE(references.Restore(100, &cut)) << n;
  }
  for (const auto& [lines, depth] : std::vector<std::pair<uint32_t, uint32_t>>{
           {7, 17}, {0, 1}, {1, 0}, {8, 14}, {1u << 31, 2}, {UINT32_MAX, 16}}) {
    std::string forged = saved;
    EncodeFixed32(forged.data(), lines);
    EncodeFixed32(forged.data() + 4, depth);
    Slice from(forged);
    EXPECT_FALSE(references.Restore(100, &from)) << lines << " " << depth;
  }
  EXPECT_EQ(size, references.size());
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
