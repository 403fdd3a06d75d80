// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A cache file that fails, or that says what it should not, costs misses: never the process, and
// never a wrong answer.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plugin/secondary_cache_2q/device.h"
#include "plugin/secondary_cache_2q/format.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/table.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/open_db.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"
#include "util/coding.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr uint64_t kBlocks = 1000;

class FaultsTest : public testing::Test {
 protected:
  FaultsTest() : path_(test::PerThreadDBPath("two_q_faults")) { Remove(); }
  ~FaultsTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    cache_.reset();
    Remove();
  }

  void Remove() {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  void Open(const std::string& more = "") {
    cache_.reset();
    ASSERT_OK(SecondaryCache::CreateFromString(
        ConfigOptions(),
        "id=TwoQSecondaryCache;storage=file;num_shard_bits=0;capacity=8M;path=" + path_ + more,
        &cache_));
  }

  void Fill(uint64_t from = 0, uint64_t to = kBlocks) {
    for (uint64_t i = from; i < to; i++) {
      Offer(cache_.get(), Key(i), Noise(i, 4000), /*force=*/true);
      if (i % 64 == 0) {
        AsOurs(cache_)->TEST_Drain();  // so that none is dropped for want of buffers
      }
    }
    AsOurs(cache_)->TEST_Drain();
  }

  // How many of the blocks are served, each with the right bytes.
  uint64_t Served(uint64_t from = 0, uint64_t to = kBlocks) {
    uint64_t served = 0;
    for (uint64_t i = from; i < to; i++) {
      const std::string value = Get(cache_.get(), Key(i));
      if (value != "<none>") {
        EXPECT_TRUE(Noise(i, 4000) == value);
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

  std::string path_;
  std::shared_ptr<SecondaryCache> cache_;
};

// Changes the entries of a cache file, and what they name; all checksums are right afterwards.
void ForEachSlot(const std::string& path,
                 const std::function<bool(uint64_t number, Slot* slot, Encoding* encoding,
                                          std::string* block)>& change) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string head(Superblock::kSize, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  Superblock superblock;
  ASSERT_OK(Superblock::Decode(head, path, &superblock));
  for (uint64_t number = 0; number < superblock.slots; number++) {
    const auto at = static_cast<std::streamoff>(superblock.IndexOffset() + number * Slot::kSize);
    char bytes[Slot::kSize];
    file.seekg(at);
    file.read(bytes, sizeof(bytes));
    Slot slot;
    bool used;
    ASSERT_TRUE(Slot::Decode(bytes, superblock.uuid, &slot, &used));
    if (!used) {
      continue;
    }
    const auto data = static_cast<std::streamoff>(superblock.DataOffset() + slot.offset);
    std::string extent(BlockHeader::kSize + slot.size, '\0');
    file.seekg(data);
    file.read(extent.data(), static_cast<std::streamsize>(extent.size()));
    BlockHeader header;
    Slice stored;
    ASSERT_TRUE(BlockHeader::Decode(extent, &header, &stored));
    std::string block = stored.ToString();
    if (change(number, &slot, &header.encoding, &block)) {
      slot.Encode(superblock.uuid, bytes);
      file.seekp(at);
      file.write(bytes, sizeof(bytes));
      header.size = static_cast<uint32_t>(block.size());
      extent.replace(BlockHeader::kSize, std::string::npos, block);
      header.Encode(extent.data());
      file.seekp(data);
      file.write(extent.data(), static_cast<std::streamsize>(extent.size()));
    }
  }
  ASSERT_TRUE(file.good());
}

// A page of the index has 64 entries.
TEST_F(FaultsTest, ASectorOfTheIndexThatCannotBeReadIsMisses) {
  Open();
  Fill();
  cache_.reset();
  constexpr uint64_t kBad = Superblock::kSize + 3 * 4096;
  int failed = 0;
  SyncPoint::GetInstance()->SetCallBack("TwoQDevice::ReadIndex", [&](void* argument) {
    auto* read = static_cast<IndexRead*>(argument);
    if (read->offset <= kBad && kBad < read->offset + read->size) {
      read->error = EIO;
      failed++;
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  Open();
  EXPECT_EQ(2, failed);  // the piece, then the page
  EXPECT_EQ(1u, Stats().io_errors);
  EXPECT_EQ(kBlocks - 64, Stats().recovered);
  EXPECT_EQ(kBlocks - 64, Served());
  // The page is good again once it was written.
  SyncPoint::GetInstance()->DisableProcessing();
  Fill();
  EXPECT_EQ(kBlocks, Served());
  Open();
  EXPECT_EQ(kBlocks, Served());
}

// A file of holes on a file system without room: what touches a page of it by a mapping gets a
// SIGBUS.
TEST_F(FaultsTest, AnIndexWithoutRoomForItsPagesIsNoSignal) {
  const std::string mount_point = path_ + ".mount";
  mkdir(mount_point.c_str(), 0700);
  // In a namespace of its own, so that it goes with the process.
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", mount_point.c_str(), "tmpfs", 0, "size=10m") != 0) {
    ROCKSDB_GTEST_SKIP("needs root, for a mount");
    return;
  }
  path_ = mount_point + "/cache";
  Open();
  Fill(0, 100);
  cache_.reset();
  const int file = open(path_.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_EQ(0, fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 128 << 10));
  close(file);
  const int filler = open((mount_point + "/filler").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string zeros(4096, 'x');
  while (write(filler, zeros.data(), zeros.size()) > 0) {
  }
  close(filler);
  Open();
  EXPECT_EQ(64u, Served(0, 100));
  Fill(1000, 1200);
  EXPECT_EQ(200u, Served(1000, 1200));  // though not found again after a restart
  EXPECT_GT(Stats().io_errors, 0u);
  cache_.reset();
  EXPECT_EQ(0, umount(mount_point.c_str()));
  EXPECT_EQ(0, rmdir(mount_point.c_str()));
}

TEST_F(FaultsTest, AFileThatIsCutShortUnderACacheIsMisses) {
  Open(";direct_io=false");
  Fill(0, 100);
  ASSERT_EQ(0, truncate(path_.c_str(), 100));
  EXPECT_EQ(0u, Served(0, 100));
  Fill(1000, 1100);  // the data area grows again, the pages of the index do not
  Served(1000, 1100);
  EXPECT_GT(Stats().io_errors, 0u);
}

// Each is what a slot with a right checksum may say. None is a block, and the others are served.
TEST_F(FaultsTest, WhatASlotSaysIsBounded) {
  const std::vector<std::function<void(Slot*)>> changes = {
      [](Slot* s) { s->size = UINT32_MAX; },         [](Slot* s) { s->size = (8 << 20) / 8 + 1; },
      [](Slot* s) { s->offset = UINT64_MAX - 511; }, [](Slot* s) { s->offset += 1; },
      [](Slot* s) { s->offset = 8 << 20; },          [](Slot* s) { s->sequence = UINT64_MAX; },
      [](Slot* s) { memset(s->key, 0, 8); },
  };
  Open();
  Fill(0, 100);
  cache_.reset();
  ForEachSlot(path_, [&](uint64_t number, Slot* slot, Encoding*, std::string*) {
    if (number < changes.size()) {
      changes[number](slot);
    }
    return number < changes.size();
  });
  CacheFileInfo info;
  ASSERT_OK(VerifyCacheFile(path_, &info));
  EXPECT_EQ(changes.size(), info.bad_slots);
  EXPECT_EQ(0u, info.corrupt);
  Open();
  EXPECT_EQ(100 - changes.size(), Stats().recovered);
  EXPECT_EQ(100 - changes.size(), Served(0, 100));
  Fill(0, 200);
  EXPECT_EQ(200u, Served(0, 200));
  cache_.reset();
  ASSERT_OK(VerifyCacheFile(path_, &info));
  EXPECT_EQ(0u, info.bad_slots);
  EXPECT_EQ(200u, info.verified);
}

// Compressed by us to far more than there can be.
TEST_F(FaultsTest, ASizeThatIsNotThereIsAMiss) {
  Open();
  Fill(0, 100);
  cache_.reset();
  ForEachSlot(path_, [&](uint64_t number, Slot*, Encoding* encoding, std::string*) {
    const auto codec = static_cast<uint8_t>(number % 2 == 0 ? kLZ4Compression : kZSTD);
    *encoding = {INT32_MAX, codec, 0, 0};
    return true;
  });
  Open();
  EXPECT_EQ(100u, Stats().recovered);
  EXPECT_EQ(0u, Served(0, 100));
  EXPECT_EQ(100u, Stats().corrupt);
  EXPECT_EQ(0u, Stats().blocks);
}

std::string Repeated(const std::string& text, size_t size) {
  std::string result;
  while (result.size() < size) {
    result += text;
  }
  result.resize(size);
  return result;
}

// With the entry's CRC and the block's, and nothing of a block: what a database asks for is read
// from its SSTs.
TEST_F(FaultsTest, WhatIsNoBlockIsAMissAndDropped) {
  const std::string name = test::PerThreadDBPath("two_q_faults_db");
  ASSERT_OK(DestroyDB(name, Options()));
  auto open_db = [&](std::unique_ptr<DB>* db) {
    Open(";policy=lru");
    LRUCacheOptions primary;
    primary.capacity = 16 << 10;
    primary.num_shard_bits = 0;
    primary.secondary_cache = cache_;
    BlockBasedTableOptions table;
    table.cache_index_and_filter_blocks = true;
    table.block_cache = primary.MakeSharedCache();
    Options options;
    options.create_if_missing = true;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(OpenDb(options, name, db));
  };
  auto check_all = [](DB* db) {
    std::string value;
    for (uint64_t i = 0; i < 2000; i++) {
      ASSERT_OK(db->Get(ReadOptions(), "key" + std::to_string(i), &value)) << i;
      ASSERT_TRUE(Noise(i, 400) == value) << i;
    }
  };
  std::unique_ptr<DB> db;
  open_db(&db);
  for (uint64_t i = 0; i < 2000; i++) {
    ASSERT_OK(db->Put(WriteOptions(), "key" + std::to_string(i), Noise(i, 400)));
  }
  ASSERT_OK(db->DeleteRange(WriteOptions(), db->DefaultColumnFamily(), "kez", "kez9"));
  ASSERT_OK(db->Flush(FlushOptions()));
  check_all(db.get());

  const std::vector<std::function<std::string(size_t)>> contents = {
      [](size_t size) { return std::string(size, '\0'); },
      [](size_t size) { return std::string(size, '\xff'); },
      [](size_t size) { return Noise(size, size); },
      // One restart point at 0, as a small block has, behind entries that are none.
      [](size_t size) { return Noise(size, size - 8) + std::string("\0\0\0\0\1\0\0\0", 8); },
      [](size_t size) {
        return Repeated(std::string("\x01\x01\x01", 3), size - 8) +
               std::string("\0\0\0\0\1\0\0\0", 8);
      },
      [](size_t) { return std::string("x"); },
  };
  for (const auto& content : contents) {
    db.reset();
    cache_.reset();
    uint64_t changed = 0;
    ForEachSlot(path_, [&](uint64_t, Slot* slot, Encoding* encoding, std::string* block) {
      *block = content(slot->size);
      slot->size = static_cast<uint32_t>(block->size());
      encoding->raw_size = slot->size;
      changed++;
      return true;
    });
    ASSERT_GT(changed, 100u);
    open_db(&db);
    EXPECT_EQ(changed, Stats().recovered);
    check_all(db.get());
    EXPECT_GT(Stats().corrupt, changed * 9 / 10);
    const uint64_t corrupt = Stats().corrupt;
    const uint64_t hits = Stats().hits;
    check_all(db.get());
    EXPECT_EQ(corrupt, Stats().corrupt);
    EXPECT_GT(Stats().hits, hits + 100);
  }
  db.reset();
  cache_.reset();
  ASSERT_OK(DestroyDB(name, Options()));
}

// From now on every io_uring call of the process is refused, as a sandbox does that is closed after
// start.
void ForbidUring() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),  // the number of the system call
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SYS_io_uring_setup, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, SYS_io_uring_register, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    _exit(77);
  }
}

class UringTest : public FaultsTest {
 protected:
  // Ends the process: 0 if all were served, 1 if not, 77 if there can be no filter.
  void ServeAcross(bool submitted) {
    alarm(60);
    Open(";io=uring");
    Fill(0, 200);
    std::vector<std::unique_ptr<SecondaryCacheResultHandle>> handles;
    std::vector<SecondaryCacheResultHandle*> pending;
    TextContext context;
    for (uint64_t i = 0; i < 50; i++) {
      bool kept;
      handles.push_back(cache_->Lookup(Key(i), TextHelper(), &context, /*wait=*/false,
                                       /*advise_erase=*/false, nullptr, kept));
      pending.push_back(handles.back().get());
    }
    if (submitted) {
      handles[0]->IsReady();
    }
    ForbidUring();
    cache_->WaitAll(pending);
    bool all = true;
    for (uint64_t i = 0; i < 50; i++) {
      std::unique_ptr<std::string> value(static_cast<std::string*>(handles[i]->Value()));
      all &= value != nullptr && *value == Noise(i, 4000);
    }
    handles.clear();
    // The writer, new reads, and a thread that had no ring.
    Fill(200, 400);
    all &= Served(0, 400) == 400;
    std::thread other([&] {
      bool kept;
      auto handle = cache_->Lookup(Key(300), TextHelper(), &context, false, false, nullptr, kept);
      handle->Wait();
      std::unique_ptr<std::string> value(static_cast<std::string*>(handle->Value()));
      all &= value != nullptr && *value == Noise(300, 4000);
    });
    other.join();
    all &= cache_->GetPrintableOptions().find("io_in_use : pread") != std::string::npos;
    all &= Stats().io_errors == 0;
    cache_.reset();
    Remove();
    _exit(all ? 0 : 1);
  }

  void ExpectServed(bool submitted) {
    int error = 0;
    {
      const Descriptor file(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (Ring::Create(file.get(), &error) == nullptr) {
        ROCKSDB_GTEST_SKIP("no io_uring");
        return;
      }
    }
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(ServeAcross(submitted), testing::ExitedWithCode(0), "");
  }
};

TEST_F(UringTest, QueuedTransfersGoOnWhenItIsForbidden) { ExpectServed(/*submitted=*/false); }

TEST_F(UringTest, TransfersUnderWayEndWhenItIsForbidden) { ExpectServed(/*submitted=*/true); }

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
