// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Recipes of SSTs that RocksDB has made with all that can change their bytes.

#include <set>

#include "plugin/tiered_env/recipe/make.h"
#include "plugin/tiered_env/recipe/rebuild.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "test/tiered_env/recipe_support.h"
#include "test/tiered_env/scratch.h"
#include "test_util/testharness.h"
#include "util/crc32c.h"
#include "utilities/merge_operators.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// What is the same in the blocks of every case, unless it says something else.
const char kSmallBlocks[] = "block_size=700;filter_policy=bloomfilter:10:false;";

const char* const kTableOptions[] = {
    "",
    "block_restart_interval=1",
    "block_restart_interval=2",
    "block_restart_interval=7;block_size=5000",
    "block_restart_interval=1000",
    "block_size=1",
    "block_size=100000",
    "data_block_index_type=kDataBlockBinaryAndHash",
    "data_block_index_type=kDataBlockBinaryAndHash;block_restart_interval=1",
    "data_block_index_type=kDataBlockBinaryAndHash;block_size=100000",
    "index_type=kHashSearch",
    "index_type=kTwoLevelIndexSearch;metadata_block_size=300",
    "index_type=kTwoLevelIndexSearch;metadata_block_size=300;partition_filters=true",
    "index_type=kTwoLevelIndexSearch;metadata_block_size=300;partition_filters=true;"
    "decouple_partitioned_filters=true",
    "index_type=kBinarySearchWithFirstKey",
    "index_type=kBinarySearchWithFirstKey;index_block_restart_interval=16",
    "index_block_restart_interval=3",
    "index_type=kTwoLevelIndexSearch;index_block_restart_interval=16;metadata_block_size=300",
    "index_shortening=kNoShortening",
    "index_shortening=kShortenSeparatorsAndSuccessor",
    "enable_index_compression=false",
    "block_align=true;block_size=1024",
    "block_align=true;block_size=4096;index_type=kTwoLevelIndexSearch;metadata_block_size=300",
    "checksum=kNoChecksum",
    "checksum=kCRC32c",
    "checksum=kxxHash",
    "checksum=kxxHash64",
    "checksum=kXXH3",
    "use_delta_encoding=false",
    "use_delta_encoding=false;block_restart_interval=5",
    "filter_policy=ribbonfilter:10",
    "separate_key_value_in_data_block=true",
    "separate_key_value_in_data_block=true;block_restart_interval=1",
    "separate_key_value_in_data_block=true;use_delta_encoding=false",
    "separate_key_value_in_data_block=true;data_block_index_type=kDataBlockBinaryAndHash",
    "super_block_alignment_size=8192;super_block_alignment_space_overhead_ratio=4",
    "uniform_cv_threshold=1000",
};

class RecipeTest : public testing::Test {
 protected:
  RecipeTest() : seed_(NewSeed()), random_(seed_) {}

  uint64_t Some(uint64_t n) { return random_() % n; }
  std::string Bytes(size_t size) {
    std::string bytes(size, 0);
    for (char& c : bytes) {
      c = static_cast<char>(random_());
    }
    return bytes;
  }
  static std::string Key(uint64_t n) {
    char key[32];
    snprintf(key, sizeof(key), "user%08llu", static_cast<unsigned long long>(n * 7));
    return key;
  }

  Options BaseOptions() {
    Options options = memory_->BaseOptions();
    options.merge_operator = MergeOperators::CreateStringAppendOperator();
    options.prefix_extractor.reset(NewFixedPrefixTransform(6));
    return options;
  }
  // False: this RocksDB has not all that the text names, or cannot write it.
  bool OpenWith(const std::string& text, Options options) {
    BlockBasedTableOptions table;
    Status s = GetBlockBasedTableOptionsFromString(ConfigOptions(), BlockBasedTableOptions(),
                                                   kSmallBlocks + text, &table);
    if (s.ok()) {
      options.table_factory.reset(NewBlockBasedTableFactory(table));
      s = memory_->Open(options);
    }
    if (!s.ok()) {
      printf("not in this RocksDB: %s: %s\n", text.c_str(), s.ToString().c_str());
    }
    return s.ok();
  }

