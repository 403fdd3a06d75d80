// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// In front of BlobHybridTable: values move between SSTs and blob files, and copies are of values
// only, never of references to blob files.

#include "plugin/blob_hybrid/blob_hybrid.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_util.h"
#include "test/hot_promotion/random.h"
#include "test/hot_promotion/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

constexpr uint64_t kMedium = 60;

// Puts the table in front of that of blob_hybrid.
void UseBoth(const blob_hybrid::BlobHybridOptions& hybrid, const HotPromotionOptions& hot,
             const BlockBasedTableOptions& tables, Options* options) {
  options->table_factory.reset(NewBlockBasedTableFactory(tables));
  options->listeners.clear();
  options->compaction_filter_factory.reset();
  ASSERT_OK(blob_hybrid::UseBlobHybrid(hybrid, options, options));
  const std::shared_ptr<TableFactory> inner = options->table_factory;
  ASSERT_STREQ("BlobHybridTable", inner->Name());
  ASSERT_OK(NewHotPromotionTableFactory(hot, inner, &options->table_factory));
}

blob_hybrid::BlobHybridStats BlobStatsOf(DB* db) {
  blob_hybrid::BlobHybridStats stats;
  EXPECT_OK(blob_hybrid::GetBlobHybridStats(db, db->DefaultColumnFamily(), &stats));
  return stats;
}

// ValueOf() has some 110 bytes: medium here. Merges of the log are left to compactions.
class BlobTest : public HotDb {
 protected:
  BlobTest() {
    options_.min_blob_size = 1000;
    hybrid_.medium_value_size = kMedium;
    hybrid_.max_space_amplification = 0;
    hybrid_.transient_log_budget = 0;
  }
  void NewFactory() override { UseBoth(hybrid_, hot_, table_options_, &options_); }

  std::string Large(int i) const { return ValueOf(i) + std::string(2000, 'l'); }

  // Each copy is the record's value, and nothing else.
  void ExpectCopies(int from, int to) {
    CloseAll();
    std::set<std::string> copied;
    ASSERT_OK(DumpHotStore(hot_.path,
                           [&](const std::string& /*file*/, const Slice& key, const Slice& value) {
                             const int i = atoi(key.ToString().c_str() + 3);
                             EXPECT_EQ(ValueOf(i), value.ToString());
                             copied.insert(key.ToString());
                             return true;
                           }));
    EXPECT_EQ(static_cast<size_t>(to - from), copied.size());
    HotStoreInfo info;
    ASSERT_OK(VerifyHotStore(hot_.path, &info));
    EXPECT_EQ(0u, info.different);
    EXPECT_GE(info.equal, static_cast<uint64_t>(to - from));
  }

  blob_hybrid::BlobHybridOptions hybrid_;
};

TEST_F(BlobTest, FlushesSeparateMediumValues) {
  Open();
  Fill(0, 100);
  Flush();
  EXPECT_GT(BlobStatsOf(db_.get()).medium_bytes, 100 * kMedium);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 100; i++) {
      EXPECT_EQ(ValueOf(i), Get(i));
    }
    Settle();
  }
  EXPECT_EQ(300u, TakeServed().slow);
  EXPECT_EQ(0u, Stats().captured);
  EXPECT_EQ(0u, Stats().promoted);
}

// A compaction puts the values into SSTs. What was read often is copied as it is written.
TEST_F(BlobTest, MergedValuesAreRetained) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  Compact();
  EXPECT_EQ(100u, BlobStatsOf(db_.get()).merged_values);
  EXPECT_EQ(0u, BlobStatsOf(db_.get()).blob_files);
  EXPECT_GE(Stats().retained, 50u);
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  ExpectCopies(0, 50);
}

TEST_F(BlobTest, MergedValuesArePromoted) {
  Open();
  Fill(0, 100);
  Compact();
  Heat(0, 50);
  for (int i = 0; i < 50; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  EXPECT_EQ(50u, TakeServed().store);
  ExpectCopies(0, 50);
}

// Large values stay in blob files, and have no copies. They do not hide smaller ones.
TEST_F(BlobTest, LargeValuesAreNotCopied) {
  Open();
  Fill(0, 50);
  for (int i = 50; i < 100; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), KeyOf(i), Large(i)));
  }
  Flush();
  Compact();
  EXPECT_GT(BlobStatsOf(db_.get()).large_bytes, 50u * 2000);
  Heat(0, 100);
  Compact();
  std::vector<std::string> keys;
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(i < 50 ? ValueOf(i) : Large(i), Get(i));
    keys.push_back(KeyOf(i));
  }
  const Served served = TakeServed();
  EXPECT_EQ(50u, served.store);
  EXPECT_EQ(50u, served.slow);
  const std::vector<std::string> values = MultiGet(keys);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(i < 50 ? ValueOf(i) : Large(i), values[i]);
  }
  ExpectCopies(0, 50);
}

class OptionsTest : public BlobTest {
 protected:
  static std::string Family(const std::string& table) {
    return "enable_blob_files=true;min_blob_size=1000;" + table +
           "compaction_filter_factory={id=BlobHybrid;medium_value_size=60;merge_level=last-1}";
  }
  std::string Hot(const std::string& more) const {
    return "table_factory={id=HotPromotionTable;path=" + hot_.path + ";budget=8M;slow=" + path_ +
           ";" + more + "};";
  }
  Status OpenWith(const std::string& family,
                  const std::string& listeners = "listeners={id=BlobHybridListener}") {
    DBOptions db_options;
    ColumnFamilyOptions family_options;
    Status s = GetDBOptionsFromString(ConfigOptions(), DBOptions(),
                                      "create_if_missing=true;" + listeners, &db_options);
    if (s.ok()) {
      s = GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), family,
                                           &family_options);
    }
    if (s.ok()) {
      options_ = Options(db_options, family_options);
      s = OpenDb(options_, path_, &db_);
    }
    return s;
  }
  void ExpectRefused(const Status& s, const std::string& text) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find(text)) << s.ToString();
  }
};

