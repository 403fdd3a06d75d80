// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/ralt/buffer.h"

#include <atomic>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "plugin/hot_promotion/ralt/batch.h"
#include "test/hot_promotion/ralt/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

namespace {

const Scoring& SomeScoring() {
  static const Scoring scoring(0.999, 7, 1, 120);
  return scoring;
}

constexpr uint64_t kTick = 1 << 30;

}  // namespace

TEST(BufferTest, GivesBackWhatWasAddedInTheOrderOfKeys) {
  Buffer buffer(4096, UINT64_MAX);
  ASSERT_TRUE(buffer.Add(2, "a", 10));
  ASSERT_TRUE(buffer.Add(1, "b", 20));
  ASSERT_TRUE(buffer.Add(1, "", 30));
  ASSERT_TRUE(buffer.Add(2, "a", 11));
  EXPECT_EQ(4u, buffer.added());
  Clock clock;
  const std::vector<Chunk> chunks = buffer.Collect();
  const Batch batch = MakeBatch(chunks.begin(), chunks.end(), SomeScoring(), kTick, &clock);
  EXPECT_EQ(4u, batch.accesses);
  EXPECT_EQ(4u, std::accumulate(chunks.begin(), chunks.end(), size_t{0},
                                [](size_t sum, const Chunk& c) { return sum + c.accesses; }));
  ASSERT_EQ(3u, batch.entries.size());
  EXPECT_EQ(Whole(1, ""), batch.entries[0].key);
  EXPECT_EQ(30u, batch.entries[0].record.size);
  EXPECT_FALSE(batch.entries[0].record.again);
  EXPECT_EQ(Whole(1, "b"), batch.entries[1].key);
  EXPECT_EQ(Whole(2, "a"), batch.entries[2].key);
  EXPECT_EQ(12u, batch.entries[2].record.size) << "of the later access";
  EXPECT_TRUE(batch.entries[2].record.again);
  EXPECT_EQ(11u + 21 + 30 + 12, clock.bytes);
  EXPECT_TRUE(buffer.Collect().empty());
}

TEST(BufferTest, TicksPassWithinABatch) {
  Buffer buffer(4096, UINT64_MAX);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(buffer.Add(1, "a", 99));
  }
  Clock clock = {7, 50};
  const std::vector<Chunk> chunks = buffer.Collect();
  const Batch batch = MakeBatch(chunks.begin(), chunks.end(), SomeScoring(), 200, &clock);
  ASSERT_EQ(1u, batch.entries.size());
  EXPECT_EQ(7u, batch.entries[0].record.first);
  EXPECT_EQ(9u, batch.entries[0].record.last);
  EXPECT_EQ(9u, clock.tick);
  EXPECT_EQ(150u, clock.bytes);
}

TEST(BufferTest, DropsWhatFindsNoRoom) {
  Buffer buffer(4096, UINT64_MAX);
  uint64_t added = 0;
  while (buffer.Add(1, "key", 10)) {
    ++added;
  }
  EXPECT_GT(added, 200u) << "4096 bytes of 13";
  EXPECT_EQ(added, buffer.added());
  EXPECT_EQ(1u, buffer.dropped());
  EXPECT_TRUE(buffer.Pressing());
  buffer.Return(buffer.Collect());
  EXPECT_FALSE(buffer.Pressing());
  EXPECT_TRUE(buffer.Add(1, "key", 10));
  EXPECT_EQ(added + 1, buffer.added());
}

TEST(BufferTest, DropsAKeyThatIsTooLongForAChunk) {
  Buffer buffer(4096, UINT64_MAX);
  EXPECT_FALSE(buffer.Add(1, std::string(2000, 'k'), 10));
  EXPECT_EQ(1u, buffer.dropped());
  EXPECT_TRUE(buffer.Add(1, std::string(900, 'k'), 10));
}

TEST(BufferTest, DropsARecordThatIsTooLarge) {
  Buffer buffer(4096, 100);
  EXPECT_FALSE(buffer.Add(1, "a", 100));
  EXPECT_EQ(1u, buffer.dropped());
  EXPECT_TRUE(buffer.Add(1, "a", 99));
}

TEST(BufferTest, WakesWhoWaits) {
  Buffer buffer(4096, UINT64_MAX);
  std::atomic<bool> awake{false};
  std::thread waiter([&] {
    buffer.Wait(uint64_t{3600} * 1000000);
    awake = true;
  });
  buffer.Wake();
  waiter.join();
  EXPECT_TRUE(awake);
  EXPECT_TRUE(buffer.Pressing()) << "until it is acknowledged";
  buffer.Acknowledge();
  EXPECT_FALSE(buffer.Pressing());
  buffer.Wait(1);  // ends by itself
}

TEST(BufferTest, NoAccessOfManyThreadsIsLost) {
  constexpr int kThreads = 8;
  constexpr int kAccesses = 20000;
  Buffer buffer(256 << 10, UINT64_MAX);
  std::map<std::string, uint64_t> found;
  Clock clock;
  const auto drain = [&] {
    std::vector<Chunk> chunks = buffer.Collect();
    const Batch batch = MakeBatch(chunks.begin(), chunks.end(), SomeScoring(), kTick, &clock);
    for (const Batch::Entry& entry : batch.entries) {
      // The counter counts in tenths of 0.1 up to 120 of them.
      found[entry.key.ToString()] += static_cast<uint64_t>(entry.record.counter.Value());
    }
    buffer.Return(std::move(chunks));
  };
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kAccesses; ++i) {
        // Each key once in a while, so that no counter is full.
        const std::string name = Name(static_cast<uint64_t>(i % 5000));
        while (!buffer.Add(static_cast<Space>(t), name, 100 - name.size())) {
          std::this_thread::yield();
        }
      }
      --running;
    });
  }
  while (running > 0) {
    drain();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  drain();
  EXPECT_EQ(uint64_t{kThreads} * kAccesses, buffer.added());
  EXPECT_EQ(uint64_t{kThreads} * kAccesses * 100, clock.tick * kTick + clock.bytes);
  ASSERT_EQ(uint64_t{kThreads} * 5000, found.size());
  for (const auto& [key, count] : found) {
    ASSERT_EQ(4u, count) << Slice(key).ToString(true);
  }
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