  // Everything that can be an entry. Snapshots keep RocksDB from dropping or merging any.
  void WriteMixture(int count);
  void WriteOne(const std::string& key, WriteBatch* batch);
  void Flush() {
    memory_->ReadLog(&log_);
    ASSERT_OK(memory_->db()->Flush(FlushOptions()));
    Release();
  }
  void Release() {
    for (const Snapshot* snapshot : snapshots_) {
      memory_->db()->ReleaseSnapshot(snapshot);
    }
    snapshots_.clear();
  }
  void NewDatabase() {
    memory_ = std::make_unique<MemoryDb>();
    log_ = FakeLog();
  }

  // Offers `permille` of the entries, and expects the same bytes and the references taken.
  RecipeSummary ExpectRebuilt(const std::string& sst, uint32_t permille);
  void ExpectUnderstood(const Sst& sst);

  const uint64_t seed_;
  std::mt19937_64 random_;
  std::unique_ptr<MemoryDb> memory_ = std::make_unique<MemoryDb>();
  std::vector<const Snapshot*> snapshots_;
  FakeLog log_;
  std::string recipe_;  // the last one
};

void RecipeTest::WriteOne(const std::string& key, WriteBatch* batch) {
  switch (Some(12)) {
    case 0:
      ASSERT_OK(batch->Delete(key));
      break;
    case 1:
      ASSERT_OK(batch->SingleDelete("once" + key));
      break;
    case 2:
      ASSERT_OK(batch->Merge(key, Bytes(Some(30))));
      break;
    case 3:
      ASSERT_OK(batch->Put(key, ""));
      break;
    case 4:
      ASSERT_OK(batch->PutEntity(memory_->db()->DefaultColumnFamily(), key,
                                 {{"a", Bytes(Some(20))}, {"b", Bytes(Some(100))}}));
      break;
    case 5:
      if (Some(10) == 0) {
        ASSERT_OK(batch->DeleteRange(key, key + "z"));
      }
      break;
    default:
      ASSERT_OK(batch->Put(key, Bytes(Some(10) == 0 ? Some(3000) : Some(150))));
  }
}

void RecipeTest::WriteMixture(int count) {
  for (int i = 0; i < count;) {
    WriteBatch batch;
    // No key twice in a batch: snapshots do not part them.
    for (uint64_t n = 1 + Some(4); n > 0; --n, ++i) {
      WriteOne(Key(Some(400) * 5 + n), &batch);
    }
    ASSERT_OK(memory_->db()->Write(WriteOptions(), &batch));
    snapshots_.push_back(memory_->db()->GetSnapshot());
  }
}

bool Same(const Reference& a, const Reference& b) {
  return a.segment == b.segment && a.ordinal == b.ordinal && a.of_batch == b.of_batch;
}

RecipeSummary RecipeTest::ExpectRebuilt(const std::string& sst, uint32_t permille) {
  RecipeSummary summary;
  log_.Offer(permille, seed_);
  MakeRecipe(sst, &log_, &recipe_, &summary);
  EXPECT_EQ(summary.size, sst.size());
  EXPECT_EQ(summary.references, log_.taken().size());
  RecipeSummary decoded;
  EXPECT_OK(DecodeSummary(recipe_, &decoded));
  EXPECT_EQ(memcmp(&decoded, &summary, sizeof(summary)), 0);

  std::vector<Reference> visited;
  EXPECT_OK(ForEachReference(recipe_, [&](const Reference& r) { visited.push_back(r); }));
  EXPECT_TRUE(
      std::equal(visited.begin(), visited.end(), log_.taken().begin(), log_.taken().end(), Same));
  std::string rebuilt;
  EXPECT_OK(RebuildTo(recipe_, &log_, &rebuilt));
  EXPECT_TRUE(rebuilt == sst) << "other bytes";
  return summary;
}

// Every block is found and every entry that is in the log is referenced.
void RecipeTest::ExpectUnderstood(const Sst& sst) {
  const RecipeSummary all = ExpectRebuilt(sst.bytes, 1000);
  EXPECT_EQ(all.blocks, sst.properties->num_data_blocks);
  EXPECT_EQ(all.compressed_blocks, 0u);
  EXPECT_EQ(all.entries, sst.properties->num_entries - sst.properties->num_range_deletions);
  EXPECT_GT(all.references, 0u);
  EXPECT_EQ(all.references, all.entries);
  EXPECT_EQ(all.literal_bytes, 0u);

  const RecipeSummary some = ExpectRebuilt(sst.bytes, 500);
  EXPECT_GT(some.references, all.references / 4);
  EXPECT_LT(some.references, all.references);
  EXPECT_GT(some.literal_bytes, 0u);

  const RecipeSummary none = ExpectRebuilt(sst.bytes, 0);
  EXPECT_EQ(none.references, 0u);
  EXPECT_EQ(none.entries, all.entries);
  EXPECT_GT(recipe_.size(), sst.properties->data_size / 2);
}

