// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A database whose block cache has a TwoQSecondaryCache behind it.

#include "rocksdb/db.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr uint64_t kKeys = 4000;

std::string UserKey(uint64_t i) {
  char text[20];
  snprintf(text, sizeof(text), "key%08d", static_cast<int>(i));
  return text;
}

std::string Value(uint64_t i, int generation = 0) { return Noise(i * 10 + generation, 500); }

// Kind of primary cache, storage.
class DbTest : public testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  DbTest() : name_(test::PerThreadDBPath("two_q_db")), path_(name_ + ".cache") {
    EXPECT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
  }
  ~DbTest() override {
    Close();
    EXPECT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }

  // A primary cache of 64 KB: nearly every block passes through the secondary one.
  Options MakeOptions(const std::string& more = "") {
    std::string uri = "id=TwoQSecondaryCache;capacity=8M;storage=" + std::string(GetParam().second);
    if (std::string(GetParam().second) == "file") {
      uri += ";carry=true;path=" + path_;
    }
    EXPECT_OK(SecondaryCache::CreateFromString(ConfigOptions(), uri + more, &secondary_));
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.cache_index_and_filter_blocks = true;
    if (std::string(GetParam().first) == "lru") {
      LRUCacheOptions primary;
      primary.capacity = 64 << 10;
      primary.num_shard_bits = 0;
      primary.secondary_cache = secondary_;
      table.block_cache = primary.MakeSharedCache();
    } else {
      HyperClockCacheOptions primary(64 << 10, /*_estimated_entry_charge=*/4096, 0);
      primary.secondary_cache = secondary_;
      table.block_cache = primary.MakeSharedCache();
    }
    Options options;
    options.create_if_missing = true;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    options.statistics = CreateDBStatistics();
    options.disable_auto_compactions = true;
    options.compression = kNoCompression;
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

  void Load(int generation = 0) {
    for (uint64_t i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Value(i, generation)));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }

  // Into an SST that no database has.
  std::string WriteSst() {
    const std::string sst = name_ + ".sst";
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_OK(writer.Open(sst));
    for (uint64_t i = 0; i < kKeys; i++) {
      EXPECT_OK(writer.Put(UserKey(i), Value(i)));
    }
    EXPECT_OK(writer.Finish());
    return sst;
  }

  void CheckAll(int generation = 0, ColumnFamilyHandle* family = nullptr) {
    std::string value;
    for (uint64_t i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Get(ReadOptions(), family != nullptr ? family : db_->DefaultColumnFamily(),
                         UserKey(i), &value));
      ASSERT_TRUE(Value(i, generation) == value);
    }
  }

  void ForceCompaction(ColumnFamilyHandle* family) {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(compact, family, nullptr, nullptr));
    AsOurs(secondary_)->TEST_WaitForCarry();
  }

  int FilesAt(int level) {
    std::string files;
    EXPECT_TRUE(db_->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &files));
    return atoi(files.c_str());
  }

  uint64_t Ticker(Tickers ticker) const { return options_.statistics->getTickerCount(ticker); }

  TwoQSecondaryCacheStats Stats() const {
    TwoQSecondaryCacheStats stats;
    EXPECT_OK(GetTwoQSecondaryCacheStats(secondary_.get(), &stats));
    return stats;
  }

  const std::string name_;
  const std::string path_;
  std::shared_ptr<SecondaryCache> secondary_;
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_P(DbTest, HitsAreCountedByTheStockTickers) {
  Open(MakeOptions());
  Load();
  CheckAll();
  CheckAll();
  EXPECT_GT(Ticker(SECONDARY_CACHE_HITS), kKeys / 20);
  EXPECT_GT(Ticker(SECONDARY_CACHE_DATA_HITS), kKeys / 20);
  EXPECT_EQ(Stats().hits, Ticker(SECONDARY_CACHE_HITS));
}

