// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A cache in a file finds blocks by a part of the hash of their key. Two keys may have the same
// one; and what is in the place of a block may be another block.

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/secondary_cache_2q/file_part.h"
#include "plugin/secondary_cache_2q/format.h"
#include "plugin/secondary_cache_2q/hash.h"
#include "plugin/secondary_cache_2q/index.h"
#include "rocksdb/convenience.h"
#include "test/secondary_cache_2q/support.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

// Two keys of a cache with one shard that have the same tag.
std::pair<std::string, std::string> SameTag() {
  std::vector<std::pair<uint32_t, uint64_t>> tags;
  for (uint64_t block = 0; block < 400000; block++) {
    tags.emplace_back(Index::TagOf(KeyHash(Key(block))), block);
  }
  std::sort(tags.begin(), tags.end());
  const auto it = std::adjacent_find(
      tags.begin(), tags.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  EXPECT_NE(tags.end(), it);
  return {Key(it->second), Key((it + 1)->second)};
}

class TagsTest : public testing::TestWithParam<const char*> {
 protected:
  TagsTest() : path_(test::PerThreadDBPath("two_q_tags")) { Remove(); }
  ~TagsTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    Remove();
  }

  void Remove() {
    cache_.reset();
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  void Open() {
    cache_.reset();
    const std::string file = std::string(GetParam()) == "dram"
                                 ? ""
                                 : ";storage=file;path=" + path_ + ";io=" + GetParam();
    cache_ = NewCache("capacity=8M;num_shard_bits=0" + file);
  }

  std::string GetLater(const std::string& key) {
    TextContext context;
    bool kept = false;
    auto handle = cache_->Lookup(key, TextHelper(), &context, /*wait=*/false,
                                 /*advise_erase=*/true, nullptr, kept);
    if (handle == nullptr) {
      return "<none>";
    }
    cache_->WaitAll({handle.get()});
    std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
    return value == nullptr ? "<none>" : *value;
  }

  TwoQSecondaryCacheStats Stats() const {
    TwoQSecondaryCacheStats stats;
    EXPECT_OK(GetTwoQSecondaryCacheStats(cache_.get(), &stats));
    return stats;
  }

  const std::string path_;
  std::shared_ptr<SecondaryCache> cache_;
};

TEST_P(TagsTest, AnotherKeyWithTheSameTagIsAMissAndTheBlockStays) {
  const auto [a, b] = SameTag();
  Open();
  const auto expect_a = [&, a = a, b = b] {
    EXPECT_EQ("of a", Get(cache_.get(), a));
    EXPECT_EQ("<none>", Get(cache_.get(), b, /*advise_erase=*/true));
    EXPECT_EQ("<none>", GetLater(b));
    Offer(cache_.get(), b, "of b", /*force=*/true);  // a is in its way
    EXPECT_EQ("<none>", Get(cache_.get(), b));
    EXPECT_EQ("of a", GetLater(a));
    EXPECT_EQ(1u, Stats().blocks);
    EXPECT_EQ(0u, Stats().corrupt);
    EXPECT_EQ(0u, Stats().erased);
  };
  Offer(cache_.get(), a, "of a");
  expect_a();
  AsOurs(cache_)->TEST_Drain();
  expect_a();
  if (std::string(GetParam()) != "dram") {
    Open();
    expect_a();
  }
  cache_->Erase(a);
  Offer(cache_.get(), b, "of b");
  EXPECT_EQ("of b", Get(cache_.get(), b));
  AsOurs(cache_)->TEST_Drain();
  EXPECT_EQ("<none>", Get(cache_.get(), a));
  EXPECT_EQ("of b", Get(cache_.get(), b));
}

// As a power loss may leave it: the slot is new, and the bytes are those of a block that was there
// before, with a right checksum.
TEST_P(TagsTest, AnOlderBlockInThePlaceOfABlockIsCorrupt) {
  if (std::string(GetParam()) == "dram") {
    return;
  }
  Open();
  Offer(cache_.get(), Key(1), Noise(1, 4000));
  Offer(cache_.get(), Key(2), Noise(2, 4000));
  cache_.reset();
  CacheFileInfo info;
  ASSERT_OK(VerifyCacheFile(path_, &info));
  ASSERT_EQ(2u, info.verified);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    const auto data = static_cast<std::streamoff>(info.file_size - info.capacity);
    std::string extent(4096, '\0');
    file.seekg(data);
    file.read(extent.data(), static_cast<std::streamsize>(extent.size()));
    file.seekp(data + 4096);
    file.write(extent.data(), static_cast<std::streamsize>(extent.size()));
    ASSERT_TRUE(file.good());
  }
  ASSERT_OK(VerifyCacheFile(path_, &info));
  EXPECT_EQ(1u, info.corrupt);
  Open();
  EXPECT_EQ(2u, Stats().recovered);
  EXPECT_TRUE(Noise(1, 4000) == Get(cache_.get(), Key(1)));
  EXPECT_EQ("<none>", Get(cache_.get(), Key(2)));
  EXPECT_EQ(1u, Stats().corrupt);
  EXPECT_EQ(1u, Stats().blocks);
}

