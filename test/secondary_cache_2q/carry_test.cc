// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Databases whose blocks survive compactions.

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "test/secondary_cache_2q/recording_cache.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/open_db.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr uint64_t kKeys = 8000;
constexpr uint64_t kHotStep = 40;  // each is in another block
constexpr uint64_t kHot = kKeys / kHotStep;

std::string UserKey(uint64_t i) {
  char text[20];
  snprintf(text, sizeof(text), "key%08d", static_cast<int>(i));
  return text;
}

std::string Value(uint64_t i, int generation) { return Noise(i * 10 + generation, 500 + i % 40); }

class CarryTest : public testing::Test {
 protected:
  CarryTest() : name_(test::PerThreadDBPath("two_q_carry")), path_(name_ + ".cache") {
    EXPECT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
  }
  ~CarryTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    Close();
    EXPECT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  // A block cache of 64 KB, and a file that holds all.
  Options MakeOptions(const std::string& more = "") {
    secondary_ = NewCache("capacity=16M;storage=file;carry=true;path=" + path_ + more);
    LRUCacheOptions primary;
    primary.capacity = 64 << 10;
    primary.num_shard_bits = 0;
    primary.secondary_cache = secondary_;
    BlockBasedTableOptions table;
    table.block_cache = primary.MakeSharedCache();
    Options options;
    options.create_if_missing = true;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    options.statistics = CreateDBStatistics();
    options.disable_auto_compactions = true;
    options.compression = kNoCompression;
    options.listeners.push_back(NewTwoQSecondaryCacheListener());
    return options;
  }

  void Open(const Options& options) {
    options_ = options;
    ASSERT_OK(OpenDb(options, name_, &db_));
  }

  void Close() {
    db_.reset();
    options_ = Options();
    secondary_.reset();
  }