TEST_F(RecipeTest, EveryTableOptionInEveryFormat) {
  int formats = 0;
  for (int format = 2; format < 32; ++format) {
    int cases = 0;
    for (const char* const text : kTableOptions) {
      SCOPED_TRACE(std::string(text) + ", format " + std::to_string(format));
      NewDatabase();
      if (!OpenWith("format_version=" + std::to_string(format) + ";" + text, BaseOptions())) {
        if (*text == 0) {
          break;
        }
        continue;
      }
      ++cases;
      WriteMixture(600);
      Flush();
      const std::vector<Sst> ssts = memory_->ReadSsts();
      ASSERT_EQ(ssts.size(), 1u);
      ExpectUnderstood(ssts[0]);
    }
    if (cases == 0) {
      break;
    }
    EXPECT_GE(cases, 30);
    ++formats;
  }
  EXPECT_GE(formats, 5) << "2 to 6 at least";
}

TEST_F(RecipeTest, TableOptionsMixedAtRandom) {
  const char* const intervals[] = {"1", "2", "3", "16", "64"};
  const char* const checksums[] = {"kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"};
  const char* const indexes[] = {"kBinarySearch", "kHashSearch", "kTwoLevelIndexSearch",
                                 "kBinarySearchWithFirstKey"};
  const char* const data[] = {"kDataBlockBinarySearch", "kDataBlockBinaryAndHash"};
  for (int round = 0; round < 30; ++round) {
    NewDatabase();
    const std::string text = "format_version=" + std::to_string(2 + Some(5)) +
                             ";block_size=" + std::to_string(100 + Some(5000)) +
                             ";block_restart_interval=" + intervals[Some(5)] +
                             ";index_block_restart_interval=" + intervals[Some(5)] +
                             ";checksum=" + checksums[Some(5)] + ";index_type=" + indexes[Some(4)] +
                             ";data_block_index_type=" + data[Some(2)] +
                             ";metadata_block_size=" + std::to_string(100 + Some(1000)) +
                             ";use_delta_encoding=" + (Some(3) == 0 ? "0" : "1");
    SCOPED_TRACE(text);
    if (!OpenWith(text, BaseOptions())) {
      continue;  // an index of another kind needs its restart interval
    }
    WriteMixture(1500);
    Flush();
    const std::vector<Sst> ssts = memory_->ReadSsts();
    ASSERT_EQ(ssts.size(), 1u);
    ExpectUnderstood(ssts[0]);
  }
}

TEST_F(RecipeTest, CompressedBlocksAreLiteral) {
  for (const CompressionType type : {kLZ4Compression, kZSTD, kSnappyCompression}) {
    NewDatabase();
    SCOPED_TRACE(type);
    Options options = BaseOptions();
    options.compression = type;
    if (!OpenWith("", options)) {
      continue;
    }
    for (int i = 0; i < 1000; ++i) {
      ASSERT_OK(memory_->db()->Put(WriteOptions(), Key(i), std::string(100, 'x')));
    }
    Flush();
    const Sst sst = memory_->ReadSsts().at(0);
    const RecipeSummary summary = ExpectRebuilt(sst.bytes, 1000);
    EXPECT_GT(summary.blocks, 10u);
    EXPECT_EQ(summary.blocks, sst.properties->num_data_blocks);
    EXPECT_EQ(summary.compressed_blocks, summary.blocks);
    EXPECT_EQ(summary.references, 0u);
  }
}

// RocksDB stores such blocks as they are, but its index is compressed.
TEST_F(RecipeTest, BlocksThatDoNotCompressAreReferenced) {
  for (const std::string index : {"", "index_type=kTwoLevelIndexSearch;metadata_block_size=300"}) {
    for (const CompressionType type : {kLZ4Compression, kZSTD, kSnappyCompression}) {
      SCOPED_TRACE(type);
      NewDatabase();
      Options options = BaseOptions();
      options.compression = type;
      if (!OpenWith("index_shortening=kNoShortening;" + index, options)) {
        continue;
      }
      for (int i = 0; i < 1000; ++i) {
        ASSERT_OK(memory_->db()->Put(WriteOptions(), Key(i), Bytes(900)));
      }
      Flush();
      ExpectUnderstood(memory_->ReadSsts().at(0));
    }
  }
}

