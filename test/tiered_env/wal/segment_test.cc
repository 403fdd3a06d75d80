// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/tiered_env/wal/segment.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "plugin/tiered_env/wal/archive_format.h"
#include "plugin/tiered_env/wal/segments.h"
#include "plugin/tiered_env/wal/size_code.h"
#include "rocksdb/file_system.h"
#include "test/support/seed.h"
#include "test/tiered_env/support/entries.h"
#include "test_util/sync_point.h"

namespace ROCKSDB_NAMESPACE {
namespace tiered_env {
namespace {

Kept Make(Ordinal ordinal, SequenceNumber sequence, SequenceNumber batch, const std::string& key) {
  Kept kept;
  kept.ordinal = ordinal;
  kept.sequence = sequence;
  kept.batch = batch;
  kept.key = key;
  kept.value = "value";
  return kept;
}

std::unique_ptr<Segment> Build(const std::vector<Kept>& entries, uint64_t id = 7) {
  auto segment = std::make_unique<Segment>(id);
  for (const Kept& kept : entries) {
    segment->Add(kept.ordinal, kept.AsEntry());
  }
  return segment;
}

std::vector<bool> BitsOf(const std::vector<Kept>& entries) {
  std::vector<bool> result;
  for (const Kept& kept : entries) {
    result.resize(kept.ordinal + 1);
    result[kept.ordinal] = true;
  }
  return result;
}

// Batches as they are in logs: numbered by entry or by batch, some numbers used again, and with
// `holes` without some of their entries.
std::vector<Kept> RandomEntries(std::mt19937_64* random, size_t batches, bool holes) {
  std::vector<Kept> result;
  SequenceNumber next = 1000;
  Ordinal ordinal = 0;
  for (size_t i = 0; i < batches; i++) {
    const size_t entries = 1 + (*random)() % 8;
    const SequenceNumber batch = next;
    const bool drop_most = (*random)() % 4 == 0;
    for (size_t j = 0; j < entries; j++, ordinal++) {
      if (!holes || (*random)() % (drop_most ? 8 : 2) == 0) {
        result.push_back(Make(ordinal, batch + j, batch, "k" + std::to_string((*random)() % 50)));
      }
    }
    switch ((*random)() % 8) {
      case 0:
        next += 1;
        break;
      case 1:
        next += 2;
        break;
      case 2:
        next -= std::min<SequenceNumber>(next, (*random)() % 20);
        break;
      case 3:
        next += 100;
        break;
      default:
        next += entries;
    }
  }
  return result;
}

bool IsThere(const std::vector<Kept>& entries, SequenceNumber sequence, uint64_t fingerprint) {
  return std::any_of(entries.begin(), entries.end(), [&](const Kept& kept) {
    return (kept.sequence == sequence || kept.batch == sequence) &&
           kept.fingerprint() == fingerprint;
  });
}

// Takes, and checks what it gets.
bool Takes(Segment* segment, const std::vector<Kept>& entries, SequenceNumber sequence,
           uint64_t fingerprint, Ordinal* ordinal = nullptr) {
  Reference reference;
  if (!segment->Take(sequence, fingerprint, &reference)) {
    return false;
  }
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Kept& kept) {
    return kept.ordinal == reference.ordinal;
  });
  if (found == entries.end()) {
    ADD_FAILURE() << "no entry " << reference.ordinal;
    return true;
  }
  EXPECT_EQ(reference.segment, segment->id());
  EXPECT_EQ(found->fingerprint(), fingerprint);
  EXPECT_EQ(reference.of_batch ? found->batch : found->sequence, sequence);
  if (ordinal != nullptr) {
    *ordinal = reference.ordinal;
  }
  return true;
}

TEST(EntryTest, NoTwoEntriesSplitAlike) {
  std::set<uint64_t> all;
  size_t count = 0;
  for (const ValueType type : {kTypeValue, kTypeMerge, kTypeDeletion, kTypeWideColumnEntity}) {
    for (const char* text : {"", "a", "ab", "abc", "aaaa"}) {
      const Slice whole(text);
      for (size_t i = 0; i <= whole.size(); i++, count++) {
        all.insert(
            FingerprintOf(type, Slice(whole.data(), i), Slice(whole.data() + i, whole.size() - i)));
      }
    }
  }
  EXPECT_EQ(all.size(), count);
}

TEST(SegmentTest, AnEmptyOneHasNothing) {
  Segment segment(3);
  Reference reference;
  EXPECT_EQ(segment.id(), 3u);
  EXPECT_FALSE(segment.Take(0, 0, &reference));
  EXPECT_FALSE(segment.Take(0));
  EXPECT_EQ(segment.entries(), 0u);
  EXPECT_EQ(segment.live(), 0u);
  EXPECT_GT(segment.smallest(), segment.largest());
  EXPECT_TRUE(segment.Bitmap().empty());
  EXPECT_TRUE(segment.Trim({}));
  EXPECT_TRUE(segment.Trim({true}));
}

TEST(SegmentTest, AnEntryIsFoundByItsOwnNumberOrItsBatchs) {
  const std::vector<Kept> entries = {
      Make(0, 10, 10, "a"), Make(1, 11, 10, "b"), Make(2, 12, 10, "c"),  // a batch
      Make(3, 13, 13, "d"),                                              // one that follows it
      Make(4, 20, 20, "e"), Make(5, 21, 20, "f"),                        // one that does not
      Make(6, 21, 21, "g"), Make(7, 22, 21, "h"),                        // numbered by batch
  };
  const auto segment = Build(entries);
  for (const Kept& kept : entries) {
    for (SequenceNumber number = 5; number < 30; number++) {
      EXPECT_EQ(Takes(segment.get(), entries, number, kept.fingerprint()),
                number == kept.sequence || number == kept.batch)
          << kept << " by " << number;
    }
  }
  EXPECT_FALSE(Takes(segment.get(), entries, 10, entries[0].fingerprint() + 1));
  EXPECT_EQ(segment->smallest(), 10u);
  EXPECT_EQ(segment->largest(), 22u);
  EXPECT_EQ(segment->entries(), 8u);
}

TEST(SegmentTest, ABatchIsFoundThoughItsFirstEntryIsNotKept) {
  const std::vector<Kept> entries = {Make(5, 105, 101, "a"), Make(7, 107, 101, "b"),
                                     Make(9, 109, 108, "c")};
  const auto segment = Build(entries);
  EXPECT_TRUE(Takes(segment.get(), entries, 101, entries[0].fingerprint()));
  EXPECT_TRUE(Takes(segment.get(), entries, 101, entries[1].fingerprint()));
  EXPECT_FALSE(Takes(segment.get(), entries, 101, entries[2].fingerprint()));
  EXPECT_TRUE(Takes(segment.get(), entries, 108, entries[2].fingerprint()));
  EXPECT_EQ(segment->smallest(), 101u);
  EXPECT_EQ(segment->largest(), 109u);
}

TEST(SegmentTest, WhatIsThereIsFoundAndNothingElse) {
  std::mt19937_64 random(rocktier::Seed());
  for (int round = 0; round < 40; round++) {
    const std::vector<Kept> entries = RandomEntries(&random, 1 + random() % 100, round % 2 == 1);
    if (entries.empty()) {
      continue;
    }
    const auto segment = Build(entries);
    for (const Kept& kept : entries) {
      EXPECT_TRUE(Takes(segment.get(), entries, kept.sequence, kept.fingerprint())) << kept;
      EXPECT_TRUE(Takes(segment.get(), entries, kept.batch, kept.fingerprint())) << kept;
    }
    size_t found = 0;
    for (int i = 0; i < 2000; i++) {
      const SequenceNumber number = entries[random() % entries.size()].sequence + random() % 8 - 4;
      const uint64_t fingerprint = entries[random() % entries.size()].fingerprint();
      const bool there = IsThere(entries, number, fingerprint);
      EXPECT_EQ(Takes(segment.get(), entries, number, fingerprint), there) << number;
      found += there ? 1 : 0;
    }
    EXPECT_GT(found, 0u);
  }
}

TEST(SegmentTest, NumbersThatGoBackAreFound) {
  std::vector<Kept> entries;
  // Ever again the same numbers, a little lower; each time other keys.
  for (Ordinal i = 0; i < 50; i++) {
    for (Ordinal j = 0; j < 100; j++) {
      entries.push_back(
          Make(i * 100 + j, 10000 - i * 10 + j, 10000 - i * 10 + j, std::to_string(i * 100 + j)));
    }
  }
  const auto segment = Build(entries);
  for (const Kept& kept : entries) {
    ASSERT_TRUE(Takes(segment.get(), entries, kept.sequence, kept.fingerprint())) << kept;
  }
  EXPECT_EQ(segment->live(), entries.size());
}

TEST(SegmentTest, LargeBatchesThatHaveOneNumberAreFound) {
  std::vector<Kept> entries;
  for (Ordinal i = 0; i < 20; i++) {
    for (Ordinal j = 0; j < 1000; j++) {
      entries.push_back(
          Make(i * 1000 + j, 500 + i * 2 + j, 500 + i * 2, std::to_string(i * 1000 + j)));
    }
  }
  const auto segment = Build(entries);
  for (size_t i = 0; i < entries.size(); i += 37) {
    ASSERT_TRUE(Takes(segment.get(), entries, entries[i].batch, entries[i].fingerprint()));
  }
}

// As WritePrepared's are, in the SST: not once for each of its entries.
TEST(SegmentTest, ALargeBatchIsLookedThroughOnce) {
  constexpr Ordinal kEntries = 300000;
  constexpr SequenceNumber kBatch = 1000;
  std::vector<Kept> entries;
  for (Ordinal i = 0; i < kEntries; i++) {
    entries.push_back(Make(i, kBatch + i, kBatch, "key" + std::to_string(i * uint64_t{7919})));
  }
  std::atomic<uint64_t> steps{0};
  SyncPoint::GetInstance()->SetCallBack("Segment::Index::ForEachOf:Next",
                                        [&](void* /*arg*/) { steps++; });
  SyncPoint::GetInstance()->EnableProcessing();
  WalSegments logs(FileSystem::Default().get());
  logs.Restore(Build(entries), LoggedSegment(), "/none/TIERS-7.log");
  {
    WalSegments::Source source(&logs);
    for (const Kept& kept : entries) {
      Entry entry = kept.AsEntry();
      entry.sequence = kBatch;
      Reference reference;
      ASSERT_TRUE(source.Take(entry, &reference)) << kept;
      ASSERT_EQ(reference.ordinal, kept.ordinal);
      ASSERT_EQ(reference.of_batch, kept.ordinal != 0);
      ASSERT_LE(steps, 2 * kEntries) << kept;
    }
    Entry other = Make(0, kBatch, kBatch, "another key").AsEntry();
    Reference reference;
    EXPECT_FALSE(source.Take(other, &reference));
  }
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  EXPECT_EQ(logs.GetSizes().live_entries, kEntries);
}

TEST(SegmentTest, CountsGoUpAndDown) {
  const std::vector<Kept> entries = {Make(0, 1, 1, "a"), Make(1, 2, 2, "b")};
  const auto segment = Build(entries);
  EXPECT_TRUE(segment->Take(0));
  EXPECT_TRUE(Takes(segment.get(), entries, 1, entries[0].fingerprint()));
  EXPECT_FALSE(segment->Take(2));
  EXPECT_EQ(segment->live(), 1u);
  EXPECT_EQ(segment->Bitmap(), (std::vector<bool>{true, false}));
  segment->Release(0);
  EXPECT_EQ(segment->live(), 1u);
  segment->Release(0);
  EXPECT_EQ(segment->live(), 0u);
  EXPECT_EQ(segment->Bitmap(), (std::vector<bool>{false, false}));
}

TEST(SegmentTest, ACountSticksAt255) {
  const auto segment = Build({Make(0, 1, 1, "a"), Make(1, 2, 2, "b")});
  for (int i = 0; i < 254; i++) {
    ASSERT_TRUE(segment->Take(0));
    ASSERT_TRUE(segment->Take(1));
  }
  ASSERT_TRUE(segment->Take(1));
  for (int i = 0; i < 254; i++) {
    segment->Release(0);
    segment->Release(1);
  }
  EXPECT_EQ(segment->live(), 1u);
  for (int i = 0; i < 300; i++) {
    ASSERT_TRUE(segment->Take(1));
  }
  for (int i = 0; i < 700; i++) {
    segment->Release(1);
  }
  EXPECT_EQ(segment->Bitmap(), (std::vector<bool>{false, true}));
}

TEST(SegmentTest, ThreadsTakeAndRelease) {
  std::mt19937_64 random(rocktier::Seed());
  std::vector<Kept> entries = RandomEntries(&random, 500, /*holes=*/true);
  const auto segment = Build(entries);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, seed = random()] {
      std::mt19937_64 own(seed);
      std::vector<Ordinal> taken;
      for (int i = 0; i < 20000; i++) {
        if (taken.size() < 50 && own() % 2 == 0) {
          const Kept& kept = entries[own() % entries.size()];
          Reference reference;
          ASSERT_TRUE(segment->Take(kept.sequence, kept.fingerprint(), &reference));
          taken.push_back(reference.ordinal);
        } else if (!taken.empty()) {
          segment->Release(taken.back());
          taken.pop_back();
        }
        ASSERT_LE(segment->live(), segment->entries());
      }
      for (const Ordinal ordinal : taken) {
        segment->Release(ordinal);
      }
    });
  }
  // Always the same few, so that the threads meet.
  for (int i = 0; i < 20000; i++) {
    ASSERT_TRUE(segment->Take(entries[i % 3].ordinal));
    segment->Release(entries[i % 3].ordinal);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(segment->live(), 0u);
  const std::vector<bool> bitmap = segment->Bitmap();
  EXPECT_EQ(std::count(bitmap.begin(), bitmap.end(), true), 0);
}