// A block of an SST is erased while it is read, and its id and its extent are asked for.
TEST_P(TagsTest, NobodyGetsThePlaceOfABlockThatIsRead) {
  Open();
  Offer(cache_.get(), Key(1, /*file=*/5), Noise(1, 4000));
  AsOurs(cache_)->TEST_Drain();
  TextContext context;
  bool kept = false;
  auto handle = cache_->Lookup(Key(1, 5), TextHelper(), &context, /*wait=*/false,
                               /*advise_erase=*/true, nullptr, kept);
  ASSERT_NE(nullptr, handle);
  AsOurs(cache_)->EraseFiles({5});
  EXPECT_EQ(0u, Stats().blocks);
  for (uint64_t i = 10; i < 20; i++) {
    Offer(cache_.get(), Key(i), Noise(i, 4000));
  }
  AsOurs(cache_)->TEST_Drain();
  cache_->WaitAll({handle.get()});
  std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
  ASSERT_NE(nullptr, value);
  EXPECT_TRUE(Noise(1, 4000) == *value);
  handle.reset();
  EXPECT_EQ(10u, Stats().blocks);
  for (uint64_t i = 10; i < 20; i++) {
    EXPECT_TRUE(Noise(i, 4000) == Get(cache_.get(), Key(i)));
  }
  EXPECT_EQ("<none>", Get(cache_.get(), Key(1, 5)));
}

// Nor are they missed if a change of the capacity gives them other ids meanwhile.
TEST_P(TagsTest, ErasingAnSstTakesBlocksThatMove) {
  if (std::string(GetParam()) != "dram") {
    return;
  }
  cache_ = NewCache("capacity=64M;num_shard_bits=0");
  for (uint64_t i = 0; i < 60000; i++) {
    Offer(cache_.get(), Key(i, 1 + i % 3), "block");
  }
  SyncPoint::GetInstance()->SetCallBack("TwoQShard::EraseFiles", [&](void*) {
    EXPECT_OK(cache_->SetCapacity(64 << 20));  // makes ids dense
  });
  SyncPoint::GetInstance()->EnableProcessing();
  AsOurs(cache_)->EraseFiles({1});
  SyncPoint::GetInstance()->DisableProcessing();
  const uint64_t erased = Stats().erased_obsolete;
  EXPECT_GE(erased, 20000u - 5);
  AsOurs(cache_)->EraseFiles({1});
  EXPECT_EQ(erased, Stats().erased_obsolete);
}

