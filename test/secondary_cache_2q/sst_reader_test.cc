// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is carried, against what RocksDB offers a secondary cache: for many formats of SSTs.

#include "plugin/secondary_cache_2q/sst_reader.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/secondary_cache_2q/block_form.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/object_registry.h"
#include "test/secondary_cache_2q/recording_cache.h"
#include "test/secondary_cache_2q/support.h"
#include "test/support/open_db.h"
#include "test_util/testharness.h"
#include "utilities/merge_operators.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

constexpr uint64_t kKeys = 3000;
constexpr size_t kMostOpen = 100;

std::string UserKey(uint64_t i) {
  char text[20];
  snprintf(text, sizeof(text), "key%08d", static_cast<int>(i));
  return text;
}

std::string Value(uint64_t i) { return std::string(60, 'v') + Noise(i, 40 + i % 120); }

struct Format {
  const char* name;
  std::function<void(Options*, BlockBasedTableOptions*)> set;
};

const std::vector<Format>& Formats() {
  using Table = BlockBasedTableOptions;
  static const std::vector<Format> formats = {
    {"default", [](Options*, Table*) {}},
    {"no_delta_of_values", [](Options*, Table* t) { t->format_version = 3; }},
    {"old", [](Options*, Table* t) { t->format_version = 2; }},
    {"context_checksum", [](Options*, Table* t) { t->format_version = 6; }},
    {"two_levels",
     [](Options*, Table* t) {
       t->index_type = Table::kTwoLevelIndexSearch;
       t->metadata_block_size = 256;
       t->partition_filters = true;
     }},
    {"two_levels_without_delta",
     [](Options*, Table* t) {
       t->index_type = Table::kTwoLevelIndexSearch;
       t->metadata_block_size = 256;
       t->format_version = 3;
     }},
    {"first_keys", [](Options*, Table* t) { t->index_type = Table::kBinarySearchWithFirstKey; }},
    {"first_keys_without_delta",
     [](Options*, Table* t) {
       t->index_type = Table::kBinarySearchWithFirstKey;
       t->format_version = 3;
     }},
    {"hash_index",
     [](Options* o, Table* t) {
       t->index_type = Table::kHashSearch;
       o->prefix_extractor.reset(NewFixedPrefixTransform(8));
     }},
    {"hash_in_blocks",
     [](Options*, Table* t) { t->data_block_index_type = Table::kDataBlockBinaryAndHash; }},
    {"restarts_in_index", [](Options*, Table* t) { t->index_block_restart_interval = 7; }},
    {"whole_separators",
     [](Options*, Table* t) { t->index_shortening = Table::IndexShorteningMode::kNoShortening; }},
    {"short_successor",
     [](Options*, Table* t) {
       t->index_shortening = Table::IndexShorteningMode::kShortenSeparatorsAndSuccessor;
     }},
    {"aligned",
     [](Options*, Table* t) {
       t->block_align = true;
       t->block_size = 1024;
     }},
    {"plain_index", [](Options*, Table* t) { t->enable_index_compression = false; }},
    {"no_checksum", [](Options*, Table* t) { t->checksum = kNoChecksum; }},
    {"crc32c", [](Options*, Table* t) { t->checksum = kCRC32c; }},
    {"no_delta_of_keys", [](Options*, Table* t) { t->use_delta_encoding = false; }},
    {"lz4", [](Options* o, Table*) { o->compression = kLZ4Compression; }},
    {"zstd_dictionary",
     [](Options* o, Table*) {
       o->compression = kZSTD;
       o->compression_opts.max_dict_bytes = 4096;
       o->compression_opts.zstd_max_train_bytes = 100 * 4096;
     }},
    {"direct_io",
     [](Options* o, Table*) {
       o->use_direct_reads = true;
       o->use_direct_io_for_flush_and_compaction = true;
     }},
    {"reverse", [](Options* o, Table*) { o->comparator = ReverseBytewiseComparator(); }},
    {"protected", [](Options* o, Table*) { o->block_protection_bytes_per_key = 8; }},
#if ROCKSDB_MAJOR >= 11
    {"separate_values", [](Options*, Table* t) { t->separate_key_value_in_data_block = true; }},
#endif
  };
  return formats;
}

class SstReaderTest : public testing::Test {
 protected:
  SstReaderTest() : name_(test::PerThreadDBPath("two_q_sst_reader")) {
    EXPECT_OK(DestroyDB(name_, Options()));
  }
  ~SstReaderTest() override {
    db_.reset();
    EXPECT_OK(DestroyDB(name_, Options()));
  }

  // All that leaves the block cache is recorded.
  void Open(const Format& format, const std::shared_ptr<Cache>& block_cache) {
    BlockBasedTableOptions table;
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.block_size = 1000;
    table.block_cache = block_cache;
    table.cache_index_and_filter_blocks = true;
    options_ = Options();
    options_.create_if_missing = true;
    options_.disable_auto_compactions = true;
    options_.compression = kNoCompression;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    format.set(&options_, &table);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(OpenDb(options_, name_, &db_));
  }