TEST_P(DbTest, MultiGetServesFromTheSecondaryCache) {
  Open(MakeOptions());
  Load();
  CheckAll();
  const uint64_t before = Ticker(SECONDARY_CACHE_HITS);
  for (const bool async : {false, true}) {
    ReadOptions read;
    read.async_io = async;
    for (uint64_t first = 0; first + 32 < kKeys; first += 97) {
      std::vector<std::string> keys;
      for (uint64_t i = 0; i < 32; i++) {
        keys.push_back(UserKey(first + i));
      }
      const std::vector<Slice> slices(keys.begin(), keys.end());
      std::vector<PinnableSlice> values(32);
      std::vector<Status> statuses(32);
      db_->MultiGet(read, db_->DefaultColumnFamily(), 32, slices.data(), values.data(),
                    statuses.data());
      for (uint64_t i = 0; i < 32; i++) {
        ASSERT_OK(statuses[i]);
        ASSERT_TRUE(Value(first + i) == values[i].ToString());
      }
    }
  }
  EXPECT_GT(Ticker(SECONDARY_CACHE_HITS), before);
}

TEST_P(DbTest, IteratorsReadThroughIt) {
  Open(MakeOptions());
  Load();
  for (int round = 0; round < 3; round++) {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    uint64_t i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      ASSERT_EQ(UserKey(i), it->key().ToString());
      ASSERT_TRUE(Value(i) == it->value().ToString());
      i++;
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(kKeys, i);
  }
  EXPECT_GT(Ticker(SECONDARY_CACHE_HITS), 0u);
}

TEST_P(DbTest, RestartServesFromTheFile) {
  if (std::string(GetParam().second) != "file") {
    return;  // DRAM forgets
  }
  Open(MakeOptions());
  Load();
  CheckAll();
  AsOurs(secondary_)->TEST_Drain();
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, 100u);
  Close();
  Open(MakeOptions());
  EXPECT_EQ(held, Stats().recovered);
  CheckAll();
  EXPECT_GT(Ticker(SECONDARY_CACHE_DATA_HITS), held * 8 / 10);
  EXPECT_EQ(0u, Stats().corrupt);
}

// A database made anew under the same name has the same file numbers, but other cache keys.
TEST_P(DbTest, AnotherDatabaseUnderTheSameNameIsNotMistaken) {
  Open(MakeOptions());
  Load(/*generation=*/0);
  CheckAll(/*generation=*/0);
  Close();
  ASSERT_OK(DestroyDB(name_, Options()));
  Open(MakeOptions());
  Load(/*generation=*/1);
  CheckAll(/*generation=*/1);
  CheckAll(/*generation=*/1);
}

TEST_P(DbTest, ListenerDropsBlocksOfCompactedFiles) {
  Options options = MakeOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  Open(options);
  Load(0);
  CheckAll(0);
  AsOurs(secondary_)->TEST_Drain();
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, 100u);
  Load(1);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_GE(Stats().erased_obsolete, held);
  const TwoQSecondaryCacheStats stats = Stats();
  EXPECT_LT(stats.blocks, held / 4 + stats.carried);  // new ones may have come in their place
  CheckAll(1);
  CheckAll(1);
  EXPECT_GT(Stats().blocks, held / 2);
}

TEST_P(DbTest, ListenerKeepsBlocksOfMovedFiles) {
  Options options = MakeOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  Open(options);
  Load(0);
  CheckAll(0);
  const uint64_t held = Stats().blocks;
  CompactRangeOptions move;
  move.bottommost_level_compaction = BottommostLevelCompaction::kSkip;
  ASSERT_OK(db_->CompactRange(move, nullptr, nullptr));
  ASSERT_EQ(0, FilesAt(0));
  EXPECT_EQ(0u, Stats().erased_obsolete);
  EXPECT_EQ(held, Stats().blocks);
}