TEST_F(RecipeTest, OtherTablesAreLiteral) {
  Options options = BaseOptions();
  options.allow_mmap_reads = false;
  PlainTableOptions plain;
  options.table_factory.reset(NewPlainTableFactory(plain));
  options.allow_concurrent_memtable_write = false;
  options.env = Env::Default();
  const std::string path = NewFolder() + "/plain.sst";
  SstFileWriter writer(EnvOptions(), options);
  ASSERT_OK(writer.Open(path));
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(writer.Put(Key(i), Bytes(100)));
  }
  ASSERT_OK(writer.Finish());
  std::string sst;
  ASSERT_OK(ReadFileToString(Env::Default(), path, &sst));
  const RecipeSummary summary = ExpectRebuilt(sst, 1000);
  EXPECT_EQ(summary.blocks, 0u);
  DataBlocks data_blocks;
  EXPECT_TRUE(FindDataBlocks(sst, &data_blocks).IsNotSupported());
  for (const size_t size : {0, 1, 7, 8, 52, 53, 54, 1000}) {
    ExpectRebuilt(Bytes(size), 1000);
    ExpectRebuilt(std::string(size, 0), 1000);
  }
}

TEST_F(RecipeTest, SequenceNumbersOfTheBatch) {
  ASSERT_TRUE(OpenWith("", BaseOptions()));
  WriteMixture(1000);
  Flush();
  log_.NumberByBatch();
  ExpectUnderstood(memory_->ReadSsts().at(0));
}

TEST_F(RecipeTest, TimestampsArePartOfTheKey) {
  for (const bool persisted : {true, false}) {
    NewDatabase();
    Options options = BaseOptions();
    options.comparator = BytewiseComparatorWithU64Ts();
    options.prefix_extractor.reset();
    options.persist_user_defined_timestamps = persisted;
    options.allow_concurrent_memtable_write = persisted;
    ASSERT_TRUE(OpenWith("", options));
    for (int i = 0; i < 1000; ++i) {
      std::string time;
      PutFixed64(&time, static_cast<uint64_t>(i));
      ASSERT_OK(memory_->db()->Put(WriteOptions(), Key(Some(500)), time, Bytes(100)));
    }
    Flush();
    const Sst sst = memory_->ReadSsts().at(0);
    if (persisted) {
      ExpectUnderstood(sst);
    } else {
      // The log's keys are others.
      EXPECT_EQ(ExpectRebuilt(sst.bytes, 1000).references, 0u);
    }
  }
}

TEST_F(RecipeTest, BlobIndexesAreLiteral) {
  Options options = BaseOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 100;
  ASSERT_TRUE(OpenWith("", options));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(memory_->db()->Put(WriteOptions(), Key(i), Bytes(i % 2 == 0 ? 50 : 150)));
  }
  Flush();
  const RecipeSummary summary = ExpectRebuilt(memory_->ReadSsts().at(0).bytes, 1000);
  EXPECT_EQ(summary.entries, 1000u);
  EXPECT_EQ(summary.references, 500u);
  EXPECT_GT(summary.literal_bytes, 0u);
}

TEST_F(RecipeTest, ZeroedSequenceNumbersAreLiteral) {
  ASSERT_TRUE(OpenWith("", BaseOptions()));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(memory_->db()->Put(WriteOptions(), Key(i), Bytes(100)));
    if (i == 500) {
      // What is newer than a snapshot keeps its number.
      snapshots_.push_back(memory_->db()->GetSnapshot());
    }
  }
  memory_->ReadLog(&log_);
  ASSERT_OK(memory_->db()->Flush(FlushOptions()));
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(memory_->db()->CompactRange(compact, nullptr, nullptr));
  Release();
  const std::vector<Sst> ssts = memory_->ReadSsts();
  ASSERT_EQ(ssts.size(), 1u);
  const RecipeSummary summary = ExpectRebuilt(ssts[0].bytes, 1000);
  EXPECT_EQ(summary.entries, 1000u);
  EXPECT_GE(summary.references, 499u);
  EXPECT_LT(summary.references, 502u);
}

