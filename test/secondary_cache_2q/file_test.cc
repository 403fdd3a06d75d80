// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// storage=file: restart, damage, refusal and asynchronous look-ups. Each test runs on every way of
// I/O.

#include "plugin/secondary_cache_2q/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rocksdb/convenience.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/no_threads.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

// io, direct_io.
class FileTest : public testing::TestWithParam<std::pair<const char*, bool>> {
 protected:
  FileTest() : path_(test::PerThreadDBPath("two_q_cache_file")) { Remove(); }
  ~FileTest() override { Remove(); }

  void Remove() {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  std::string Options(const std::string& more = "") const {
    return "id=TwoQSecondaryCache;capacity=8M;storage=file;path=" + path_ +
           ";io=" + GetParam().first + ";direct_io=" + (GetParam().second ? "true" : "false") +
           (more.empty() ? "" : ";" + more);
  }

  Status Open(const std::string& more = "") {
    cache_.reset();
    return SecondaryCache::CreateFromString(ConfigOptions(), Options(more), &cache_);
  }

  void Fill(uint64_t from, uint64_t to, size_t size = 4100) {
    for (uint64_t i = from; i < to; i++) {
      Offer(cache_.get(), Key(i), Noise(i, size + i % 300), /*force=*/true);
      if (i % 64 == 0) {
        AsOurs(cache_)->TEST_Drain();  // so that none is dropped for want of buffers
      }
    }
    AsOurs(cache_)->TEST_Drain();
  }

  // How many of the blocks are served, each with the right bytes.
  uint64_t Served(uint64_t from, uint64_t to, size_t size = 4100) {
    uint64_t served = 0;
    for (uint64_t i = from; i < to; i++) {
      const std::string value = Get(cache_.get(), Key(i));
      if (value != "<none>") {
        EXPECT_TRUE(Noise(i, size + i % 300) == value);
        served++;
      }
    }
    return served;
  }

  TwoQSecondaryCacheStats Stats() const {
    TwoQSecondaryCacheStats stats;
    EXPECT_OK(GetTwoQSecondaryCacheStats(cache_.get(), &stats));
    return stats;
  }

  CacheFileInfo Verify() const {
    CacheFileInfo info;
    EXPECT_OK(VerifyCacheFile(path_, &info));
    return info;
  }

  // XORs a byte of the file.
  void Damage(uint64_t offset) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file.get() ^ 0x5A);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
    ASSERT_TRUE(file.good());
  }

  const std::string path_;
  std::shared_ptr<SecondaryCache> cache_;
};

TEST_P(FileTest, ServesFromTheBufferAndFromTheFile) {
  ASSERT_OK(Open());
  Offer(cache_.get(), Key(1), "at once");
  EXPECT_EQ("at once", Get(cache_.get(), Key(1)));
  AsOurs(cache_)->TEST_Drain();
  EXPECT_EQ("at once", Get(cache_.get(), Key(1)));
  EXPECT_EQ(0u, Stats().io_errors);
  EXPECT_EQ(1u, Verify().verified);
}

// A loss of power may leave it its size alone, unless the magic is durable before it has that: then
// it would be in the way of all openings to come.
TEST_P(FileTest, AnUnfinishedFileIsKnownByItsMagic) {
  int durable = 0;
  SyncPoint::GetInstance()->SetCallBack("TwoQOpening::Fill:MagicIsDurable", [&](void*) {
    struct stat info = {};
    EXPECT_EQ(0, stat((path_ + ".new").c_str(), &info));
    EXPECT_EQ(Superblock::kSize, static_cast<size_t>(info.st_size));
    durable++;
  });
  SyncPoint::GetInstance()->EnableProcessing();
  ASSERT_OK(Open());
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  EXPECT_EQ(1, durable);
}

TEST_P(FileTest, BlocksSurviveACleanRestart) {
  ASSERT_OK(Open());
  Fill(0, 1000);
  const uint64_t held = Stats().blocks;
  EXPECT_EQ(1000u, held);
  ASSERT_OK(Open());
  EXPECT_EQ(held, Stats().recovered);
  EXPECT_EQ(held, Stats().blocks);
  EXPECT_EQ(held, Served(0, 1000));
  EXPECT_EQ(0u, Stats().corrupt);
}