// A move of universal compaction has the files of the level that it moves to as inputs, too.
TEST_P(DbTest, ListenerKeepsBlocksOfFilesWhereOthersAreMovedTo) {
  Options options = MakeOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  options.disable_auto_compactions = false;
  options.compaction_style = kCompactionStyleUniversal;
  options.num_levels = 4;
  options.level0_file_num_compaction_trigger = 2;
  options.compaction_options_universal.allow_trivial_move = true;
  options.compaction_options_universal.max_size_amplification_percent = 1;
  Open(options);
  const auto load = [&](uint64_t first) {
    for (uint64_t i = first; i < first + kKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Value(i)));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  };
  load(0);
  load(kKeys);
  ASSERT_EQ(2, FilesAt(3));
  CheckAll();
  AsOurs(secondary_)->TEST_Drain();
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, 100u);
  load(2 * kKeys);
  ASSERT_EQ(3, FilesAt(3));
  EXPECT_EQ(0u, Stats().erased_obsolete);
  EXPECT_GE(Stats().blocks, held);
  const uint64_t hits = Ticker(SECONDARY_CACHE_DATA_HITS);
  CheckAll();
  EXPECT_GT(Ticker(SECONDARY_CACHE_DATA_HITS), hits + held / 2);
}

// An SST that was ingested into several families has the same keys in each.
TEST_P(DbTest, ListenerKeepsBlocksThatAnotherFamilyHas) {
  Options options = MakeOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  Open(options);
  ColumnFamilyHandle* compacted = nullptr;
  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options, "compacted", &compacted));
  ASSERT_OK(db_->CreateColumnFamily(options, "dropped", &dropped));
  const std::string sst = WriteSst();
  for (ColumnFamilyHandle* family : {db_->DefaultColumnFamily(), compacted, dropped}) {
    ASSERT_OK(db_->IngestExternalFile(family, {sst}, IngestExternalFileOptions()));
  }
  unlink(sst.c_str());
  CheckAll();
  AsOurs(secondary_)->TEST_Drain();
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, 100u);
  ForceCompaction(compacted);
  ASSERT_OK(db_->DropColumnFamily(dropped));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(dropped));
  EXPECT_EQ(0u, Stats().erased_obsolete);
  const uint64_t hits = Ticker(SECONDARY_CACHE_DATA_HITS);
  CheckAll();
  EXPECT_GT(Ticker(SECONDARY_CACHE_DATA_HITS), hits + held / 2);
  ForceCompaction(db_->DefaultColumnFamily());
  EXPECT_GE(Stats().erased_obsolete, held);
  CheckAll(0, compacted);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(compacted));
}

#if ROCKSDB_MAJOR >= 11
// Holds up each compaction until the cache has read what it reads at its beginning.
class BeginListener : public EventListener {
 public:
  const char* Name() const override { return "BeginListener"; }
  void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) override { usleep(50000); }
};

// A change of the temperature that copies an SST byte for byte: the copy has the same keys.
TEST_P(DbTest, ListenerKeepsBlocksOfCopiedFiles) {
  Options options = MakeOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  options.listeners.push_back(std::make_shared<BeginListener>());
  Open(options);
  ColumnFamilyOptions cold(options);
  cold.disable_auto_compactions = false;
  cold.compaction_style = kCompactionStyleFIFO;
  cold.num_levels = 1;
  cold.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kCold, 1}};
  cold.compaction_options_fifo.allow_trivial_copy_when_change_temperature = true;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(cold, "cold", &family));
  for (uint64_t i = 0; i < kKeys; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), family, UserKey(i), Value(i)));
  }
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  CheckAll(0, family);
  AsOurs(secondary_)->TEST_Drain();
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, 100u);
  usleep(2500000);  // its age
  ASSERT_OK(db_->Put(WriteOptions(), family, UserKey(kKeys), "later"));
  ASSERT_OK(db_->Flush(FlushOptions(), family));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family, &metadata);
  ASSERT_EQ(2u, metadata.levels[0].files.size());
  ASSERT_EQ(Temperature::kCold, metadata.levels[0].files.back().temperature);
  AsOurs(secondary_)->TEST_WaitForCarry();
  EXPECT_EQ(0u, Stats().erased_obsolete);
  EXPECT_EQ(0u, Stats().carry_failed);
  const uint64_t hits = Ticker(SECONDARY_CACHE_DATA_HITS);
  CheckAll(0, family);
  EXPECT_GT(Ticker(SECONDARY_CACHE_DATA_HITS), hits + held / 2);
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_GE(Stats().erased_obsolete, held);
}
#endif

