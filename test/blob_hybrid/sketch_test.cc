// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/sketch.h"

#include <cmath>

#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

std::string Key(int i) { return "key" + std::to_string(i); }

// Keys [from, to), each with so many bytes in a blob file.
std::shared_ptr<const Sketch> Make(int from, int to, uint64_t blob_bytes, bool deletion = false) {
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
  std::vector<std::shared_ptr<const Sketch>> upper;
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

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