TEST(SegmentTest, TrimForgetsWhatIsNotKept) {
  std::mt19937_64 random(rocktier::Seed());
  for (int round = 0; round < 20; round++) {
    std::vector<Kept> entries = RandomEntries(&random, 2 + random() % 400, round % 2 == 1);
    const auto segment = Build(entries);
    // What is taken at least once is kept; trimmed several times over.
    for (int trims = 0; trims < 3 && !entries.empty(); trims++) {
      std::vector<Kept> left;
      std::vector<Kept> live;
      for (const Kept& kept : entries) {
        if (random() % 3 == 0) {
          ASSERT_TRUE(segment->Take(kept.ordinal));
          live.push_back(kept);
        } else if (random() % 3 != 0) {
          continue;
        }
        left.push_back(kept);
      }
      ASSERT_TRUE(segment->Trim(BitsOf(left)));
      EXPECT_EQ(segment->entries(), left.size());
      EXPECT_EQ(segment->live(), live.size());
      const auto rebuilt = Build(left);
      EXPECT_EQ(segment->digest(), rebuilt->digest());
      EXPECT_EQ(segment->smallest(), rebuilt->smallest());
      EXPECT_EQ(segment->largest(), rebuilt->largest());
      std::vector<bool> bitmap = BitsOf(live);
      bitmap.resize(left.empty() ? 0 : left.back().ordinal + 1);
      EXPECT_EQ(segment->Bitmap(), bitmap);
      for (const Kept& kept : live) {
        segment->Release(kept.ordinal);
      }
      EXPECT_EQ(segment->live(), 0u);
      for (const Kept& kept : entries) {
        const bool there = IsThere(left, kept.sequence, kept.fingerprint());
        Ordinal ordinal;
        EXPECT_EQ(Takes(segment.get(), left, kept.sequence, kept.fingerprint(), &ordinal), there);
        if (there) {
          segment->Release(ordinal);
        }
      }
      entries = left;
    }
  }
}