TEST_F(RecipeTest, MergedTablesReferToSeveralLogs) {
  ASSERT_TRUE(OpenWith("", BaseOptions()));
  const Snapshot* first = memory_->db()->GetSnapshot();
  for (int round = 0; round < 3; ++round) {
    WriteMixture(2000);
    if (round < 2) {
      ASSERT_OK(memory_->db()->Flush(FlushOptions()));
    }
  }
  Flush();
  ASSERT_OK(memory_->db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  for (const Sst& sst : memory_->ReadSsts()) {
    const RecipeSummary summary = ExpectRebuilt(sst.bytes, 1000);
    EXPECT_GT(summary.references, summary.entries / 2);
    std::set<uint64_t> segments;
    for (const Reference& reference : log_.taken()) {
      segments.insert(reference.segment);
    }
    EXPECT_GT(segments.size(), 5u);
    ExpectRebuilt(sst.bytes, 500);
  }
  memory_->db()->ReleaseSnapshot(first);
}

TEST_F(RecipeTest, ExtremeEntries) {
  const auto check = [&](const std::vector<std::pair<std::string, std::string>>& pairs) {
    for (const char* const text :
         {"", "block_restart_interval=1", "data_block_index_type=kDataBlockBinaryAndHash",
          "index_type=kTwoLevelIndexSearch", "separate_key_value_in_data_block=true"}) {
      NewDatabase();
      Options options = BaseOptions();
      options.prefix_extractor.reset();
      if (!OpenWith(text, options)) {
        continue;
      }
      for (const auto& pair : pairs) {
        ASSERT_OK(memory_->db()->Put(WriteOptions(), pair.first, pair.second));
      }
      Flush();
      const Sst sst = memory_->ReadSsts().at(0);
      const RecipeSummary all = ExpectRebuilt(sst.bytes, 1000);
      EXPECT_EQ(all.references, pairs.size());
      ExpectRebuilt(sst.bytes, 500);
      ExpectRebuilt(sst.bytes, 0);
    }
  };
  check({{"k", "v"}});
  check({{"", ""}});
  check({{"", Bytes(200)}, {std::string(1, 0), ""}, {std::string(2, 0), "x"}});
  check({{"a", Bytes(5 << 20)}});
  check({{Bytes(1 << 20), "v"}, {Bytes(1 << 20), Bytes(1 << 20)}});
  const std::string prefix = Bytes(100000);
  check({{prefix + "a", "1"}, {prefix + "b", "2"}, {prefix + "bb", "3"}, {prefix, "4"}});
}

TEST_F(RecipeTest, TablesWithoutEntries) {
  ASSERT_TRUE(OpenWith("", BaseOptions()));
  ASSERT_OK(memory_->db()->DeleteRange(WriteOptions(), "a", "b"));
  Flush();
  const RecipeSummary summary = ExpectRebuilt(memory_->ReadSsts().at(0).bytes, 1000);
  EXPECT_EQ(summary.entries, 0u);
}

TEST_F(RecipeTest, MissingEntriesAreNamed) {
  ASSERT_TRUE(OpenWith("", BaseOptions()));
  WriteMixture(1000);
  Flush();
  const std::string sst = memory_->ReadSsts().at(0).bytes;
  ExpectRebuilt(sst, 900);
  for (int round = 0; round < 20; ++round) {
    const Reference lost = log_.taken()[Some(log_.taken().size())];
    log_.Lose(lost);
    std::string rebuilt;
    const Status s = RebuildTo(recipe_, &log_, &rebuilt);
    EXPECT_TRUE(s.IsCorruption());
    EXPECT_NE(s.ToString().find("segment " + std::to_string(lost.segment) + ", ordinal " +
                                std::to_string(lost.ordinal)),
              std::string::npos)
        << s.ToString();
    log_.Reset();
  }
}

TEST_F(RecipeTest, ChangedEntriesAreFoundOut) {
  ASSERT_TRUE(OpenWith("", BaseOptions()));
  WriteMixture(1000);
  Flush();
  const std::string sst = memory_->ReadSsts().at(0).bytes;
  ExpectRebuilt(sst, 900);
  for (int round = 0; round < 200; ++round) {
    LoggedEntry* const entry = log_.At(log_.taken()[Some(log_.taken().size())]);
    const LoggedEntry before = *entry;
    switch (Some(5)) {
      case 0:
        entry->value = Bytes(Some(3000));
        break;
      case 1:
        entry->key = Bytes(Some(3000));
        break;
      case 2:
        ++entry->sequence;
        break;
      case 3:
        entry->type = entry->type == kTypeMerge ? kTypeValue : kTypeMerge;
        break;
      default:
        entry->value.push_back(0);
    }
    std::string rebuilt;
    const Status s = RebuildTo(recipe_, &log_, &rebuilt);
    EXPECT_TRUE(s.IsCorruption() || rebuilt == sst) << s.ToString();
    EXPECT_EQ(s.ok(), rebuilt == sst);
    *entry = before;
  }
}

class DamageTest : public RecipeTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    opened_ = OpenWith(GetParam(), BaseOptions());
    if (!opened_) {
      return;  // as OpenWith() has said
    }
    WriteMixture(400);
    Flush();
    sst_ = memory_->ReadSsts().at(0).bytes;
  }
  void Damage(std::string* bytes, size_t from) {
    for (uint64_t n = 1 + Some(3); n > 0; --n) {
      char* const c = &(*bytes)[from + Some(bytes->size() - from)];
      *c = static_cast<char>(Some(2) == 0 ? *c ^ (1 << Some(8)) : static_cast<int>(random_()));
    }
  }

  bool opened_ = false;
  std::string sst_;
};