  // Each `step`-th key.
  void Load(int generation, uint64_t first = 0, uint64_t step = 1) {
    for (uint64_t i = first; i < kKeys; i += step) {
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Value(i, generation)));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }

  void Compact(ColumnFamilyHandle* family = nullptr) {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
    ASSERT_OK(db_->CompactRange(compact, family != nullptr ? family : db_->DefaultColumnFamily(),
                                nullptr, nullptr));
    AsOurs(secondary_)->TEST_WaitForCarry();
    AsOurs(secondary_)->TEST_Drain();
  }

  // Reads the hot keys. Returns how many blocks the cache served.
  uint64_t ReadHot(int generation = 0) {
    const uint64_t before = Ticker(SECONDARY_CACHE_DATA_HITS);
    for (uint64_t i = 0; i < kKeys; i += kHotStep) {
      std::string value;
      EXPECT_OK(db_->Get(ReadOptions(), UserKey(i), &value));
      EXPECT_TRUE(Value(i, generation) == value) << i;
    }
    AsOurs(secondary_)->TEST_Drain();
    return Ticker(SECONDARY_CACHE_DATA_HITS) - before;
  }
  void Warm() {
    for (int round = 0; round < 3; round++) {
      ReadHot();
    }
  }

  // With the hot blocks in the cache, and an SST to compact with theirs.
  void OpenWarm(const Options& options) {
    Open(options);
    Load(0);
    Warm();
    Load(1, 1, kHotStep);
  }

  uint64_t Ticker(Tickers ticker) const { return options_.statistics->getTickerCount(ticker); }

  TwoQSecondaryCacheStats Stats() const {
    TwoQSecondaryCacheStats stats;
    EXPECT_OK(GetTwoQSecondaryCacheStats(secondary_.get(), &stats));
    return stats;
  }

  std::vector<std::string> Paths() {
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    std::vector<std::string> paths;
    for (const LiveFileMetaData& file : files) {
      paths.push_back(file.db_path + file.name);
    }
    return paths;
  }

  // Compares what the cache has of the SSTs with what RocksDB would offer. Returns the number of
  // blocks.
  uint64_t CheckBlocks() {
    uint64_t held = 0;
    for (const std::string& path : Paths()) {
      for (const auto& [key, block] : OfferedBlocks(path)) {
        const std::string bytes = Get(secondary_.get(), key);
        if (bytes != "<none>") {
          EXPECT_EQ(CacheEntryRole::kDataBlock, block.role);
          EXPECT_TRUE(bytes == block.bytes);
          held++;
        }
      }
    }
    return held;
  }

  RecordingCache::Blocks OfferedBlocks(const std::string& path) const {
    auto recorded = std::make_shared<RecordingCache>();
    LRUCacheOptions primary;
    primary.capacity = 64 << 10;
    primary.num_shard_bits = 0;
    primary.secondary_cache = recorded;
    BlockBasedTableOptions table;
    table.block_cache = primary.MakeSharedCache();
    Options options;
    options.comparator = options_.comparator;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    SstFileReader reader(options);
    EXPECT_OK(reader.Open(path));
    std::unique_ptr<Iterator> it(reader.NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    EXPECT_OK(it->status());
    it.reset();
    table.block_cache->SetCapacity(0);
    return recorded->inserted;
  }

  const std::string name_;
  const std::string path_;
  std::shared_ptr<SecondaryCache> secondary_;
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_F(CarryTest, HotBlocksAreServedAfterACompaction) {
  for (const bool carry : {true, false}) {
    Open(MakeOptions(carry ? "" : ";carry=false"));
    Load(0);
    Warm();
    const uint64_t held = Stats().blocks;
    EXPECT_GE(held, kHot * 9 / 10);
    Load(1, /*first=*/1, kHotStep);  // other keys, of the same blocks
    Compact();
    if (carry) {
      EXPECT_GE(Stats().carried, held * 9 / 10);
      EXPECT_LE(Stats().carried, held * 13 / 10);
      EXPECT_GT(Stats().carry_read_bytes, Stats().carried * 3000);
      EXPECT_EQ(Stats().carried, CheckBlocks());
      EXPECT_GE(ReadHot(), kHot * 7 / 10);
    } else {
      EXPECT_EQ(0u, Stats().carried);
      EXPECT_EQ(0u, Stats().carry_read_bytes);
      EXPECT_EQ(0u, ReadHot());
    }
    EXPECT_EQ(0u, Stats().carry_failed);
    EXPECT_EQ(0u, Stats().carry_dropped);
    Close();
    ASSERT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
  }
}

// What was carried may be carried again, and does not become more.
TEST_F(CarryTest, ManyCompactions) {
  Open(MakeOptions());
  Load(0);
  Warm();
  const uint64_t held = Stats().blocks;
  for (int round = 1; round < 10; round++) {
    Load(round, /*first=*/static_cast<uint64_t>(round), kHotStep);
    Compact();
  }
  EXPECT_GE(Stats().blocks, held * 7 / 10);
  EXPECT_LE(Stats().blocks, held * 13 / 10);
  EXPECT_EQ(Stats().blocks, CheckBlocks());
  ReadHot();
}

// The next compaction begins, and ends, before what the last one left is carried.
TEST_F(CarryTest, CompactionsThatFollowEachOther) {
  Open(MakeOptions());
  Load(0);
  Warm();
  const uint64_t held = Stats().blocks;
  std::atomic<bool> held_up{true};
  SyncPoint::GetInstance()->SetCallBack("TwoQCarrier::Open", [&](void*) {
    for (int i = 0; i < 2000 && held_up; i++) {
      usleep(1000);
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  for (int round = 1; round < 4; round++) {
    Load(round, /*first=*/static_cast<uint64_t>(round), kHotStep);
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  }
  held_up = false;
  AsOurs(secondary_)->TEST_WaitForCarry();
  AsOurs(secondary_)->TEST_Drain();
  EXPECT_GE(CheckBlocks(), held * 7 / 10);
  EXPECT_LE(Stats().blocks, held * 13 / 10);
  EXPECT_GE(ReadHot(), kHot * 7 / 10);
}

// Holds up the end of a compaction, for those that come behind it in the list of listeners.
class SlowListener : public EventListener {
 public:
  const char* Name() const override { return "SlowListener"; }
  void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) override {
    completed++;
    rocktier::WaitFor([&] { return !slow; });
  }
  std::atomic<bool> slow{true};
  std::atomic<int> completed{0};
};

class BeginListener : public EventListener {
 public:
  const char* Name() const override { return "BeginListener"; }
  void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) override {
    begun++;
    usleep(50000);  // so that what is told before is done
  }
  std::atomic<int> begun{0};
};

// The next compaction begins when the files are there, before the end of the last one is told.
TEST_F(CarryTest, TheEndOfACompactionIsToldLate) {
  Options options = MakeOptions();
  const auto slow = std::make_shared<SlowListener>();
  const auto begin = std::make_shared<BeginListener>();
  options.listeners.insert(options.listeners.begin(), slow);
  options.listeners.push_back(begin);
  options.max_background_jobs = 4;
  Open(options);
  Load(0);
  Warm();
  const uint64_t held = Stats().blocks;
  Load(1, 1, kHotStep);
  std::atomic<bool> held_up{true};
  SyncPoint::GetInstance()->SetCallBack(
      "TwoQCarrier::Open", [&](void*) { rocktier::WaitFor([&] { return !held_up; }); });
  SyncPoint::GetInstance()->EnableProcessing();
  CompactRangeOptions compact;
  compact.exclusive_manual_compaction = false;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  std::thread first([&] { EXPECT_OK(db_->CompactRange(compact, nullptr, nullptr)); });
  EXPECT_TRUE(rocktier::WaitFor([&] { return slow->completed > 0; }));
  const int begun = begin->begun;
  std::thread second([&] { EXPECT_OK(db_->CompactRange(compact, nullptr, nullptr)); });
  EXPECT_TRUE(rocktier::WaitFor([&] { return begin->begun > begun; }));
  slow->slow = false;
  first.join();
  second.join();
  held_up = false;
  AsOurs(secondary_)->TEST_WaitForCarry();
  AsOurs(secondary_)->TEST_Drain();
  EXPECT_GE(CheckBlocks(), held * 7 / 10);
  EXPECT_GE(ReadHot(), kHot * 7 / 10);
}

TEST_F(CarryTest, OtherFormsOfSsts) {
  using Table = BlockBasedTableOptions;
  const std::vector<std::string> forms = {"two levels", "lz4", "zstd", "cache lz4"};
  for (const std::string& form : forms) {
    SCOPED_TRACE(form);
    Options options = MakeOptions(form == "cache lz4" ? ";compression=lz4" : "");
    auto* table = options.table_factory->GetOptions<Table>();
    if (form == "two levels") {
      table->index_type = Table::kTwoLevelIndexSearch;
      table->metadata_block_size = 512;
    } else if (form == "lz4") {
      options.compression = kLZ4Compression;
    } else if (form == "zstd") {
      options.compression = kZSTD;
      options.compression_opts.max_dict_bytes = 4096;
    }
    Open(options);
    Load(0);
    Warm();
    Load(1, /*first=*/1, kHotStep);
    Compact();
    EXPECT_GE(Stats().carried, kHot * 8 / 10);
    EXPECT_GE(CheckBlocks(), kHot * 8 / 10);
    EXPECT_GE(ReadHot(), kHot * 7 / 10);
    options = Options();
    Close();
    ASSERT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
  }
}

// Values that were overwritten are new content, and deleted ones are gone.
TEST_F(CarryTest, WhatIsServedIsNew) {
  Open(MakeOptions());
  Load(0);
  Warm();
  Load(1, 0, kHotStep);
  Compact();
  EXPECT_GT(Stats().carried, kHot / 2);
  EXPECT_GE(ReadHot(/*generation=*/1), kHot * 7 / 10);
  for (uint64_t i = 0; i < kKeys; i += kHotStep) {
    ASSERT_OK(db_->Delete(WriteOptions(), UserKey(i)));
  }
  Compact();
  for (uint64_t i = 0; i < kKeys; i++) {
    std::string value;
    Status s = db_->Get(ReadOptions(), UserKey(i), &value);
    ASSERT_TRUE(i % kHotStep == 0 ? s.IsNotFound() : s.ok());
    ASSERT_TRUE(!s.ok() || value == Value(i, 0));
  }
}

TEST_F(CarryTest, AMovedFileIsLeftAlone) {
  Options options = MakeOptions();
  options.listeners.push_back(std::make_shared<BeginListener>());
  Open(options);
  Load(0);
  Warm();
  const uint64_t held = Stats().blocks;
  CompactRangeOptions move;
  move.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
  ASSERT_OK(db_->CompactRange(move, nullptr, nullptr));
  AsOurs(secondary_)->TEST_WaitForCarry();
  EXPECT_EQ(held, Stats().blocks);
  EXPECT_EQ(0u, Stats().carried);
  EXPECT_EQ(0u, Stats().carry_read_bytes);
  Load(1, 1, kHotStep);
  Compact();
  EXPECT_GE(Stats().carried, held * 9 / 10);
}

TEST_F(CarryTest, IngestedFiles) {
  Open(MakeOptions());
  const std::string sst = name_ + ".sst";
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(sst));
  for (uint64_t i = 0; i < kKeys; i++) {
    ASSERT_OK(writer.Put(UserKey(i), Value(i, 0)));
  }
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ASSERT_OK(db_->IngestExternalFile({sst}, ingest));
  Warm();
  Load(1, 1, kHotStep);
  Compact();
  EXPECT_GE(Stats().carried, kHot * 8 / 10);
  EXPECT_GE(ReadHot(), kHot * 7 / 10);
}

// Blocks with references to blobs are carried, blobs are not.
TEST_F(CarryTest, BlobFiles) {
  Options options = MakeOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 520;
  OpenWarm(options);
  Compact();
  EXPECT_GE(Stats().carried, kHot * 8 / 10);
  EXPECT_EQ(0u, Stats().carry_failed);
  ReadHot();
}

TEST_F(CarryTest, FamiliesAndDatabasesShareACache) {
  const Options options = MakeOptions();
  Open(options);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options, "other", &family));
  const std::string second_name = name_ + ".second";
  ASSERT_OK(DestroyDB(second_name, Options()));
  std::unique_ptr<DB> second;
  ASSERT_OK(OpenDb(options, second_name, &second));
  const auto read = [&](DB* db, ColumnFamilyHandle* from) {
    const uint64_t before = Ticker(SECONDARY_CACHE_DATA_HITS);
    for (uint64_t i = 0; i < kKeys; i += kHotStep) {
      std::string value;
      EXPECT_OK(db->Get(ReadOptions(), from, UserKey(i), &value));
    }
    return Ticker(SECONDARY_CACHE_DATA_HITS) - before;
  };
  const auto load = [&](DB* db, ColumnFamilyHandle* into, uint64_t first, uint64_t step) {
    for (uint64_t i = first; i < kKeys; i += step) {
      ASSERT_OK(db->Put(WriteOptions(), into, UserKey(i), Value(i, 0)));
    }
    ASSERT_OK(db->Flush(FlushOptions(), into));
  };
  load(db_.get(), family, 0, 1);
  load(second.get(), second->DefaultColumnFamily(), 0, 1);
  for (int round = 0; round < 3; round++) {
    read(db_.get(), family);
    read(second.get(), second->DefaultColumnFamily());
  }
  load(db_.get(), family, 1, kHotStep);
  Compact(family);
  EXPECT_GE(read(db_.get(), family), kHot * 7 / 10);
  EXPECT_GE(read(second.get(), second->DefaultColumnFamily()), kHot * 9 / 10);
  EXPECT_LE(Stats().carried, kHot * 13 / 10);
  // Dropped while its blocks are carried.
  load(db_.get(), family, 2, kHotStep);
  std::atomic<bool> dropped{false};
  SyncPoint::GetInstance()->SetCallBack("TwoQCarrier::Open", [&](void*) {
    for (int i = 0; i < 1000 && !dropped; i++) {
      usleep(1000);
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  ASSERT_OK(db_->CompactRange(compact, family, nullptr, nullptr));
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  dropped = true;
  AsOurs(secondary_)->TEST_WaitForCarry();
  EXPECT_EQ(1u, Stats().carry_failed);
  EXPECT_GE(read(second.get(), second->DefaultColumnFamily()), kHot * 9 / 10);
  second.reset();
  ASSERT_OK(DestroyDB(second_name, Options()));
}

TEST_F(CarryTest, FilesThatAreGoneAreCounted) {
  Open(MakeOptions());
  Load(0);
  Warm();
  SyncPoint::GetInstance()->SetCallBack("TwoQCarrier::Open", [&](void*) {
    for (const std::string& path : Paths()) {
      EXPECT_EQ(0, unlink(path.c_str()));
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  Load(1, 1, kHotStep);
  Compact();
  EXPECT_EQ(1u, Stats().carry_failed);
  EXPECT_EQ(0u, Stats().carried);
  EXPECT_EQ(0u, Stats().blocks);
}

// One that nobody but the database knows.
class OtherOrder : public Comparator {
 public:
  const char* Name() const override { return "CarryTest.OtherOrder"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

TEST_F(CarryTest, AnUnknownComparatorIsCounted) {
  OtherOrder order;
  Options options = MakeOptions();
  options.comparator = &order;
  OpenWarm(options);
  Compact();
  EXPECT_EQ(0u, Stats().carried);
  EXPECT_GE(Stats().carry_failed, 1u);
  ReadHot();
  Close();
}

class OwnFs : public FileSystemWrapper {
 public:
  explicit OwnFs(const std::shared_ptr<FileSystem>& target) : FileSystemWrapper(target) {}
  const char* Name() const override { return "CarryTest.OwnFs"; }
};

// Written before there were FileSystems: its FileSystem uses the Env, and does not keep it alive.
TEST_F(CarryTest, AFileSystemOverAnOldEnvIsNotUsed) {
  EnvWrapper old(Env::Default());
  const std::unique_ptr<Env> env = NewCompositeEnv(std::make_shared<OwnFs>(old.GetFileSystem()));
  Options options = MakeOptions();
  options.env = env.get();
  OpenWarm(options);
  Compact();
  EXPECT_EQ(0u, Stats().carried);
  EXPECT_EQ(0u, Stats().carry_read_bytes);
  EXPECT_GE(Stats().carry_failed, 1u);
  Close();
}

TEST_F(CarryTest, AFileSystemGoesWithADatabaseClosedInTheMidstOfACompaction) {
  auto fs = std::make_shared<OwnFs>(FileSystem::Default());
  const std::weak_ptr<OwnFs> gone = fs;
  std::unique_ptr<Env> env = NewCompositeEnv(fs);
  fs.reset();
  Options options = MakeOptions();
  options.env = env.get();
  OpenWarm(options);
  SyncPoint::GetInstance()->SetCallBack(
      "DBImpl::BackgroundCompaction:NonTrivial:BeforeRun",
      [&](void*) { CancelAllBackgroundWork(db_.get(), /*wait=*/false); });
  SyncPoint::GetInstance()->EnableProcessing();
  EXPECT_NOK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  db_.reset();
  options_.env = options.env = Env::Default();
  env.reset();
  EXPECT_TRUE(rocktier::WaitFor([&] { return gone.expired(); }));
  EXPECT_GT(Stats().carry_read_bytes, 0u);
}

// The FileSystem lives on.
TEST_F(CarryTest, NothingMoreIsReadOfAClosedDatabase) {
  OpenWarm(MakeOptions());
  std::atomic<bool> closed{false};
  SyncPoint::GetInstance()->SetCallBack(
      "TwoQCarrier::Open", [&](void*) { rocktier::WaitFor([&] { return closed.load(); }); });
  SyncPoint::GetInstance()->EnableProcessing();
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
  db_.reset();
  closed = true;
  AsOurs(secondary_)->TEST_WaitForCarry();
  EXPECT_EQ(0u, Stats().carried);
  EXPECT_EQ(1u, Stats().carry_failed);
}

// The database, its files and the cache go away in the midst of it.
TEST_F(CarryTest, MayEndAtAnyMoment) {
  const std::vector<std::string> points = {"TwoQCarrier::ReadIndex", "TwoQCarrier::Open",
                                           "TwoQCarrier::Wait"};
  for (int round = 0; round < 24; round++) {
    OpenWarm(MakeOptions());
    std::atomic<int> passed{0};
    const int stop_at = round / 6 * 20;  // times that it comes by
    for (const std::string& point : points) {
      SyncPoint::GetInstance()->SetCallBack(point, [&](void*) {
        if (passed++ >= stop_at) {
          usleep(3000);
        }
      });
    }
    SyncPoint::GetInstance()->EnableProcessing();
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
    ASSERT_OK(db_->CompactRange(compact, nullptr, nullptr));
    usleep(static_cast<useconds_t>(round % 6) * 2000);
    db_.reset();
    if (round % 2 == 0) {
      EXPECT_OK(DestroyDB(name_, Options()));
    }
    Close();  // the cache, too
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    Open(MakeOptions());  // what was carried is there again
    if (round % 2 != 0) {
      CheckBlocks();
      ReadHot();
    }
    EXPECT_EQ(0u, Stats().corrupt);
    Close();
    EXPECT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
  }
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