TEST(SegmentTest, TrimDoesNothingIfWhatIsNotKeptIsLive) {
  std::mt19937_64 random(rocktier::Seed());
  const std::vector<Kept> entries = RandomEntries(&random, 300, /*holes=*/false);
  const auto segment = Build(entries);
  const uint64_t digest = segment->digest();
  for (int round = 0; round < 50; round++) {
    const Ordinal taken = entries[random() % entries.size()].ordinal;
    std::vector<bool> kept(round % 5 == 0 ? taken : entries.size(), true);  // or too short
    for (size_t i = 0; i < kept.size(); i++) {
      kept[i] = i != taken && random() % 2 == 0;
    }
    ASSERT_TRUE(segment->Take(taken));
    EXPECT_FALSE(segment->Trim(kept));
    EXPECT_EQ(segment->entries(), entries.size());
    EXPECT_EQ(segment->live(), 1u);
    EXPECT_EQ(segment->digest(), digest);
    segment->Release(taken);
  }
  EXPECT_TRUE(segment->Trim({}));
  EXPECT_EQ(segment->entries(), 0u);
  EXPECT_FALSE(segment->Take(entries[0].ordinal));
}

TEST(SizeTest, IsAtMostASixteenthOff) {
  std::mt19937_64 random(rocktier::Seed());
  for (uint64_t size = 0; size < 100000; size++) {
    EXPECT_LE(DecodeSize(EncodeSize(size)), size + size / 16);
    EXPECT_GE(DecodeSize(EncodeSize(size)) + size / 16, size);
  }
  for (int i = 0; i < 100000; i++) {
    const uint64_t size = random() % (uint64_t{15} << 30) >> random() % 20;
    EXPECT_LE(DecodeSize(EncodeSize(size)), size + size / 16);
    EXPECT_GE(DecodeSize(EncodeSize(size)) + size / 16, size);
  }
  for (int code = 0; code <= UINT8_MAX; code++) {
    EXPECT_EQ(EncodeSize(DecodeSize(static_cast<SizeCode>(code))), code);
  }
  EXPECT_EQ(EncodeSize(UINT64_MAX), UINT8_MAX);
}

