// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/record.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "test/hot_promotion/ralt/model.h"
#include "test/hot_promotion/ralt/support.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

Parameters SomeParameters() {
  RaltOptions options;
  options.fast_bytes = 1000;
  return Parameters(options);
}

std::string Encoded(const Record& record) {
  std::string bytes;
  record.EncodeTo(&bytes);
  return bytes;
}

void ExpectSame(const Record& a, const Record& b) {
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.last, b.last);
  EXPECT_EQ(a.size, b.size);
  EXPECT_NEAR(a.score, b.score, 1e-5 * a.score);
  for (int before = 0; before <= 50; ++before) {
    EXPECT_EQ(a.counter.Apply(before), b.counter.Apply(before));
  }
  EXPECT_EQ(a.again, b.again);
}

// Merges neighbours in a random order until one is left.
Record MergeInAnyGrouping(const Scoring& scoring, std::vector<Record> records, Random* random) {
  while (records.size() > 1) {
    const size_t i = random->Uniform(static_cast<int>(records.size() - 1));
    records[i] = scoring.Merge(records[i], records[i + 1]);
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  return records[0];
}

}  // namespace

TEST(CounterTest, TwoInOneAreAsOneAfterTheOther) {
  constexpr int kMax = 50;
  std::vector<Counter> counters;
  for (const int step : {1, 26, 50}) {
    counters.push_back(Counter::Access(step, kMax));
  }
  for (const uint64_t decay : {uint64_t{0}, uint64_t{10}, uint64_t{40}, UINT64_MAX}) {
    counters.push_back(Counter::Decay(decay, kMax));
  }
  const size_t simple = counters.size();
  for (size_t i = 0; i < simple * simple; ++i) {
    counters.push_back(counters[i % simple].Then(counters[i / simple], kMax));
  }
  for (const Counter& a : counters) {
    for (const Counter& b : counters) {
      const Counter both = a.Then(b, kMax);
      for (int before = 0; before <= kMax; ++before) {
        ASSERT_EQ(b.Apply(a.Apply(before)), both.Apply(before));
      }
    }
  }
}

TEST(CounterTest, AccessStopsAtTheMaximumAndDecayAtZero) {
  const Counter access = Counter::Access(26, 50);
  EXPECT_EQ(26, access.Apply(0));
  EXPECT_EQ(50, access.Apply(30));
  EXPECT_EQ(16, Counter::Decay(10, 50).Apply(26));
  EXPECT_EQ(0, Counter::Decay(10, 50).Apply(6));
}

TEST(RecordTest, RoundTrip) {
  Record record;
  record.first = 1;
  record.last = uint64_t{1} << 60;
  record.size = 12345678901;
  record.score = 1.25;
  record.counter = Counter::Decay(20, 50).Then(Counter::Access(26, 50), 50);
  record.again = true;
  Record read;
  ASSERT_TRUE(Record::Decode(Encoded(record), &read));
  EXPECT_EQ(Encoded(record).size(), record.EncodedSize());
  ExpectSame(record, read);
}

TEST(RecordTest, GoldenBytes) {
  const Scoring scoring(0.5, 7, 26, 50);
  const Record record = scoring.Merge(scoring.Access(298, 209), scoring.Access(300, 210));
  // last 300, span 2, size 210, score 1.25, +50 in 26 to 50, accessed again
  EXPECT_EQ(std::string("\xac\x02\x02\xd2\x01\x00\x00\xa0\x3f\x32\x1a\x32\x01", 13),
            Encoded(record));
}

TEST(RecordTest, RefusesWhatIsNoRecord) {
  const Scoring scoring(0.999, 7, 26, 50);
  const std::string good = Encoded(scoring.Access(300, 1000));
  Record record;
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Record::Decode(Slice(good.data(), size), &record)) << size;
  }
  EXPECT_FALSE(Record::Decode(good + "x", &record));
  EXPECT_FALSE(Record::Decode(std::string("\x01\x02\x01\0\0\x80\x3f\x1a\0\x32\0", 11), &record))
      << "the first access is before tick 0";
  EXPECT_FALSE(Record::Decode(std::string("\x01\x01\x01\0\0\0\0\x1a\0\x32\0", 11), &record))
      << "no score";
  EXPECT_FALSE(Record::Decode(std::string("\x01\x01\x01\0\0\x80\x3f\x1a\x33\x32\0", 11), &record))
      << "the counter's floor is above its cap";
}

TEST(RecordTest, HistoriesMergeToTheSameInAnyGrouping) {
  Random random(Seed());
  const Parameters parameters = SomeParameters();
  const Scoring scoring = parameters.NewScoring();
  for (int round = 0; round < 300; ++round) {
    Model model(parameters);
    std::vector<Record> records;
    const uint32_t accesses = 1 + random.Uniform(30);
    for (uint32_t i = 0; i < accesses; ++i) {
      for (uint32_t n = random.Skewed(7); n > 0; --n) {
        model.Access("other", 50);
      }
      records.push_back(scoring.Access(model.tick(), 10));
      model.Access("key", 10);
    }
    const Record merged = MergeInAnyGrouping(scoring, records, &random);
    ExpectSame(merged, MergeInAnyGrouping(scoring, records, &random));
    const Model::Key& key = model.keys().at("key");
    const double fade = std::pow(parameters.alpha, static_cast<double>(model.tick() - merged.last));
    EXPECT_NEAR(model.Score(key), merged.score * fade, 1e-5 * merged.score);
    EXPECT_EQ(model.Stable(key), scoring.Stable(merged, model.tick()));
  }
}

TEST(RecordTest, RankOrdersByTheScoreAtAnyTick) {
  const Scoring scoring(0.999, 7, 26, 50);
  const Record early = scoring.Merge(scoring.Access(1, 1), scoring.Access(2, 1));
  const Record late = scoring.Access(900, 1);
  // 1.998 faded for 898 ticks is less than 1; 1.998 faded for 98 ticks is more.
  EXPECT_LT(scoring.Rank(early, 0), scoring.Rank(late, 0));
  EXPECT_GT(scoring.Rank(early, 0), scoring.Rank(scoring.Access(100, 1), 0));
}

TEST(RecordTest, RankTellsRecordsOfEqualScoreApart) {
  const Scoring scoring(0.999, 7, 26, 50);
  const Record record = scoring.Access(1, 1);
  EXPECT_NE(scoring.Rank(record, 1), scoring.Rank(record, UINT64_MAX));
  EXPECT_NEAR(scoring.Rank(record, 1), scoring.Rank(record, UINT64_MAX), 1e-6);
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