// The shard is not locked while it looks for the blocks of an SST. What comes meanwhile may get the
// number that the SST had.
TEST_P(TagsTest, ErasingAnSstTakesNoBlockOfAnother) {
  if (std::string(GetParam()) != "dram") {
    return;  // it has no room for so many
  }
  cache_ = NewCache("capacity=64M;num_shard_bits=0");
  constexpr uint64_t kBlocks = 60000;
  for (uint64_t i = 0; i < kBlocks; i++) {
    Offer(cache_.get(), Key(i, 1 + i % 3), "block");
  }
  ASSERT_GE(Stats().blocks, kBlocks - 5);
  bool first = true;
  SyncPoint::GetInstance()->SetCallBack("TwoQShard::EraseFiles", [&](void*) {
    if (first) {
      first = false;
      AsOurs(cache_)->EraseFiles({1});
      for (uint64_t i = 0; i < 20000; i++) {
        Offer(cache_.get(), Key(i, 9), "new");
      }
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  AsOurs(cache_)->EraseFiles({1});
  EXPECT_FALSE(first);
  EXPECT_GE(Stats().blocks, kBlocks * 2 / 3 + 20000 - 5);  // some have the same tag
  EXPECT_GE(Stats().erased_obsolete, kBlocks / 3 - 5);
  AsOurs(cache_)->EraseFiles({9, 2});
  EXPECT_GE(Stats().blocks, kBlocks / 3 - 5);
  EXPECT_LE(Stats().blocks, kBlocks / 3);
}

INSTANTIATE_TEST_CASE_P(Io, TagsTest, testing::Values("dram", "pread", "uring", "pmem"));

TEST(FilePartTest, AnIdIsTakenAsLongAsAnybodyHasIt) {
  FilePart part(3, /*units=*/100, /*block_size=*/512, /*slots=*/10);
  FileBlock* const a = part.Allocate(Key(1), 60);
  ASSERT_NE(nullptr, a);
  EXPECT_EQ(3u, a->shard);
  EXPECT_EQ(60u * 512, a->charge);
  EXPECT_EQ(nullptr, part.Allocate(Key(1), 60));  // no room
  part.Keep(a);
  const BlockId id = a->id;
  EXPECT_EQ(FilePart::Left::kKept, part.Unpin(a));
  delete a;
  FileBlock* const b = part.Pin(id, 77);
  EXPECT_EQ(77u, b->hash);
  EXPECT_EQ(b, part.Pin(id, 78));
  EXPECT_EQ(b, part.Detach(id));
  EXPECT_EQ(FilePart::Left::kOthers, part.Unpin(b));
  EXPECT_EQ(FilePart::Left::kOthers, part.Unpin(b));
  EXPECT_EQ(nullptr, part.Allocate(Key(1), 60));
  EXPECT_EQ(FilePart::Left::kNone, part.Unpin(b));
  EXPECT_EQ(nullptr, part.Allocate(Key(1), 60));  // until the slot is cleared
  part.Free(b);
  delete b;
  FileBlock* const c = part.Allocate(Key(1), 100);
  ASSERT_NE(nullptr, c);
  EXPECT_EQ(id, c->id);
  EXPECT_FALSE(part.IsPublished(c));
  EXPECT_EQ(FilePart::Left::kNone, part.Unpin(c));
  part.Free(c);
  delete c;
}

TEST(FilePartTest, ABlockThatOnlyWaitsCanBeWithdrawn) {
  FilePart part(0, /*units=*/100, /*block_size=*/512, /*slots=*/10);
  FileBlock* const block = part.Allocate(Key(1), 100);
  ASSERT_NE(nullptr, block);
  const BlockId id = block->id;
  part.Keep(block);
  part.Enqueue(block);
  EXPECT_EQ(nullptr, part.Withdraw(id));  // two have it
  EXPECT_EQ(FilePart::Left::kOthers, part.Unpin(block));
  EXPECT_EQ(nullptr, part.Withdraw(id));  // AM keeps it
  EXPECT_EQ(block, part.Detach(id));
  EXPECT_EQ(nullptr, part.Withdraw(id));
  EXPECT_EQ(FilePart::Left::kWaits, part.Unpin(block));
  EXPECT_EQ(block, part.Withdraw(id));
  EXPECT_EQ(nullptr, part.Withdraw(id));
  part.Free(block);
  delete block;
  FileBlock* const begun = part.Allocate(Key(2), 100);
  ASSERT_NE(nullptr, begun);
  part.Enqueue(begun);
  part.Begin(begun);
  EXPECT_EQ(FilePart::Left::kOthers, part.Unpin(begun));
  EXPECT_EQ(nullptr, part.Withdraw(begun->id));
  EXPECT_EQ(FilePart::Left::kNone, part.Unpin(begun));
  part.Free(begun);
  delete begun;
}

// Who asks by an id that was another block's must not see half of a key.
TEST(FilePartTest, TheKeyOfABlockIsKnownAtOnce) {
  FilePart part(0, /*units=*/100, /*block_size=*/512, /*slots=*/10);
  FileBlock* const block = part.Allocate(Key(7, 3), 1);
  ASSERT_NE(nullptr, block);
  std::string key;
  EXPECT_EQ(FilePart::Known::kKey, part.FindKey(block->id, &key));
  EXPECT_EQ(Key(7, 3), key);
  EXPECT_EQ(FilePart::Left::kNone, part.Unpin(block));
  part.Free(block);
  delete block;
}

// Blocks that wait to be written do not make look-ups slow.
TEST(FilePartTest, ManyBlocksMayBeWorkedWith) {
  constexpr BlockId kMany = 1 << 16;
  FilePart part(0, /*units=*/kMany, /*block_size=*/512, /*slots=*/kMany);
  std::vector<FileBlock*> blocks;
  const auto allocate = [&](BlockId to) {
    while (blocks.size() < to) {
      blocks.push_back(part.Allocate(Key(blocks.size()), 1));
      ASSERT_NE(nullptr, blocks.back());
    }
  };
  const auto pin_all = [&] {
    const clock_t begin = clock();
    for (BlockId i = 0; i < kMany; i++) {
      FileBlock* const block = blocks[i * 7919u % blocks.size()];
      ASSERT_EQ(block, part.Pin(block->id, 0));
      ASSERT_EQ(FilePart::Left::kOthers, part.Unpin(block));
    }
    EXPECT_LT(clock() - begin, 2 * CLOCKS_PER_SEC);
  };
  for (const BlockId n : {1u, 2u, 3u, 100u, kMany}) {
    allocate(n);
    pin_all();
  }
  for (FileBlock* block : blocks) {
    ASSERT_EQ(FilePart::Left::kNone, part.Unpin(block));
    part.Free(block);
    delete block;
  }
}

TEST(FilePartTest, HasAsManyIdsAsSlots) {
  FilePart part(0, /*units=*/100, /*block_size=*/512, /*slots=*/3);
  EXPECT_TRUE(part.Adopt(1, 10, 5));
  EXPECT_FALSE(part.Adopt(2, 14, 5));  // claims a unit of the other
  EXPECT_TRUE(part.Adopt(0, 20, 5));
  part.Reject(0);
  part.EndAdoption();
  std::vector<FileBlock*> blocks;
  for (const BlockId id : {0u, 2u}) {
    blocks.push_back(part.Allocate(Key(1), 1));
    ASSERT_NE(nullptr, blocks.back());
    EXPECT_EQ(id, blocks.back()->id);
  }
  EXPECT_EQ(nullptr, part.Allocate(Key(1), 1));
  FileBlock* const found = part.Pin(1, 7);
  EXPECT_TRUE(found->recovered && part.IsPublished(found));
  EXPECT_EQ(10u, found->start);
  EXPECT_EQ(FilePart::Left::kKept, part.Unpin(found));
  delete found;
  for (FileBlock* block : blocks) {
    EXPECT_EQ(FilePart::Left::kNone, part.Unpin(block));
    part.Free(block);
    delete block;
  }
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