// Entries of 10 bytes to 640 KB.
std::vector<Kept> EntriesOfAllSizes(std::mt19937_64* random, size_t count) {
  std::vector<Kept> result;
  for (size_t i = 0; i < count; i++) {
    const auto number = static_cast<Ordinal>(i);
    result.push_back(Make(number, 100 + i, 100 + i - i % 5, std::to_string(i)));
    result.back().value.assign(size_t{10} << (*random)() % (i % 50 == 0 ? 17 : 8), 'v');
  }
  return result;
}

// What these take in a block.
uint64_t PackedBytes(const std::vector<Kept>& entries, const std::vector<bool>& which) {
  ArchiveBlockBuilder builder;
  for (size_t i = 0; i < entries.size(); i++) {
    if (which[i]) {
      builder.Add(entries[i].ordinal, entries[i].AsEntry());
    }
  }
  return builder.bytes().size();
}

TEST(SegmentTest, BytesAreThoseOfARewrittenLog) {
  std::mt19937_64 random(rocktier::Seed());
  const std::vector<Kept> entries = EntriesOfAllSizes(&random, 500);
  const auto segment = Build(entries);
  const auto all = static_cast<double>(PackedBytes(entries, std::vector<bool>(500, true)));
  EXPECT_NEAR(static_cast<double>(segment->bytes()), all, all / 16 + 16);
  EXPECT_EQ(segment->live_bytes(), 0u);
  std::vector<int> references(entries.size());
  for (int round = 0; round < 20000; round++) {
    const size_t i = random() % entries.size();
    if (random() % 2 == 0) {
      ASSERT_TRUE(segment->Take(entries[i].ordinal));
      references[i]++;
    } else if (references[i] > 0) {
      segment->Release(entries[i].ordinal);
      references[i]--;
    }
    if (round % 1000 == 0) {
      std::vector<bool> live(entries.size());
      std::transform(references.begin(), references.end(), live.begin(),
                     [](int count) { return count > 0; });
      const auto bytes = static_cast<double>(PackedBytes(entries, live));
      // A step over what is not live takes a byte more, at most.
      EXPECT_NEAR(static_cast<double>(segment->live_bytes()), bytes,
                  bytes / 16 + 16 + 2.0 * static_cast<double>(segment->live()));
    }
  }
  // What is left is as it was.
  const uint64_t live_bytes = segment->live_bytes();
  const uint64_t live = segment->live();
  ASSERT_TRUE(segment->Trim(segment->Bitmap()));
  EXPECT_EQ(segment->entries(), live);
  EXPECT_EQ(segment->live_bytes(), live_bytes);
  EXPECT_EQ(segment->bytes(), live_bytes);
  for (size_t i = 0; i < entries.size(); i++) {
    for (; references[i] > 0; references[i]--) {
      segment->Release(entries[i].ordinal);
    }
  }
  EXPECT_EQ(segment->live(), 0u);
  EXPECT_EQ(segment->live_bytes(), 0u);
  EXPECT_EQ(segment->bytes(), live_bytes);
  ASSERT_TRUE(segment->Trim({}));
  EXPECT_EQ(segment->bytes(), 0u);
}