  std::shared_ptr<Cache> RecordedCache() {
    recorded_ = std::make_shared<RecordingCache>();
    LRUCacheOptions primary;
    primary.capacity = 64 << 10;
    primary.num_shard_bits = 0;
    primary.secondary_cache = recorded_;
    return primary.MakeSharedCache();
  }

  // Deletions, operands and older versions, which an iterator does not show.
  void Load() {
    const Snapshot* snapshot = nullptr;
    for (uint64_t i = 0; i < kKeys; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Value(i)));
      if (i == kKeys / 2) {
        snapshot = db_->GetSnapshot();
      }
      if (i % 17 == 0) {
        ASSERT_OK(db_->Merge(WriteOptions(), UserKey(i), Value(i + 1)));
      }
    }
    for (uint64_t i = 0; i < kKeys / 3; i++) {
      ASSERT_OK(db_->Delete(WriteOptions(), UserKey(i)));
    }
    std::string begin = UserKey(kKeys - 9);
    std::string end = UserKey(kKeys - 1);
    if (options_.comparator->Compare(begin, end) > 0) {
      begin.swap(end);
    }
    ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), begin, end));
    ASSERT_OK(db_->Flush(FlushOptions()));
    db_->ReleaseSnapshot(snapshot);
  }

  void ReadAll() {
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    ASSERT_OK(it->status());
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

  SstReader::Source SourceOfDb() const {
    return {options_.env->GetFileSystem(), options_.comparator, {}};
  }

  static size_t DataBlocks(const RecordingCache::Blocks& blocks) {
    size_t count = 0;
    for (const auto& [key, block] : blocks) {
      count += block.role == CacheEntryRole::kDataBlock;
    }
    return count;
  }

  const std::string name_;
  Options options_;
  std::shared_ptr<RecordingCache> recorded_;
  std::unique_ptr<DB> db_;
};

// All keys of a block are within the bounds that the index gives.
void CheckKeys(const SstIndex& index, size_t block, const Slice& bytes,
               const Comparator& comparator) {
  DataBlockEntries entries(bytes);
  int keys = 0;
  for (; entries.Next(); keys++) {
    const int below = comparator.Compare(index.Below(block), entries.UserKey());
    ASSERT_LE(below, 0);
    ASSERT_GE(comparator.Compare(index.Separator(block), entries.UserKey()), 0);
  }
  ASSERT_GT(keys, 0);
}

TEST_F(SstReaderTest, BlocksAreThoseThatRocksDBOffers) {
  for (const Format& format : Formats()) {
    SCOPED_TRACE(format.name);
    const std::shared_ptr<Cache> block_cache = RecordedCache();
    Open(format, block_cache);
    Load();
    ReadAll();
    block_cache->SetCapacity(0);  // the rest leaves it
    const std::vector<std::string> paths = Paths();
    ASSERT_EQ(1u, paths.size());
    std::unique_ptr<SstReader> sst;
    ASSERT_OK(SstReader::Open(SourceOfDb(), paths[0], &sst));
    const SstIndex& index = sst->index();
    EXPECT_GT(index.size(), kMostOpen);
    EXPECT_EQ(DataBlocks(recorded_->inserted), index.size());
    for (size_t i = 0; i < index.size(); i++) {
      const size_t block = i * 37 % index.size();  // in another order
      const CaughtBlock* caught;
      ASSERT_OK(sst->Read(block, &caught)) << block;
      const auto it = recorded_->inserted.find(caught->key);
      ASSERT_TRUE(it != recorded_->inserted.end());
      ASSERT_EQ(CacheEntryRole::kDataBlock, it->second.role);
      ASSERT_TRUE(it->second.bytes == caught->bytes);
      CheckKeys(index, block, caught->bytes, *options_.comparator);
      ASSERT_EQ(block, index.Find(index.Offset(block) >> 2));
    }
    EXPECT_EQ(index.size(), index.Find(index.Offset(3) / 4 + 1));
    EXPECT_EQ(index.size(), index.Find(UINT64_MAX));
    sst.reset();
    db_.reset();
    ASSERT_OK(DestroyDB(name_, Options()));
  }
}

// Below a TieredSecondaryCache blocks come as they are in the SST.
TEST_F(SstReaderTest, CompressedBlocksAreThoseThatRocksDBOffers) {
  recorded_ = std::make_shared<RecordingCache>();
  LRUCacheOptions primary;
  primary.num_shard_bits = 0;
  TieredCacheOptions tiered;
  tiered.cache_opts = &primary;
  tiered.cache_type = PrimaryCacheType::kCacheTypeLRU;
  tiered.adm_policy = TieredAdmissionPolicy::kAdmPolicyThreeQueue;
  tiered.total_capacity = 256 << 10;
  tiered.compressed_secondary_ratio = 0.3;
  tiered.comp_cache_opts.compression_type = kLZ4Compression;
  tiered.nvm_sec_cache = recorded_;
  Open({"lz4", [](Options* o, BlockBasedTableOptions*) { o->compression = kLZ4Compression; }},
       NewTieredCache(tiered));
  Load();
  ReadAll();
  std::unique_ptr<SstReader> sst;
  ASSERT_OK(SstReader::Open(SourceOfDb(), Paths()[0], &sst));
  ASSERT_GT(recorded_->saved.size(), kMostOpen);
  size_t compressed = 0;
  for (size_t block = 0; block < sst->index().size(); block++) {
    const CaughtBlock* caught;
    ASSERT_OK(sst->Read(block, &caught));
    const auto it = recorded_->saved.find(caught->key);
    ASSERT_EQ(caught->compressed.empty(), it == recorded_->saved.end());
    if (!caught->compressed.empty()) {
      compressed++;
      EXPECT_TRUE(it->second.bytes == caught->compressed);
      EXPECT_EQ(it->second.type, caught->type);
    }
  }
  EXPECT_GT(compressed, kMostOpen);
}