TEST_F(OptionsTest, BothAreSetByName) {
  ASSERT_OK(OpenWith(Family(Hot("table={id=BlobHybridTable};block_size=8K"))));
  Fill(0, 100);
  Flush();
  EXPECT_GT(BlobStatsOf(db_.get()).medium_bytes, 100 * kMedium);
  CloseAll();
  ConfigOptions config;
  config.ignore_unknown_options = false;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(config, path_, &db_options, &families));
  options_ = Options(db_options, families.at(0).options);
  ASSERT_NE(nullptr, options_.table_factory->Inner());
  EXPECT_TRUE(options_.table_factory->Inner()->IsInstanceOf("BlobHybridTable"));
  EXPECT_EQ(8u << 10, options_.table_factory->GetOptions<BlockBasedTableOptions>()->block_size);
  Open();
  ASSERT_OK(CheckOptionsCompatibility(config, path_, db_options, families));
  Compact();
  EXPECT_EQ(100u, BlobStatsOf(db_.get()).merged_values);
}

// What either refuses alone is refused of both.
TEST_F(OptionsTest, WhatIsMissingIsNamed) {
  ExpectRefused(OpenWith(Family(Hot(""))), "BlobHybrid: table_factory");
  ExpectRefused(OpenWith(Family(Hot("table=BlockBasedTable"))), "BlobHybrid: table_factory");
  ExpectRefused(OpenWith(Family(Hot("table=BlobHybridTable")), ""), "BlobHybrid: listeners");
  ExpectRefused(OpenWith(Hot("table=BlobHybridTable")), "BlobHybrid: compaction_filter_factory");
  ASSERT_OK(OpenWith(Family(Hot("table=BlobHybridTable"))));
}

TEST_F(OptionsTest, UseBlobHybridTakesTheTableThatIsThere) {
  std::shared_ptr<TableFactory> inner =
      blob_hybrid::NewBlobHybridTableFactory(BlockBasedTableOptions());
  ASSERT_OK(NewHotPromotionTableFactory(hot_, inner, &options_.table_factory));
  const TableFactory* before = options_.table_factory.get();
  ASSERT_OK(blob_hybrid::UseBlobHybrid(hybrid_, &options_, &options_));
  EXPECT_EQ(before, options_.table_factory.get());
  ASSERT_OK(NewHotPromotionTableFactory(hot_, BlockBasedTableOptions(), &options_.table_factory));
  options_.compaction_filter_factory.reset();
  ExpectRefused(blob_hybrid::UseBlobHybrid(hybrid_, &options_, &options_),
                "BlobHybrid: table_factory");
}

// Small, medium and large values; merges of the log, collection and the job at work.
class BlobRandomTest : public RandomDb {
 protected:
  BlobRandomTest() {
    options_.min_blob_size = 150;
    options_.blob_file_size = 64 << 10;
    options_.max_background_jobs = 3;
    hybrid_.medium_value_size = kMedium;
    hybrid_.gc_garbage_ratio = 0.2;
    hybrid_.max_space_amplification = 1.3;
    hybrid_.space_floor = 32 << 10;
    hybrid_.gc_bytes_per_second = 0;
    hybrid_.merge_level =
        seed_ % 3 == 0 ? blob_hybrid::MergeLevel::kLastButOne : blob_hybrid::MergeLevel::kLast;
    ranges_ = false;  // with merges and snapshots RocksDB itself errs at times: test/stock
  }
  ~BlobRandomTest() override { CloseAll(); }

  void NewFactory() override { UseBoth(hybrid_, hot_, table_options_, &options_); }

  void BeforeClose() override {
    const blob_hybrid::BlobHybridStats stats = BlobStatsOf(db_.get());
    merged_ = std::max(merged_, stats.merged_values);
    moved_ = std::max(moved_, stats.moved_values);
    EXPECT_EQ(0u, stats.read_errors);
  }
  bool HasTested() const override { return merged_ > 0 && moved_ > 0; }

  blob_hybrid::BlobHybridOptions hybrid_;
  uint64_t merged_ = 0;
  uint64_t moved_ = 0;
};

TEST_F(BlobRandomTest, AnswersAndCopiesAreRight) {
  RunRounds(rocktier::Rounds(2));
  CloseAll();
  uint64_t copies = 0;
  ASSERT_OK(DumpHotStore(
      hot_.path, [&](const std::string& /*file*/, const Slice& key, const Slice& value) {
        copies++;
        EXPECT_TRUE(history_.Had(key.ToString(), value.ToString())) << value.ToString(/*hex=*/true);
        return !HasFailure();
      }));
  HotStoreInfo info;
  ASSERT_OK(VerifyHotStore(hot_.path, &info));
  EXPECT_EQ(0u, info.different);
  printf("copies: %d, merged values: %d, moved: %d\n", static_cast<int>(copies),
         static_cast<int>(merged_), static_cast<int>(moved_));
  // Or nothing was tested.
  EXPECT_GT(copies, 0u);
  EXPECT_GT(merged_, 0u);
  EXPECT_GT(moved_, 0u);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