// So do its bytes, and no sum falls below 0.
TEST(SegmentTest, ACountThatIsStuckStaysLive) {
  std::mt19937_64 random(rocktier::Seed());
  const std::vector<Kept> entries = EntriesOfAllSizes(&random, 3);
  const auto segment = Build(entries);
  for (int i = 0; i < 300; i++) {
    ASSERT_TRUE(segment->Take(0));
  }
  ASSERT_TRUE(segment->Take(1));
  const uint64_t both = segment->live_bytes();
  segment->Release(1);
  const uint64_t stuck = segment->live_bytes();
  EXPECT_LT(stuck, both);
  EXPECT_GT(stuck, 0u);
  for (int i = 0; i < 300; i++) {
    segment->Release(0);
  }
  EXPECT_EQ(segment->live(), 1u);
  EXPECT_EQ(segment->live_bytes(), stuck);
  EXPECT_FALSE(segment->Trim({false, true, true}));
  EXPECT_EQ(segment->live_bytes(), stuck);
  ASSERT_TRUE(segment->Trim({true, false, false}));
  EXPECT_EQ(segment->live_bytes(), stuck);
  EXPECT_EQ(segment->bytes(), stuck);
  segment->Release(0);
  EXPECT_EQ(segment->live_bytes(), stuck);
}