// So many bytes of them, and two of any size.
TEST_F(SstReaderTest, LastBlocksAreKept) {
  for (const size_t size : {size_t{100} << 10, size_t{3} << 19}) {
    Open(Formats()[0], RecordedCache());
    for (uint64_t i = 0; i < 20; i++) {
      ASSERT_OK(db_->Put(WriteOptions(), UserKey(i), Noise(i, size)));
    }
    ASSERT_OK(db_->Flush(FlushOptions()));
    std::unique_ptr<SstReader> sst;
    ASSERT_OK(SstReader::Open(SourceOfDb(), Paths()[0], &sst));
    ASSERT_EQ(20u, sst->index().size());
    const auto reads = [&](size_t block) {
      const uint64_t before = sst->read_bytes();
      const CaughtBlock* caught;
      EXPECT_OK(sst->Read(block, &caught));
      return sst->read_bytes() > before;
    };
    for (size_t block = 1; block < 20; block++) {
      EXPECT_TRUE(reads(block));
      EXPECT_FALSE(reads(block));
      EXPECT_FALSE(reads(block - 1));
    }
    EXPECT_EQ(size > 1 << 20, reads(12));
    EXPECT_TRUE(reads(5));
    sst.reset();
    db_.reset();
    ASSERT_OK(DestroyDB(name_, Options()));
  }
}

// A user key that goes over blocks: those that begin with it cannot be told by user keys.
TEST_F(SstReaderTest, BlocksOfOneUserKeyAreNotReached) {
  Open(Formats()[0], RecordedCache());
  std::vector<const Snapshot*> snapshots;
  for (uint64_t i = 0; i < 30; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), "a", Noise(i, 900)));
    snapshots.push_back(db_->GetSnapshot());
  }
  ASSERT_OK(db_->Put(WriteOptions(), "b", Noise(1, 900)));
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::unique_ptr<SstReader> sst;
  ASSERT_OK(SstReader::Open(SourceOfDb(), Paths()[0], &sst));
  ASSERT_GT(sst->index().size(), 10u);
  const CaughtBlock* caught;
  EXPECT_OK(sst->Read(0, &caught));
  EXPECT_TRUE(sst->Read(5, &caught).IsNotFound());
  EXPECT_OK(sst->Read(sst->index().size() - 1, &caught));
  for (const Snapshot* snapshot : snapshots) {
    db_->ReleaseSnapshot(snapshot);
  }
}

TEST_F(SstReaderTest, WhatCannotBeReadIsAnError) {
  Open(Formats()[0], RecordedCache());
  Load();
  const std::string path = Paths()[0];
  std::unique_ptr<SstReader> sst;
  EXPECT_NOK(SstReader::Open(SourceOfDb(), path + ".none", &sst));
  std::string contents;
  ASSERT_OK(ReadFileToString(Env::Default(), path, &contents));
  ASSERT_OK(SstReader::Open(SourceOfDb(), path, &sst));
  const size_t damaged = static_cast<size_t>(sst->index().Offset(7)) + 20;
  contents[damaged] = static_cast<char>(contents[damaged] ^ 1);
  const std::string copy = name_ + "/copy.sst";
  ASSERT_OK(WriteStringToFile(Env::Default(), contents, copy));
  ASSERT_OK(SstReader::Open(SourceOfDb(), copy, &sst));
  const CaughtBlock* caught;
  EXPECT_OK(sst->Read(6, &caught));
  EXPECT_TRUE(sst->Read(7, &caught).IsCorruption());
  EXPECT_OK(sst->Read(8, &caught));
  ASSERT_OK(WriteStringToFile(Env::Default(), contents.substr(0, contents.size() - 100), copy));
  EXPECT_NOK(SstReader::Open(SourceOfDb(), copy, &sst));
}

// Nothing but range deletions.
TEST_F(SstReaderTest, AnSstWithoutBlocksHasNone) {
  Open(Formats()[0], RecordedCache());
  ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), "a", "b"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  std::unique_ptr<SstReader> sst;
  ASSERT_OK(SstReader::Open(SourceOfDb(), Paths()[0], &sst));
  EXPECT_EQ(0u, sst->index().size());
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
