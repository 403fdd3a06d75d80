// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/sketch.h"

#include <cmath>

#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

std::string Key(int i) { return "key" + std::to_string(i); }

// Keys [from, to), each with so many bytes in a blob file.
SketchPtr Make(int from, int to, uint64_t blob_bytes, bool deletion = false) {
  SketchBuilder builder;
  for (int i = from; i < to; i++) {
    builder.Add(Key(i), deletion ? 0 : blob_bytes, 20, deletion);
  }
  return DecodeSketch(builder.Finish());
}

double HiddenShare(const Sampled& sampled) {
  return static_cast<double>(sampled.hidden_blob_bytes) / static_cast<double>(sampled.blob_bytes);
}

TEST(SketchTest, RoundTrip) {
  SketchBuilder builder;
  for (int i = 0; i < 1000; i++) {
    builder.Add(Key(i), i, 3 * i, i % 2 == 0);
  }
  const auto sketch = DecodeSketch(builder.Finish());
  ASSERT_NE(nullptr, sketch);
  EXPECT_GT(sketch->entries.size(), 10u);
  EXPECT_LT(sketch->entries.size(), 70u);
  for (const Sketch::Entry& entry : sketch->entries) {
    EXPECT_LT(entry.hash, sketch->threshold);
    EXPECT_EQ(3 * entry.blob_bytes, entry.sst_bytes);
    EXPECT_EQ(entry.blob_bytes % 2 == 0, entry.deletion);
  }
}

TEST(SketchTest, WhatIsNoSketchIsNone) {
  EXPECT_EQ(nullptr, DecodeSketch(""));
  EXPECT_EQ(nullptr, DecodeSketch("no"));
  const std::string text = SketchBuilder().Finish();
  EXPECT_NE(nullptr, DecodeSketch(text));
  EXPECT_EQ(nullptr, DecodeSketch(text + "x"));
  EXPECT_EQ(nullptr, DecodeSketch(Slice(text.data(), text.size() - 1)));
}

TEST(SketchTest, ItIsSmallHoweverLargeTheSstIs) {
  const auto sketch = Make(0, 1000000, 100);
  EXPECT_GT(sketch->entries.size(), 200u);
  EXPECT_LE(sketch->entries.size(), 512u);
}

TEST(SketchTest, InsertsHideNothing) {
  const auto a = Make(0, 20000, 100);
  const auto b = Make(20000, 30000, 100);
  const Sampled sampled = Combine({b.get(), a.get()});
  EXPECT_EQ(sampled.entries, sampled.keys);
  EXPECT_EQ(0u, sampled.hidden_blob_bytes);
  EXPECT_EQ(0u, sampled.hidden_sst_bytes);
}

// Half of the lower ones are overwritten by values of another size, or deleted.
TEST(SketchTest, OverwritesAndDeletionsHideWhatIsBelow) {
  for (const bool deletion : {false, true}) {
    const auto lower = Make(0, 200000, 100);
    const auto upper = Make(0, 100000, 300, deletion);
    const Sampled sampled = Combine({upper.get(), lower.get()});
    const double hidden = deletion ? 0.5 : 10.0 / 50;
    EXPECT_NEAR(hidden, HiddenShare(sampled), 4 / std::sqrt(static_cast<double>(sampled.keys)));
    const double ssts = deletion ? 2.0 / 3 : 1.0 / 3;
    EXPECT_NEAR(
        ssts,
        static_cast<double>(sampled.hidden_sst_bytes) / static_cast<double>(sampled.sst_bytes),
        4 / std::sqrt(static_cast<double>(sampled.keys)));
  }
}

TEST(SketchTest, TheNewestEntryIsTheFirst) {
  const auto lower = Make(0, 100000, 100);
  const auto upper = Make(0, 100000, 1, /*deletion=*/true);
  EXPECT_EQ(1, HiddenShare(Combine({upper.get(), lower.get()})));
  // Written again.
  EXPECT_EQ(0, HiddenShare(Combine({lower.get(), upper.get()})));
}