TEST_P(DamageTest, OfRecipesIsCorruption) {
  if (!opened_) {
    return;
  }
  ExpectRebuilt(sst_, 800);
  std::string rebuilt;
  RecipeSummary summary;
  const auto nothing = [](const Reference&) {};
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = recipe_;
    Damage(&damaged, 0);
    if (damaged == recipe_) {
      continue;
    }
    EXPECT_TRUE(DecodeSummary(damaged, &summary).IsCorruption());
    EXPECT_TRUE(ForEachReference(damaged, nothing).IsCorruption());
    EXPECT_TRUE(RebuildTo(damaged, &log_, &rebuilt).IsCorruption());
  }
  for (size_t size = 0; size < recipe_.size(); size += 1 + Some(recipe_.size() / 300)) {
    EXPECT_TRUE(ForEachReference(Slice(recipe_.data(), size), nothing).IsCorruption()) << size;
  }
}

// The checksum is right: what reads the recipe must not trust it.
TEST_P(DamageTest, OfSealedRecipesIsNeverAnotherTable) {
  if (!opened_) {
    return;
  }
  int refused = 0;
  const int kRounds = 3000;
  ExpectRebuilt(sst_, 800);
  for (int round = 0; round < kRounds; ++round) {
    std::string damaged = recipe_;
    // Mostly where the numbers and sizes are.
    Damage(&damaged, 4);
    if (Some(3) == 0) {
      std::string head = damaged.substr(0, 60);
      Damage(&head, 4);
      damaged.replace(0, 60, head);
    }
    if (Some(20) == 0) {
      damaged.resize(40 + Some(damaged.size() - 40));
    }
    EncodeFixed32(&damaged[0], crc32c::Mask(crc32c::Value(damaged.data() + 4, damaged.size() - 4)));
    uint64_t visits = 0;
    ForEachReference(damaged, [&](const Reference&) { ++visits; }).PermitUncheckedError();
    std::string rebuilt;
    const Status s = RebuildTo(damaged, &log_, &rebuilt);
    EXPECT_TRUE(s.ok() || s.IsCorruption() || s.IsNotSupported()) << s.ToString();
    EXPECT_TRUE(!s.ok() || rebuilt == sst_);
    refused += s.ok() ? 0 : 1;
  }
  EXPECT_GT(refused, kRounds / 2);
}

// Whatever the bytes are, the recipe gives them again.
TEST_P(DamageTest, OfTablesDoesNotMatter) {
  if (!opened_) {
    return;
  }
  uint64_t references = 0;
  for (int round = 0; round < 600; ++round) {
    std::string damaged = sst_;
    const uint64_t kind = Some(3);
    // Anywhere, among the meta-blocks, at the end.
    Damage(&damaged, kind == 0   ? 0
                     : kind == 1 ? damaged.size() - damaged.size() / 4
                                 : damaged.size() - 300);
    if (Some(10) == 0) {
      damaged.resize(Some(damaged.size()));
    }
    references += ExpectRebuilt(damaged, 1000).references;
    if (HasFailure()) {
      return;
    }
  }
  EXPECT_GT(references, 10000u);
}