TEST_P(FileTest, CompressedBlocksSurviveARestart) {
  ASSERT_OK(Open("compression=lz4"));
  Offer(cache_.get(), Key(1), std::string(50000, 'z'));
  ASSERT_OK(cache_->InsertSaved(Key(2), "saved", kZSTD, CacheTier::kVolatileCompressedTier));
  // What was compressed stays readable, whatever the option says now.
  ASSERT_OK(Open("compression=none"));
  EXPECT_EQ(std::string(50000, 'z'), Get(cache_.get(), Key(1)));
  EXPECT_EQ("saved", Get(cache_.get(), Key(2)));
}

TEST_P(FileTest, FullFileEvictsAndStaysSound) {
  ASSERT_OK(Open("policy=lru"));
  Fill(0, 6000);
  EXPECT_GT(Stats().evictions, 3000u);
  EXPECT_LE(Stats().usage, 8u << 20);
  EXPECT_GT(Stats().usage, (8u << 20) * 85 / 100);
  const uint64_t blocks = Stats().blocks;
  EXPECT_EQ(blocks, Served(0, 6000));
  cache_.reset();
  const CacheFileInfo info = Verify();
  EXPECT_EQ(blocks, info.blocks);
  EXPECT_EQ(blocks, info.verified);
  EXPECT_EQ(0u, info.corrupt + info.bad_slots);
}

TEST_P(FileTest, MixedSizesDoNotStarve) {
  ASSERT_OK(Open("policy=lru;num_shard_bits=0"));
  for (uint64_t i = 0; i < 3000; i++) {
    const size_t size = i % 7 == 0 ? 60000 : 1 + i * 131 % 9000;
    Offer(cache_.get(), Key(i), Noise(i, size), /*force=*/true);
    AsOurs(cache_)->TEST_Drain();
    ASSERT_TRUE(Noise(i, size) == Get(cache_.get(), Key(i))) << i;
  }
  EXPECT_GT(Stats().usage, (8u << 20) / 2);
}

// Keys that RocksDB only guarantees for the life of a process or a cache are served, not recovered.
TEST_P(FileTest, KeysWithoutAnSstAreNotFoundAgain) {
  ASSERT_OK(Open());
  Offer(cache_.get(), Key(1, /*file=*/0), "of this process");
  AsOurs(cache_)->TEST_Drain();
  EXPECT_EQ("of this process", Get(cache_.get(), Key(1, 0)));
  ASSERT_OK(Open());
  EXPECT_EQ("<none>", Get(cache_.get(), Key(1, 0)));
}

TEST_P(FileTest, OtherKeyLengthsAreNotHeld) {
  ASSERT_OK(Open());
  Offer(cache_.get(), "short", "value");
  EXPECT_EQ("<none>", Get(cache_.get(), "short"));
}

TEST_P(FileTest, ErasedBlocksDoNotComeBack) {
  ASSERT_OK(Open());
  Fill(0, 100);
  cache_->Erase(Key(5));
  AsOurs(cache_)->EraseFiles({1});
  EXPECT_EQ(0u, Stats().blocks);
  ASSERT_OK(Open());
  EXPECT_EQ(0u, Stats().recovered);
}

TEST_P(FileTest, DamagedBlocksAreMisses) {
  ASSERT_OK(Open("num_shard_bits=0"));
  Fill(0, 200);
  cache_.reset();
  CacheFileInfo info = Verify();
  ASSERT_EQ(200u, info.verified);
  const uint64_t data = info.file_size - info.capacity;
  for (uint64_t i = 0; i < 50; i++) {
    Damage(data + i * 4096);
  }
  info = Verify();
  EXPECT_GE(info.corrupt, 40u);
  const uint64_t intact = info.verified;
  EXPECT_EQ(200u, intact + info.corrupt);
  ASSERT_OK(Open("num_shard_bits=0"));
  EXPECT_EQ(intact, Served(0, 200));
  EXPECT_EQ(info.corrupt, Stats().corrupt);
  EXPECT_EQ(intact, Served(0, 200));  // gone for good, and not counted again
  EXPECT_EQ(info.corrupt, Stats().corrupt);
}