// Small and large SSTs sample keys with different shares.
TEST(SketchTest, SketchesOfDifferentSizesAgree) {
  const auto lower = Make(0, 1000000, 100);
  std::vector<SketchPtr> upper;
  std::vector<const Sketch*> all;
  for (int i = 0; i < 100; i++) {
    upper.push_back(Make(i * 10000, i * 10000 + 2000, 100));
    all.push_back(upper.back().get());
  }
  all.push_back(lower.get());
  const Sampled sampled = Combine(all);
  EXPECT_GT(sampled.keys, 200u);
  EXPECT_NEAR(0.2 / 1.2, HiddenShare(sampled), 4 / std::sqrt(static_cast<double>(sampled.keys)));
}

size_t CountOf(const std::vector<SketchPtr>& sketches) {
  size_t count = 0;
  for (const SketchPtr& sketch : sketches) {
    count += sketch == nullptr ? 0 : sketch->entries.size();
  }
  return count;
}

Sampled CombineAll(const std::vector<SketchPtr>& sketches) {
  std::vector<const Sketch*> all;
  for (const SketchPtr& sketch : sketches) {
    if (sketch != nullptr) all.push_back(sketch.get());
  }
  return Combine(all);
}

void Thin(std::vector<SketchPtr>* sketches) {
  std::vector<SketchPtr*> all;
  for (SketchPtr& sketch : *sketches) {
    all.push_back(&sketch);
  }
  ThinTogether(all);
}

// Of 1000 SSTs, each fourth of which hides another one.
TEST(SketchTest, TogetherTheyAreSmallHoweverManyThereAre) {
  std::vector<SketchPtr> sketches{nullptr};
  for (int i = 0; i < 1000; i++) {
    const int from = i % 4 == 0 ? (i + 1) * 16000 : i * 16000;
    sketches.push_back(Make(from, from + 16000, 100));
  }
  const Sampled before = CombineAll(sketches);
  ASSERT_GT(CountOf(sketches), 300000u);
  Thin(&sketches);
  EXPECT_LE(CountOf(sketches), 65536u);
  EXPECT_GT(CountOf(sketches), 25000u);
  EXPECT_EQ(nullptr, sketches.front());
  const Sampled after = CombineAll(sketches);
  EXPECT_EQ(CountOf(sketches), after.entries);
  const double error = 4 / std::sqrt(static_cast<double>(after.keys));
  EXPECT_NEAR(0.25, HiddenShare(before), error);
  EXPECT_NEAR(0.25, HiddenShare(after), error);
}

// One SST that samples little does not take from the others what they have.
TEST(SketchTest, TheyAreNotThinnedToTheThinnestOne) {
  std::vector<SketchPtr> sketches{Make(0, 16000000, 100)};
  for (int i = 0; i < 1000; i++) {
    sketches.push_back(Make(i * 16000, (i + 1) * 16000, 100));
  }
  Thin(&sketches);
  EXPECT_LE(CountOf(sketches), 65536u);
  sketches.erase(sketches.begin());
  EXPECT_GT(CombineAll(sketches).keys, 25000u);
}

// As snapshots and merge operands make them.
TEST(SketchTest, ManyVersionsOfAKeyTakeNoRoomOfOthers) {
  SketchBuilder builder;
  for (int key = 0; key < 5000; key++) {
    for (int version = 0; version < 100; version++) {
      builder.Add(Key(key), 100, 20, version == 50);
    }
  }
  const SketchPtr sketch = DecodeSketch(builder.Finish());
  EXPECT_EQ(UINT64_MAX / 32, sketch->threshold);
  EXPECT_LT(sketch->entries.size(), 512u);
  const Sampled sampled = Combine({sketch.get()});
  EXPECT_NEAR(5000.0 / 32, static_cast<double>(sampled.keys), 60);
  EXPECT_EQ(sampled.keys * 100 * 99, sampled.hidden_blob_bytes);
  EXPECT_EQ(sampled.keys * 100 * 100, sampled.blob_bytes);
  EXPECT_EQ(sampled.keys * 20 * 99, sampled.hidden_sst_bytes);
}

TEST(SketchTest, FewStayAsTheyAre) {
  std::vector<SketchPtr> sketches{Make(0, 1000000, 100), Make(0, 1000, 100)};
  const std::vector<SketchPtr> before = sketches;
  Thin(&sketches);
  EXPECT_EQ(before, sketches);
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