INSTANTIATE_TEST_CASE_P(
    Tables, DamageTest,
    testing::Values(
        "", "format_version=2", "data_block_index_type=kDataBlockBinaryAndHash",
        "index_type=kTwoLevelIndexSearch;metadata_block_size=300;partition_filters=true",
        "index_type=kBinarySearchWithFirstKey;block_align=true;block_size=1024",
        "separate_key_value_in_data_block=true"));

// The plan's sizes: beside the recipe there is nothing but the log.
TEST_F(RecipeTest, RecipesAreSmall) {
  struct Case {
    size_t value;
    bool filter;
    double bound;  // percent
  };
  for (const Case& c : {Case{1000, true, 1.0}, Case{1000, false, 1.0}, Case{100, false, 4.5},
                        Case{100, true, 6.0}}) {
    NewDatabase();
    Options options = BaseOptions();
    options.prefix_extractor.reset();
    BlockBasedTableOptions table;
    table.filter_policy.reset(c.filter ? NewBloomFilterPolicy(10) : nullptr);
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    ASSERT_OK(memory_->Open(options));
    const int count = static_cast<int>((16 << 20) / (c.value + 24));
    for (int i = 0; i < count; ++i) {
      char key[32];
      snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(Some(1000000000)));
      ASSERT_OK(memory_->db()->Put(WriteOptions(), key, Bytes(c.value)));
    }
    Flush();
    const Sst sst = memory_->ReadSsts().at(0);
    ExpectRebuilt(sst.bytes, 1000);
    const double percent =
        100.0 * static_cast<double>(recipe_.size()) / static_cast<double>(sst.bytes.size());
    printf(
        "values of %zu bytes, %s bloom filter: recipe %zu of %zu bytes, %.2f%% (index %llu, filter "
        "%llu)\n",
        c.value, c.filter ? "with" : "without", recipe_.size(), sst.bytes.size(), percent,
        static_cast<unsigned long long>(sst.properties->index_size),
        static_cast<unsigned long long>(sst.properties->filter_size));
    EXPECT_LE(percent, c.bound);
  }
}

TEST_F(RecipeTest, PaddingIsNotStored) {
  ASSERT_TRUE(OpenWith("block_align=true;block_size=4096", BaseOptions()));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(memory_->db()->Put(WriteOptions(), Key(i), Bytes(2500)));
  }
  Flush();
  const Sst sst = memory_->ReadSsts().at(0);
  EXPECT_GT(sst.bytes.size(), 1000u * 4096) << "an entry and its padding";
  ExpectUnderstood(sst);
  ExpectRebuilt(sst.bytes, 1000);
  EXPECT_LT(recipe_.size(), sst.bytes.size() / 50);
}

// The example of FORMAT.md.
TEST_F(RecipeTest, FormatIsFixed) {
  std::string recipe;
  RecipeSummary summary;
  FakeLog log;
  MakeRecipe("not a table", &log, &recipe, &summary);
  EXPECT_EQ(Slice(recipe).ToString(/*hex=*/true),
            "21EAB5F3"          // checksum
            "01010000"          // version, flags, checksums of blocks, width of numbers
            "0B00000000000000"  // size
            "3DC027173D119625"  // XXH3
            "0000000000000000"  // context, interval
            "00000000000000"    // counts
            "2C"                // 11 literal bytes
            "6E6F742061207461626C65");
}

TEST(RecipeBitsTest, NumbersOfEveryWidth) {
  const uint64_t seed = NewSeed();
  std::mt19937_64 random(seed);
  for (uint32_t width = 0; width <= 64; ++width) {
    std::vector<uint64_t> numbers(1 + random() % 100);
    std::string bytes;
    BitWriter writer(width, &bytes);
    for (uint64_t& number : numbers) {
      number = width == 0 ? 0 : random() >> (64 - width);
      writer.Put(number);
    }
    writer.Finish();
    EXPECT_EQ(bytes.size(), BytesFor(numbers.size(), width));
    BitReader reader(bytes, width);
    for (const uint64_t number : numbers) {
      ASSERT_EQ(reader.Get(), number) << width;
    }
    EXPECT_EQ(reader.Get(), 0u) << "behind the end";
  }
  EXPECT_EQ(BitsFor(0), 0u);
  EXPECT_EQ(BitsFor(1), 1u);
  EXPECT_EQ(BitsFor(255), 8u);
  EXPECT_EQ(BitsFor(256), 9u);
  EXPECT_EQ(BitsFor(~uint64_t{0}), 64u);
}

}  // namespace
}  // namespace rocktier