TEST_P(FileTest, DamagedSlotsAreForgotten) {
  ASSERT_OK(Open("num_shard_bits=0"));
  Fill(0, 200);
  cache_.reset();
  for (uint64_t i = 0; i < 20; i++) {
    Damage(Superblock::kSize + i * Slot::kSize + i);
  }
  EXPECT_EQ(20u, Verify().bad_slots);
  ASSERT_OK(Open("num_shard_bits=0"));
  EXPECT_EQ(180u, Stats().recovered);
  EXPECT_EQ(180u, Served(0, 200));
  EXPECT_EQ(0u, Stats().corrupt);
  cache_.reset();
  EXPECT_EQ(0u, Verify().bad_slots);
}

// What reordered writes of a power loss can leave: two slots that claim the same bytes.
TEST_P(FileTest, OfTwoSlotsForTheSameBytesTheNewerCounts) {
  ASSERT_OK(Open("num_shard_bits=0"));
  Fill(0, 1);
  cache_.reset();
  char slot_bytes[Slot::kSize];
  Superblock superblock;
  {
    std::ifstream file(path_, std::ios::binary);
    std::string head(Superblock::kSize, '\0');
    file.read(head.data(), static_cast<std::streamsize>(head.size()));
    ASSERT_OK(Superblock::Decode(head, path_, &superblock));
    file.read(slot_bytes, Slot::kSize);
  }
  Slot slot;
  bool used;
  ASSERT_TRUE(Slot::Decode(slot_bytes, superblock.uuid, &slot, &used));
  ASSERT_TRUE(used);
  slot.sequence--;
  memcpy(slot.key, Key(77).data(), Slot::kKeySize);
  slot.Encode(superblock.uuid, slot_bytes);
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(Superblock::kSize + 5 * Slot::kSize);
    file.write(slot_bytes, Slot::kSize);
  }
  ASSERT_OK(Open("num_shard_bits=0"));
  EXPECT_EQ(1u, Stats().recovered);
  EXPECT_TRUE(Noise(0, 4100) == Get(cache_.get(), Key(0)));
  EXPECT_EQ("<none>", Get(cache_.get(), Key(77)));
}

TEST_P(FileTest, WithoutAThreadItIsNotOpened) {
  {
    const rocktier::NoThreads none;
    Status s = Open();
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("path=" + path_ + ": no thread"));
  }
  ASSERT_OK(Open());
  Fill(0, 4);
  EXPECT_EQ(4u, Served(0, 4));
}

TEST_P(FileTest, ForeignFilesAreRefusedAndLeftAlone) {
  {
    std::ofstream file(path_);
    file << "somebody's precious data";
  }
  const Status s = Open();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find(path_));
  std::ifstream file(path_);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ("somebody's precious data", content);
}

TEST_P(FileTest, DamagedSuperblockIsRefused) {
  ASSERT_OK(Open());
  cache_.reset();
  Damage(2000);
  EXPECT_TRUE(Open().IsCorruption());
}

TEST_P(FileTest, ShortenedFileIsRefused) {
  ASSERT_OK(Open());
  cache_.reset();
  ASSERT_EQ(0, truncate(path_.c_str(), 4 << 20));
  const Status s = Open();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(std::string::npos, s.ToString().find("shorter"));
}

TEST_P(FileTest, AnotherCapacityFormatsAnew) {
  ASSERT_OK(Open());
  Fill(0, 100);
  cache_.reset();
  ASSERT_OK(SecondaryCache::CreateFromString(
      ConfigOptions(), "id=TwoQSecondaryCache;capacity=16M;storage=file;path=" + path_, &cache_));
  EXPECT_EQ(0u, Stats().recovered);
  EXPECT_EQ(16u << 20, Stats().capacity);
}

TEST_P(FileTest, SecondCachePassesThrough) {
  ASSERT_OK(Open());
  Fill(0, 10);
  std::shared_ptr<SecondaryCache> second;
  ASSERT_OK(SecondaryCache::CreateFromString(ConfigOptions(), Options(), &second));
  EXPECT_NE(std::string::npos, second->GetPrintableOptions().find("state : pass-through"));
  Offer(second.get(), Key(1), "ignored", /*force=*/true);
  EXPECT_EQ("<none>", Get(second.get(), Key(1)));
  EXPECT_EQ(10u, Served(0, 10));
  second.reset();
  // The first one still owns the file.
  ASSERT_OK(SecondaryCache::CreateFromString(ConfigOptions(), Options(), &second));
  EXPECT_NE(std::string::npos, second->GetPrintableOptions().find("state : pass-through"));
}

