// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What a recovery keeps entries in, and rebuilds SSTs in.

#include "plugin/tiered_env/wal/entry_arena.h"

#include <map>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "plugin/tiered_env/recovery/buffers.h"
#include "test/support/seed.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

void ExpectEntries(bool sparse) {
  std::mt19937_64 random(Seed());
  std::map<Ordinal, std::pair<std::string, std::string>> expected;
  EntryArena arena(sparse);
  Ordinal ordinal = 0;
  uint64_t bytes = 0;
  while (bytes < 80 << 20) {
    // Small ones, and such as are larger than all that memory is taken for at once.
    const uint64_t most = expected.size() == 5000 ? 40 << 20 : random() % 500 == 0 ? 3 << 20 : 300;
    ordinal += 1 + static_cast<Ordinal>(random() % 3);
    auto& [key, value] = expected[ordinal];
    key.assign(random() % 40, static_cast<char>(random()));
    value.assign(most / 2 + random() % (most / 2), static_cast<char>(random()));
    Entry entry;
    entry.sequence = random();
    entry.batch = entry.sequence - 1;
    entry.type = kTypeMerge;
    entry.key = key;
    entry.value = value;
    arena.Add(ordinal, entry);
    bytes += key.size() + value.size();
  }
  ASSERT_GT(expected.size(), 5000u);
  for (Ordinal i = 0; i <= ordinal + 1; i++) {
    Entry entry;
    const auto known = expected.find(i);
    ASSERT_EQ(arena.Get(i, &entry), known != expected.end()) << i;
    if (known != expected.end()) {
      EXPECT_TRUE(entry.key == known->second.first && entry.value == known->second.second) << i;
      EXPECT_EQ(entry.batch, entry.sequence - 1);
      EXPECT_EQ(entry.type, kTypeMerge);
    }
  }
}

TEST(EntryArena, EntriesAreWhatTheyWere) { ExpectEntries(/*sparse=*/false); }

TEST(EntryArena, EntriesAreFoundBySearch) { ExpectEntries(/*sparse=*/true); }

TEST(Buffers, AreUsedAgain) {
  Buffers buffers;
  Buffers::Buffer first = buffers.Take(5 << 20);
  Buffers::Buffer second = buffers.Take(1);
  const char* const memory = first.memory.get();
  EXPECT_NE(second.memory.get(), memory);
  memset(first.memory.get(), 1, 5 << 20);
  buffers.Give(std::move(first));
  first = buffers.Take(4 << 20);
  EXPECT_EQ(first.memory.get(), memory);
  buffers.Give(std::move(second));
  second = buffers.Take(9 << 20);
  EXPECT_GE(second.size, size_t{9} << 20);
  memset(second.memory.get(), 1, 9 << 20);
  buffers.Give(std::move(first));
  buffers.Give(std::move(second));
  buffers.Clear();
}

}  // namespace

}  // namespace rocktier