TEST(SegmentTest, BytesAreRightAfterManyThreads) {
  std::mt19937_64 random(rocktier::Seed());
  const std::vector<Kept> entries = EntriesOfAllSizes(&random, 20);
  const auto segment = Build(entries);
  std::vector<std::thread> threads;
  std::atomic<bool> beyond{false};
  for (uint64_t seed = 0; seed < 4; seed++) {
    threads.emplace_back([&, seed] {
      std::mt19937_64 own(seed);
      for (int i = 0; i < 20000; i++) {
        const auto ordinal = static_cast<Ordinal>(own() % entries.size());
        beyond = !segment->Take(ordinal) || beyond;
        beyond = segment->live_bytes() > 4 * segment->bytes() || beyond;  // below 0
        segment->Release(ordinal);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_FALSE(beyond);
  EXPECT_EQ(segment->live(), 0u);
  EXPECT_EQ(segment->live_bytes(), 0u);
}

TEST(SegmentTest, TheDigestTellsLogsApart) {
  const std::vector<Kept> entries = {Make(0, 1, 1, "a"), Make(1, 2, 1, "b"), Make(2, 3, 3, "c")};
  const uint64_t digest = Build(entries, 1)->digest();
  EXPECT_EQ(Build(entries, 2)->digest(), digest);
  std::set<uint64_t> others = {digest, Segment(1).digest()};
  size_t count = 2;
  const auto add = [&](std::vector<Kept> changed) {
    others.insert(Build(changed)->digest());
    count++;
  };
  add({entries[0], entries[1]});
  add({entries[1], entries[2]});
  add({Make(0, 1, 1, "b"), Make(1, 2, 1, "a"), entries[2]});
  add({entries[0], entries[1], Make(2, 4, 4, "c")});
  add({entries[0], entries[1], Make(3, 3, 3, "c")});
  add({entries[0], Make(1, 2, 2, "b"), entries[2]});
  add({entries[0], entries[1], Make(2, 3, 3, "d")});
  EXPECT_EQ(others.size(), count);
}

TEST(SegmentTest, AnEntryTakesTenBytes) {
  Segment segment(1);
  Entry entry;
  constexpr Ordinal kEntries = 500000;
  for (Ordinal i = 0; i < kEntries; i++) {
    const std::string key = std::to_string(i);
    entry.sequence = 1000 + i;
    entry.batch = entry.sequence - i % 10;
    entry.key = key;
    segment.Add(i, entry);
  }
  EXPECT_GT(segment.memory_bytes(), kEntries * 10);
  EXPECT_LT(segment.memory_bytes(), kEntries * 21 / 2);
  std::vector<bool> kept(kEntries);
  for (Ordinal i = 0; i < kEntries; i += 10) {
    kept[i + i / 10 % 10] = true;
  }
  ASSERT_TRUE(segment.Trim(kept));
  EXPECT_EQ(segment.entries(), kEntries / 10);
  EXPECT_LT(segment.memory_bytes(), kEntries / 10 * 17) << "with what is remembered of the others";
}

}  // namespace
}  // namespace tiered_env
}  // namespace ROCKSDB_NAMESPACE