// The same file by another name.
TEST_P(FileTest, SecondCacheByALinkPassesThrough) {
  ASSERT_OK(Open());
  Fill(0, 10);
  const std::string link = path_ + ".link";
  for (const bool symbolic : {true, false}) {
    ASSERT_EQ(
        0, symbolic ? symlink(path_.c_str(), link.c_str()) : ::link(path_.c_str(), link.c_str()));
    std::shared_ptr<SecondaryCache> second;
    ASSERT_OK(SecondaryCache::CreateFromString(
        ConfigOptions(), "id=TwoQSecondaryCache;capacity=8M;storage=file;path=" + link, &second));
    EXPECT_NE(std::string::npos, second->GetPrintableOptions().find("state : pass-through"));
    second.reset();
    unlink(link.c_str());
    unlink((link + ".lock").c_str());
  }
  EXPECT_EQ(10u, Served(0, 10));
}

TEST_P(FileTest, CapacityCanShrinkButNotOutgrowTheFile) {
  ASSERT_OK(Open());
  Fill(0, 1000);
  const Status s = cache_->SetCapacity(16 << 20);
  EXPECT_TRUE(s.IsNotSupported());
  EXPECT_NE(std::string::npos, s.ToString().find("capacity"));
  ASSERT_OK(cache_->SetCapacity(1 << 20));
  EXPECT_LE(Stats().usage, 1u << 20);
  ASSERT_OK(cache_->SetCapacity(8 << 20));
  Fill(2000, 2100);
  EXPECT_EQ(100u, Served(2000, 2100));
}

TEST_P(FileTest, FullWriteBufferDropsAndCounts) {
  ASSERT_OK(Open("write_buffer_size=64K"));
  Offer(cache_.get(), Key(1), Noise(1, 70000), /*force=*/true);  // larger than the whole buffer
  EXPECT_EQ("<none>", Get(cache_.get(), Key(1)));
  EXPECT_EQ(1u, Stats().dropped);
  AsOurs(cache_)->TEST_Drain();
  Offer(cache_.get(), Key(2), Noise(2, 4000), /*force=*/true);
  EXPECT_TRUE(Noise(2, 4000) == Get(cache_.get(), Key(2)));
}

// A disk that is busy: what goes before it is written makes room at once for what comes.
TEST_P(FileTest, BlocksThatGoBeforeTheyAreWrittenKeepNothing) {
  ASSERT_OK(Open("write_buffer_size=64K"));
  std::mutex mutex;
  std::condition_variable changed;
  bool holds = false;
  bool let_go = false;
  SyncPoint::GetInstance()->SetCallBack("TwoQFileStore::Publish", [&](void*) {
    std::unique_lock<std::mutex> lock(mutex);
    holds = true;
    changed.notify_all();
    changed.wait(lock, [&] { return let_go; });
  });
  SyncPoint::GetInstance()->EnableProcessing();
  Offer(cache_.get(), Key(1), Noise(1, 4000), /*force=*/true);
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return holds; });
  }
  uint64_t memory = 0;  // when each shard has had some
  for (uint64_t i = 2; i < 1000; i++) {
    Offer(cache_.get(), Key(i), Noise(i, 4000), /*force=*/true);
    EXPECT_TRUE(Noise(i, 4000) == Get(cache_.get(), Key(i)));
    cache_->Erase(Key(i));
    memory = i == 100 ? Stats().memory : memory;
  }
  EXPECT_EQ(0u, Stats().dropped);
  EXPECT_EQ(1u, Stats().blocks);
  EXPECT_EQ(memory, Stats().memory);
  {
    std::lock_guard<std::mutex> lock(mutex);
    let_go = true;
    changed.notify_all();
  }
  AsOurs(cache_)->TEST_Drain();
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  EXPECT_TRUE(Noise(1, 4000) == Get(cache_.get(), Key(1)));
  cache_.reset();
  EXPECT_EQ(1u, Verify().verified);
}