// Deleted without a compaction: by DeleteFilesInRange, after an ingestion.
TEST_P(DbTest, ListenerDropsBlocksOfDeletedFiles) {
  Options options = MakeOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  Open(options);
  IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ASSERT_OK(db_->IngestExternalFile({WriteSst()}, ingest));
  CheckAll();
  AsOurs(secondary_)->TEST_Drain();
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, 100u);
  ASSERT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr));
  EXPECT_GE(Stats().erased_obsolete, held);
}

TEST_P(DbTest, ListenerComesByName) {
  DBOptions options;
  ASSERT_OK(GetDBOptionsFromString(ConfigOptions(), DBOptions(),
                                   "listeners=TwoQSecondaryCacheListener", &options));
  ASSERT_EQ(1u, options.listeners.size());
  EXPECT_STREQ("TwoQSecondaryCacheListener", options.listeners[0]->Name());
}

INSTANTIATE_TEST_CASE_P(Caches, DbTest,
                        testing::Values(std::make_pair("lru", "dram"),
                                        std::make_pair("lru", "file"),
                                        std::make_pair("hyper", "dram"),
                                        std::make_pair("hyper", "file")));

// Values of blob files: some 8 KB each, unless said otherwise, in blob files of 400 KB.
class BlobTest : public DbTest {
 protected:
  static constexpr uint64_t kBlobs = 300;
  static constexpr size_t kBlobBytes = 8 << 10;

  // The blob cache has the secondary cache behind it, the block cache has none.
  Options MakeBlobOptions() {
    Options options = MakeOptions();
    options.enable_blob_files = true;
    options.min_blob_size = 1000;
    options.blob_file_size = 400 << 10;
    auto* tables = options.table_factory->GetOptions<BlockBasedTableOptions>();
    options.blob_cache = tables->block_cache;
    tables->block_cache = NewLRUCache(8 << 20);
    return options;
  }

  static std::string Blob(uint64_t i, int generation = 0) {
    return Noise(i * 10 + generation, kBlobBytes + i);
  }
  void LoadBlobs(int generation = 0) {
    for (uint64_t i = 0; i < kBlobs; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Blob(i, generation)));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  // Reads all values. Returns how many bytes of blob files that took.
  uint64_t ReadBlobs(int generation = 0) {
    const uint64_t before = Ticker(BLOB_DB_BLOB_FILE_BYTES_READ);
    for (uint64_t i = 0; i < kBlobs; i++) {
      std::string value;
      EXPECT_OK(db_->Get(ReadOptions(), UserKey(i), &value));
      EXPECT_TRUE(Blob(i, generation) == value) << i;
    }
    AsOurs(secondary_)->TEST_Drain();
    return Ticker(BLOB_DB_BLOB_FILE_BYTES_READ) - before;
  }
  void ReadBlobsOften(int generation = 0) {
    for (int round = 0; round < 3; round++) {
      ReadBlobs(generation);
    }
  }
};

// The blob cache holds eight of them.
TEST_P(BlobTest, ServedAfterTheyHaveLeftTheBlobCache) {
  Open(MakeBlobOptions());
  LoadBlobs();
  EXPECT_GT(ReadBlobs(), kBlobs * kBlobBytes);
  ReadBlobsOften();
  const uint64_t hits = Stats().hits;
  EXPECT_LT(ReadBlobs(), kBlobs * kBlobBytes / 10);
  EXPECT_GT(Stats().hits, hits + kBlobs * 8 / 10);
  EXPECT_GT(Stats().usage, kBlobs * kBlobBytes * 8 / 10);
  EXPECT_EQ(Stats().hits, Ticker(SECONDARY_CACHE_HITS));
  EXPECT_EQ(0u, Ticker(SECONDARY_CACHE_DATA_HITS));
  EXPECT_EQ(0u, Stats().corrupt);
}