TEST_P(FileTest, LookupsWithoutWaitRunSideBySide) {
  ASSERT_OK(Open());
  Fill(0, 200);
  std::vector<std::unique_ptr<SecondaryCacheResultHandle>> handles;
  std::vector<SecondaryCacheResultHandle*> pending;
  TextContext context;
  for (uint64_t i = 0; i < 200; i++) {
    bool kept = false;
    handles.push_back(cache_->Lookup(Key(i), TextHelper(), &context, /*wait=*/false,
                                     /*advise_erase=*/false, nullptr, kept));
    ASSERT_NE(nullptr, handles.back());
    EXPECT_TRUE(kept);
    pending.push_back(handles.back().get());
  }
  // An eviction meanwhile must not pull the bytes from under the reads.
  ASSERT_OK(cache_->SetCapacity(0));
  ASSERT_OK(cache_->SetCapacity(8 << 20));
  Fill(5000, 5200);
  cache_->WaitAll(pending);
  for (uint64_t i = 0; i < 200; i++) {
    ASSERT_TRUE(handles[i]->IsReady());
    std::unique_ptr<std::string> value(static_cast<std::string*>(handles[i]->Value()));
    ASSERT_NE(nullptr, value);
    EXPECT_TRUE(Noise(i, 4100 + i % 300) == *value);
  }
}

TEST_P(FileTest, PollingFinishesALookup) {
  ASSERT_OK(Open());
  Fill(0, 1);
  TextContext context;
  bool kept = false;
  auto handle = cache_->Lookup(Key(0), TextHelper(), &context, false, false, nullptr, kept);
  ASSERT_NE(nullptr, handle);
  while (!handle->IsReady()) {
  }
  std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
  EXPECT_TRUE(Noise(0, 4100) == *value);
}

TEST_P(FileTest, ExclusiveLookupsWithoutWait) {
  ASSERT_OK(Open("exclusive=true"));
  Fill(0, 10);
  TextContext context;
  bool kept = true;
  auto handle = cache_->Lookup(Key(3), TextHelper(), &context, /*wait=*/false,
                               /*advise_erase=*/true, nullptr, kept);
  EXPECT_FALSE(kept);
  cache_->WaitAll({handle.get()});
  std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
  EXPECT_TRUE(Noise(3, 4103) == *value);
  EXPECT_EQ("<none>", Get(cache_.get(), Key(3)));
}

INSTANTIATE_TEST_CASE_P(Io, FileTest,
                        testing::Values(std::make_pair("uring", true),
                                        std::make_pair("uring", false),
                                        std::make_pair("pread", true),
                                        std::make_pair("pread", false),
                                        std::make_pair("pmem", false)));

// It is mapped by its path, after it was locked and its superblock read.
TEST(CacheFileTest, WhatIsMappedIsTheLockedFileAndAllOfIt) {
  const std::string path = test::PerThreadDBPath("mapped");
  const std::string other = path + ".other";
  const std::string options = "id=TwoQSecondaryCache;capacity=8M;storage=file;io=pmem;path=";
  std::shared_ptr<SecondaryCache> cache;
  for (const bool replace : {true, false}) {
    for (const std::string& name : {path, other}) {
      unlink(name.c_str());
      ASSERT_OK(SecondaryCache::CreateFromString(ConfigOptions(), options + name, &cache));
      cache.reset();
    }
    SyncPoint::GetInstance()->SetCallBack("TwoQDevice::OpenPmem", [&](void*) {
      EXPECT_EQ(0, replace ? rename(other.c_str(), path.c_str()) : truncate(path.c_str(), 4 << 20));
    });
    SyncPoint::GetInstance()->EnableProcessing();
    const Status s = SecondaryCache::CreateFromString(ConfigOptions(), options + path, &cache);
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    EXPECT_TRUE(replace ? s.IsIOError() : s.IsCorruption()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find(replace ? "was replaced" : "is shorter"));
  }
  for (const std::string& name : {path, other}) {
    unlink(name.c_str());
    unlink((name + ".lock").c_str());
  }
}

TEST(CacheFileTest, InspectSaysWhatIsWrong) {
  CacheFileInfo info;
  EXPECT_TRUE(InspectCacheFile("/no/such/file", &info).IsNotFound());
  const std::string path = test::PerThreadDBPath("inspect");
  {
    std::ofstream file(path);
    file << "x";
  }
  const Status s = InspectCacheFile(path, &info);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(std::string::npos, s.ToString().find(path));
  unlink(path.c_str());
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