// By RocksDB's keys nobody could ask for a blob of an earlier session: it takes no room after a
// reopen. Blocks do.
TEST_P(BlobTest, BlobsAreNotFoundAfterAReopen) {
  if (std::string(GetParam().second) != "file") {
    return;  // DRAM forgets
  }
  Open(MakeBlobOptions());
  LoadBlobs();
  ReadBlobsOften();
  ASSERT_GT(Stats().blocks, kBlobs * 8 / 10);
  Close();
  Open(MakeBlobOptions());
  EXPECT_EQ(0u, Stats().recovered);
  EXPECT_EQ(0u, Stats().blocks);
  EXPECT_GT(ReadBlobs(), kBlobs * kBlobBytes);
  ReadBlobsOften();
  EXPECT_LT(ReadBlobs(), kBlobs * kBlobBytes / 10);
}

TEST_P(BlobTest, ListenerDropsValuesOfDeletedBlobFiles) {
  Options options = MakeBlobOptions();
  options.listeners.push_back(NewTwoQSecondaryCacheListener());
  options.enable_blob_garbage_collection = true;
  options.blob_garbage_collection_age_cutoff = 1.0;
  Open(options);
  LoadBlobs(0);
  ReadBlobsOften(0);
  const uint64_t held = Stats().blocks;
  ASSERT_GT(held, kBlobs * 8 / 10);
  LoadBlobs(1);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_GE(Stats().erased_obsolete, held);
  EXPECT_LT(Stats().blocks, held / 10);
  ReadBlobsOften(1);
  EXPECT_LT(ReadBlobs(1), kBlobs * kBlobBytes / 10);
}

// One secondary cache behind one cache for both, or behind one for each: no value is taken for a
// block, nor a block for a value.
TEST_P(BlobTest, BlocksAndBlobsInOneSecondaryCache) {
  for (const bool one : {true, false}) {
    Options options = MakeBlobOptions();
    auto* tables = options.table_factory->GetOptions<BlockBasedTableOptions>();
    tables->block_cache = options.blob_cache;
    if (!one) {
      LRUCacheOptions primary;
      primary.capacity = 64 << 10;
      primary.num_shard_bits = 0;
      primary.secondary_cache = secondary_;
      options.blob_cache = primary.MakeSharedCache();
    }
    Open(options);
    options = Options();                        // Close() closes the cache, too
    for (uint64_t i = kBlobs; i < 2000; i++) {  // in SSTs
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Value(i)));
    }
    LoadBlobs();
    for (int round = 0; round < 4; round++) {
      ReadBlobs();
      for (uint64_t i = kBlobs; i < 2000; i++) {
        std::string value;
        ASSERT_OK(db_->Get(ReadOptions(), UserKey(i), &value));
        ASSERT_TRUE(Value(i) == value) << i;
      }
    }
    const uint64_t data = Ticker(SECONDARY_CACHE_DATA_HITS);
    EXPECT_GT(data, 100u) << one;
    EXPECT_GT(Ticker(SECONDARY_CACHE_HITS), data + kBlobs) << one;
    EXPECT_LT(ReadBlobs(), kBlobs * kBlobBytes / 10) << one;
    const uint64_t blocks = Stats().blocks;
    Close();
    if (std::string(GetParam().second) == "file") {
      Open(MakeBlobOptions());
      EXPECT_GT(Stats().recovered, 0u) << one;  // blocks
      EXPECT_LE(Stats().recovered + kBlobs * 8 / 10, blocks) << one;
      Close();
    }
    ASSERT_OK(DestroyDB(name_, Options()));
    unlink(path_.c_str());
  }
}

// The largest that a file holds is an eighth of its capacity, here 1 MiB.
TEST_P(BlobTest, LargeValuesAreHeldUpToALimit) {
  if (std::string(GetParam().second) != "file") {
    return;
  }
  Options options = MakeBlobOptions();
  options.blob_cache->SetCapacity(2 << 20);
  Open(options);
  const std::vector<size_t> sizes = {900 << 10, 1100 << 10};
  for (uint64_t i = 0; i < 6; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Noise(i, sizes[i % 2])));
  }
  ASSERT_OK(db_->Flush(FlushOptions()));
  for (int round = 0; round < 5; round++) {
    for (uint64_t i = 0; i < 6; i++) {
      std::string value;
      ASSERT_OK(db_->Get(ReadOptions(), UserKey(i), &value));
      ASSERT_TRUE(Noise(i, sizes[i % 2]) == value) << i;
      AsOurs(secondary_)->TEST_Drain();
    }
  }
  EXPECT_GT(Stats().hits, 0u);
  EXPECT_GT(Stats().dropped, 0u);
  EXPECT_LE(Stats().blocks, 3u);
}

// As db_bench and the OPTIONS file of an operator name them.
TEST_P(BlobTest, BlobCacheComesByName) {
  const std::string uri = std::string(GetParam().first) + "+2q://capacity=64K;secondary_cache={" +
                          "capacity=8M;storage=" + GetParam().second +
                          (std::string(GetParam().second) == "file" ? ";path=" + path_ : "") + "}";
  ColumnFamilyOptions family;
  ASSERT_OK(GetColumnFamilyOptionsFromString(
      ConfigOptions(), ColumnFamilyOptions(),
      "enable_blob_files=true;min_blob_size=1000;compression=kNoCompression;blob_cache={id={" +
          uri + "}}",
      &family));
  ASSERT_NE(nullptr, family.blob_cache);
  Options options(DBOptions(), family);
  options.create_if_missing = true;
  options.statistics = CreateDBStatistics();
  secondary_ = NewCache("capacity=1M");  // not the one in use
  Open(options);
  LoadBlobs();
  ReadBlobs();
  ReadBlobsOften();
  EXPECT_GT(Ticker(SECONDARY_CACHE_HITS), kBlobs);
}

INSTANTIATE_TEST_CASE_P(Caches, BlobTest,
                        testing::Values(std::make_pair("lru", "dram"),
                                        std::make_pair("lru", "file"),
                                        std::make_pair("hyper", "dram"),
                                        std::make_pair("hyper", "file")));

// Below a CompressedSecondaryCache: NewTieredCache sends compressed blocks by InsertSaved.
TEST(TieredCacheTest, AsTheLowerSecondaryCache) {
  const std::string name = test::PerThreadDBPath("two_q_tiered_db");
  const std::string path = name + ".cache";
  ASSERT_OK(DestroyDB(name, Options()));
  for (const std::string& storage : {std::string("dram"), "file;path=" + path}) {
    LRUCacheOptions primary;
    primary.num_shard_bits = 0;
    TieredCacheOptions tiered;
    tiered.cache_opts = &primary;
    tiered.cache_type = PrimaryCacheType::kCacheTypeLRU;
    tiered.adm_policy = TieredAdmissionPolicy::kAdmPolicyThreeQueue;
    tiered.total_capacity = 256 << 10;
    tiered.compressed_secondary_ratio = 0.3;
    tiered.comp_cache_opts.compression_type = kLZ4Compression;
    tiered.nvm_sec_cache = NewCache("capacity=8M;storage=" + storage);
    BlockBasedTableOptions table;
    table.block_cache = NewTieredCache(tiered);
    ASSERT_NE(nullptr, table.block_cache);
    Options options;
    options.create_if_missing = true;
    options.compression = kLZ4Compression;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options, name, &db));
    for (uint64_t i = 0; i < kKeys; i++) {
      ASSERT_OK(db->Put(WriteOptions(), UserKey(i), std::string(200, 'v') + Value(i)));
    }
    ASSERT_OK(db->Flush(FlushOptions()));
    std::string value;
    for (int round = 0; round < 3; round++) {
      for (uint64_t i = 0; i < kKeys; i++) {
        ASSERT_OK(db->Get(ReadOptions(), UserKey(i), &value));
        ASSERT_EQ(std::string(200, 'v') + Value(i), value);
      }
    }
    TwoQSecondaryCacheStats stats;
    ASSERT_OK(GetTwoQSecondaryCacheStats(tiered.nvm_sec_cache.get(), &stats));
    EXPECT_GT(stats.hits, 100u) << storage;
    db.reset();
    options = Options();
    table = BlockBasedTableOptions();
    tiered = TieredCacheOptions();
    ASSERT_OK(DestroyDB(name, Options()));
  }
  unlink(path.c_str());
  unlink((path + ".lock").c_str());
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
