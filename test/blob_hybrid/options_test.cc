// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/options.h"

#include <cmath>

#include "plugin/blob_hybrid/databases.h"
#include "plugin/blob_hybrid/gc_scheduler.h"
#include "plugin/blob_hybrid/settings.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/utilities/options_util.h"
#include "table/block_based/block_based_table_factory.h"
#include "test/blob_hybrid/support.h"
#include "test_util/testutil.h"
#include "utilities/compaction_filters/remove_emptyvalue_compactionfilter.h"

namespace ROCKSDB_NAMESPACE {
namespace blob_hybrid {
namespace {

class OptionsTest : public HybridDb {
 protected:
  void ExpectError(const Status& s, const std::string& option) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("BlobHybrid: " + option)) << s.ToString();
  }

  Options FromStrings(const std::string& db, const std::string& family) {
    Options options;
    DBOptions db_options;
    ColumnFamilyOptions family_options;
    EXPECT_OK(GetDBOptionsFromString(ConfigOptions(), DBOptions(), db, &db_options));
    EXPECT_OK(GetColumnFamilyOptionsFromString(ConfigOptions(), ColumnFamilyOptions(), family,
                                               &family_options));
    return Options(db_options, family_options);
  }

  static std::string EncodeTimestamp(uint64_t timestamp) {
    std::string encoded;
    EncodeU64Ts(timestamp, &encoded);
    return encoded;
  }

  const BlobHybridOptions& OptionsOf(const Options& options) {
    return SettingsOf(options.compaction_filter_factory)->options;
  }
};

constexpr char kListener[] = "create_if_missing=true;listeners={id=BlobHybridListener}";
constexpr char kFamily[] =
    "enable_blob_files=true;min_blob_size=100;"
    "compaction_filter_factory={id=BlobHybrid;gc_garbage_ratio=0.25;max_space_amplification=1.75;"
    "space_floor=2M;gc_bytes_per_second=3K;readahead_size=0}";
constexpr char kMediumFamily[] =
    "enable_blob_files=true;min_blob_size=1000;table_factory={id=BlobHybridTable;block_size=8K};"
    "compaction_filter_factory={id=BlobHybrid;medium_value_size=100;merge_level=last-1;"
    "transient_log_budget=0.125}";

TEST_F(OptionsTest, AllCanBeSetByName) {
  const Options options = FromStrings(kListener, kFamily);
  const BlobHybridOptions& hybrid = OptionsOf(options);
  EXPECT_EQ(0.25, hybrid.gc_garbage_ratio);
  EXPECT_EQ(1.75, hybrid.max_space_amplification);
  EXPECT_EQ(2u << 20, hybrid.space_floor);
  EXPECT_EQ(3u << 10, hybrid.gc_bytes_per_second);
  EXPECT_EQ(0u, hybrid.readahead_size);
  ASSERT_OK(OpenDb(options, path_, &db_));
}

TEST_F(OptionsTest, TheyStayWhileADatabaseIsOpen) {
  const Options options = FromStrings(kListener, kFamily);
  ASSERT_OK(OpenDb(options, path_, &db_));
  Put(1, 1);
  Flush();
  CompactionFilterFactory* const factory = options.compaction_filter_factory.get();
  const ConfigOptions config;
  ExpectError(factory->ConfigureOption(config, "gc_garbage_ratio", "0.5"), "gc_garbage_ratio=0.5");
  ExpectError(factory->ConfigureFromString(config, "space_floor=1M;readahead_size=4K"), "");
  EXPECT_EQ(0.25, OptionsOf(options).gc_garbage_ratio);
  EXPECT_EQ(2u << 20, OptionsOf(options).space_floor);
  EXPECT_EQ(0u, OptionsOf(options).readahead_size);
  Close();
  ASSERT_OK(factory->ConfigureOption(config, "gc_garbage_ratio", "0.5"));
  EXPECT_EQ(0.5, OptionsOf(options).gc_garbage_ratio);
}

// Nor is anything kept for it while the database is open.
TEST_F(OptionsTest, AFamilyThatWasDroppedHasThemNoMore) {
  ASSERT_OK(OpenDb(FromStrings(kListener, kFamily), path_, &db_));
  const Options options = FromStrings(kListener, kFamily);
  CompactionFilterFactory* const factory = options.compaction_filter_factory.get();
  std::vector<uint32_t> dropped;
  for (int round = 0; round < 3; round++) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(options, "family" + std::to_string(round), &family));
    ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(1), ValueOf(1, 1)));
    ASSERT_OK(db_->Flush(FlushOptions(), family));
    ExpectError(factory->ConfigureOption(ConfigOptions(), "gc_garbage_ratio", "0.5"),
                "gc_garbage_ratio=0.5");
    dropped.push_back(family->GetID());
    ASSERT_OK(db_->DropColumnFamily(family));
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
  Put(1, 1);
  Flush();
  ASSERT_OK(SettleBlobHybrid(db_.get()));
  ASSERT_OK(factory->ConfigureOption(ConfigOptions(), "gc_garbage_ratio", "0.5"));
  const auto scheduler = Databases::Instance()->Find(db_.get());
  for (const uint32_t number : dropped) {
    GcFamily* const family = scheduler->Find(number);
    ASSERT_NE(nullptr, family);
    EXPECT_TRUE(family->is_dropped());
  }
  Close();
  EXPECT_EQ(0, SettingsOf(options.compaction_filter_factory)->families);
}

TEST_F(OptionsTest, OptionsFileOfTheDatabaseHasThem) {
  ASSERT_OK(OpenDb(FromStrings(kListener, kFamily), path_, &db_));
  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &families));
  ASSERT_EQ(1u, families.size());
  const Options options(db_options, families[0].options);
  ASSERT_NE(nullptr, options.compaction_filter_factory);
  EXPECT_EQ(0.25, OptionsOf(options).gc_garbage_ratio);
  EXPECT_EQ(2u << 20, OptionsOf(options).space_floor);
  EXPECT_TRUE(HasListener(options.listeners));
  ASSERT_OK(OpenDb(options, path_, &db_));
}

// Drops keys that end with a 7.
class DropSevens : public CompactionFilter {
 public:
  const char* Name() const override { return "DropSevens"; }
  bool Filter(int /*level*/, const Slice& key, const Slice& /*value*/, std::string* /*new_value*/,
              bool* /*changed*/) const override {
    return key[key.size() - 1] == '7';
  }
};

class DropSevensFactory : public CompactionFilterFactory {
 public:
  static const char* kClassName() { return "DropSevensFactory"; }
  const char* Name() const override { return kClassName(); }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<DropSevens>();
  }

  static void Register() {
    ObjectLibrary::Default()->AddFactory<CompactionFilterFactory>(
        kClassName(), [](const std::string& /*uri*/,
                         std::unique_ptr<CompactionFilterFactory>* guard, std::string* /*error*/) {
          guard->reset(new DropSevensFactory());
          return guard->get();
        });
  }
};

// All but medium_value_size, which excludes key_size, and none with its default.
constexpr char kAllOptions[] =
    "gc_garbage_ratio=0.25;max_space_amplification=1.75;space_floor=2M;gc_bytes_per_second=3K;"
    "readahead_size=5K;key_size=30;prefix_size=20;t_sm=0.25;t_ml=0.05;merge_level=last-1;"
    "transient_log_budget=0.125;metrics_interval=9;metrics_file=/a/b.prom;"
    "user_filter_factory={id=DropSevensFactory}";
// 20 is a twentieth of 400, of which 30 are the key.
const std::string kFamilyWithAll =
    "enable_blob_files=true;min_blob_size=370;table_factory={id=BlobHybridTable};"
    "compaction_filter_factory={id=BlobHybrid;" +
    std::string(kAllOptions) + "}";

class AllOptionsTest : public OptionsTest {
 protected:
  AllOptionsTest() { DropSevensFactory::Register(); }

  static void ExpectAll(const BlobHybridOptions& hybrid) {
    EXPECT_EQ(0.25, hybrid.gc_garbage_ratio);
    EXPECT_EQ(1.75, hybrid.max_space_amplification);
    EXPECT_EQ(2u << 20, hybrid.space_floor);
    EXPECT_EQ(3u << 10, hybrid.gc_bytes_per_second);
    EXPECT_EQ(5u << 10, hybrid.readahead_size);
    EXPECT_EQ(0u, hybrid.medium_value_size);
    EXPECT_EQ(30u, hybrid.key_size);
    EXPECT_EQ(20u, hybrid.prefix_size);
    EXPECT_EQ(0.25, hybrid.t_sm);
    EXPECT_EQ(0.05, hybrid.t_ml);
    EXPECT_EQ(MergeLevel::kLastButOne, hybrid.merge_level);
    EXPECT_EQ(9u, hybrid.metrics_interval);
    EXPECT_EQ("/a/b.prom", hybrid.metrics_file);
    EXPECT_EQ(0.125, hybrid.transient_log_budget);
    EXPECT_EQ(nullptr, hybrid.user_filter);
    ASSERT_NE(nullptr, hybrid.user_filter_factory);
    EXPECT_STREQ("DropSevensFactory", hybrid.user_filter_factory->Name());
  }

  Options Loaded() {
    DBOptions db_options;
    std::vector<ColumnFamilyDescriptor> families;
    EXPECT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &families));
    return Options(db_options, families.at(0).options);
  }
};

TEST_F(AllOptionsTest, NoneIsLeftOut) {
  const std::string all = std::string("medium_value_size=;") + kAllOptions;
  for (const auto& [name, type] : OptionTypes()) {
    EXPECT_NE(std::string::npos, (";" + all).find(";" + name + "=")) << name;
  }
}

TEST_F(AllOptionsTest, EachHasItsPlace) {
  const Options options = FromStrings(kListener, kFamilyWithAll);
  ASSERT_NE(nullptr, options.compaction_filter_factory);
  ExpectAll(OptionsOf(options));
  ASSERT_OK(OpenDb(options, path_, &db_));
  ExpectAll(OptionsOf(db_->GetOptions()));
  Close();
  const Options loaded = Loaded();
  ASSERT_NE(nullptr, loaded.compaction_filter_factory);
  ExpectAll(OptionsOf(loaded));
  ASSERT_OK(OpenDb(loaded, path_, &db_));
}

TEST_F(AllOptionsTest, UserFilterFactoryRuns) {
  ASSERT_OK(OpenDb(FromStrings(kListener, kFamilyWithAll), path_, &db_));
  Close();
  // From the OPTIONS file, too.
  ASSERT_OK(OpenDb(Loaded(), path_, &db_));
  const std::vector<size_t> sizes = {40, 100, 1000};  // small, medium, large
  for (int i = 0; i < 60; i++) {
    Put(i, 0, sizes[static_cast<size_t>(i) % sizes.size()]);
  }
  Flush();
  EXPECT_EQ(1u, BlobFiles().size());
  EXPECT_EQ(ValueOf(7, 0, 100), Get(7));
  Compact();
  for (int i = 0; i < 60; i++) {
    const std::string value = ValueOf(i, 0, sizes[static_cast<size_t>(i) % sizes.size()]);
    EXPECT_EQ(i % 10 == 7 ? "none" : value, Get(i)) << i;
  }
}

// As with compaction_filter_factory itself: what RocksDB does not know it leaves out, unless it is
// told not to.
TEST_F(OptionsTest, UnknownUserFilterFactory) {
  const std::string family =
      "compaction_filter_factory={id=BlobHybrid;user_filter_factory={id=NoSuchFactory}}";
  EXPECT_EQ(nullptr, OptionsOf(FromStrings(kListener, family)).user_filter_factory);
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  ColumnFamilyOptions options;
  EXPECT_NOK(GetColumnFamilyOptionsFromString(strict, ColumnFamilyOptions(), family, &options));
}

// RocksDB itself cannot read the other one back.
TEST_F(OptionsTest, OptionsFileWithAnotherListener) {
  class OtherListener : public EventListener {
   public:
    const char* Name() const override { return "OtherListener"; }
  };
  Options options = FromStrings(kListener, kFamily);
  options.listeners.push_back(std::make_shared<OtherListener>());
  ASSERT_OK(OpenDb(options, path_, &db_));
  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &families));
  EXPECT_TRUE(HasListener(db_options.listeners));
  ASSERT_OK(OpenDb(Options(db_options, families.at(0).options), path_, &db_));
}

TEST_F(OptionsTest, WrongValuesAreNamed) {
  hybrid_.gc_garbage_ratio = -0.5;
  ExpectError(TryOpen(), "gc_garbage_ratio=-0.5");
  hybrid_.gc_garbage_ratio = 1.5;
  ExpectError(TryOpen(), "gc_garbage_ratio=1.5");
  hybrid_.gc_garbage_ratio = 0.5;
  hybrid_.metrics_interval = 86401;
  ExpectError(TryOpen(), "metrics_interval=86401");
  hybrid_.metrics_interval = 1;
  hybrid_.metrics_file = "/a/b";
  ExpectError(TryOpen(), "metrics_file=/a/b");
  hybrid_.metrics_file.clear();
  hybrid_.gc_garbage_ratio = std::nan("");
  ExpectError(TryOpen(), "gc_garbage_ratio=");
  hybrid_.gc_garbage_ratio = 0.5;
  hybrid_.max_space_amplification = 1.05;
  ExpectError(TryOpen(), "max_space_amplification=1.05");
  hybrid_.max_space_amplification = -1;
  ExpectError(TryOpen(), "max_space_amplification=-1");
  hybrid_.max_space_amplification = std::nan("");
  ExpectError(TryOpen(), "max_space_amplification=");
  hybrid_.max_space_amplification = 1.1;
  ASSERT_OK(TryOpen());
}

TEST_F(OptionsTest, WrongValuesInStringsAreNamed) {
  ColumnFamilyOptions options;
  const Status s = GetColumnFamilyOptionsFromString(
      ConfigOptions(), ColumnFamilyOptions(),
      "compaction_filter_factory={id=BlobHybrid;gc_garbage_ratio=7}", &options);
  ExpectError(s, "gc_garbage_ratio=7");
}

// Half of a configuration is refused with the line that is missing.
TEST_F(OptionsTest, ListenerIsRequired) {
  ExpectError(OpenDb(FromStrings("create_if_missing=true", kFamily), path_, &db_), "listeners");
}

TEST_F(OptionsTest, BlobFilesAreRequired) {
  Options options = FromStrings(kListener, kFamily);
  options.enable_blob_files = false;
  ExpectError(OpenDb(options, path_, &db_), "enable_blob_files");
}

TEST_F(OptionsTest, AgeBasedCollectionIsRefused) {
  Options options = FromStrings(kListener, kFamily);
  options.enable_blob_garbage_collection = true;
  ExpectError(OpenDb(options, path_, &db_), "enable_blob_garbage_collection");
}

TEST_F(OptionsTest, CompactionFilterInItsPlaceIsRefused) {
  const RemoveEmptyValueCompactionFilter filter;
  Options options = FromStrings(kListener, kFamily);
  options.compaction_filter = &filter;
  ExpectError(OpenDb(options, path_, &db_), "compaction_filter");
}

// A factory in front of another one, as that of DBWithTTL is.
class FrontFactory : public CompactionFilterFactory {
 public:
  explicit FrontFactory(std::shared_ptr<CompactionFilterFactory> target)
      : target_(std::move(target)) {}
  const char* Name() const override { return "FrontFactory"; }
  Status ValidateOptions(const DBOptions& db, const ColumnFamilyOptions& family) const override {
    return target_->ValidateOptions(db, family);
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context& context) override {
    return target_->CreateCompactionFilter(context);
  }

 private:
  const std::shared_ptr<CompactionFilterFactory> target_;
};

TEST_F(OptionsTest, FactoriesInFrontAreRefused) {
  Options options = FromStrings(kListener, kFamily);
  options.compaction_filter_factory =
      std::make_shared<FrontFactory>(options.compaction_filter_factory);
  ExpectError(OpenDb(options, path_, &db_), "compaction_filter_factory");
}

TEST_F(OptionsTest, JobNeedsLevels) {
  options_.compaction_style = kCompactionStyleUniversal;
  hybrid_.max_space_amplification = 1.5;
  ExpectError(TryOpen(), "compaction_style");
  hybrid_.max_space_amplification = 0;
  hybrid_.medium_value_size = 50;
  ExpectError(TryOpen(), "compaction_style");
  hybrid_.medium_value_size = 0;
  EXPECT_OK(TryOpen());
  Close();
  options_.compaction_style = kCompactionStyleFIFO;
  ExpectError(TryOpen(), "compaction_style");
}

#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 2)
TEST_F(OptionsTest, NoDirectWrites) {
  options_.enable_blob_direct_write = true;
  options_.allow_concurrent_memtable_write = false;
  ExpectError(TryOpen(), "enable_blob_direct_write");
}
#endif

TEST_F(OptionsTest, JobNeedsTheLastLevel) {
  hybrid_.max_space_amplification = 1.5;
  options_.preclude_last_level_data_seconds = 1000;
  ExpectError(TryOpen(), "preclude_last_level_data_seconds");
  options_.preclude_last_level_data_seconds = 0;
  options_.allow_ingest_behind = true;
  ExpectError(TryOpen(), "allow_ingest_behind");
  options_.allow_ingest_behind = false;
#if ROCKSDB_MAJOR >= 11
  options_.cf_allow_ingest_behind = true;
  ExpectError(TryOpen(), "allow_ingest_behind");
#endif
  hybrid_.max_space_amplification = 0;
  options_.preclude_last_level_data_seconds = 1000;
  EXPECT_OK(TryOpen());
}

TEST_F(OptionsTest, UserTimestampsAreRefused) {
  Options options = FromStrings(kListener, kFamily);
  options.comparator = test::BytewiseComparatorWithU64TsWrapper();
  ExpectError(OpenDb(options, path_, &db_), "comparator");
}

// Why they are: in SSTs compactions change timestamps below full_history_ts_low, and leave them in
// blob files, so that stock RocksDB does not find its keys there. When this fails RocksDB has
// mended it, and they need not be refused any more.
TEST_F(OptionsTest, StockRocksDbLosesUserTimestampsInBlobFiles) {
  options_.comparator = test::BytewiseComparatorWithU64TsWrapper();
  OpenWithoutPlugin();
  ASSERT_OK(db_->Put(WriteOptions(), "small", EncodeTimestamp(1), "value"));
  ASSERT_OK(db_->Put(WriteOptions(), "large", EncodeTimestamp(1), ValueOf(0, 0)));
  Flush();
  EXPECT_EQ(1u, BlobFiles().size());
  const std::string later = EncodeTimestamp(4);
  const Slice timestamp = later;
  ReadOptions at;
  at.timestamp = &timestamp;
  EXPECT_EQ("value", Get("small", at));
  EXPECT_EQ(ValueOf(0, 0), Get("large", at));

  const std::string low = EncodeTimestamp(3);
  const Slice history = low;
  CompactRangeOptions all;
  all.full_history_ts_low = &history;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  EXPECT_EQ("value", Get("small", at));
  EXPECT_NE(std::string::npos, Get("large", at).find("Corruption")) << Get("large", at);
}

TEST_F(OptionsTest, OneUserFilterAtMost) {
  const RemoveEmptyValueCompactionFilter filter;
  hybrid_.user_filter = &filter;
  ASSERT_OK(NewBlobHybrid(BlobHybridOptions(), &hybrid_.user_filter_factory));
  ExpectError(TryOpen(), "user_filter and user_filter_factory");
}

TEST_F(OptionsTest, UseBlobHybridSetsAllOrNothing) {
  Options options = options_;
  options.enable_blob_files = false;
  options.enable_blob_garbage_collection = true;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  EXPECT_TRUE(options.enable_blob_files);
  EXPECT_FALSE(options.enable_blob_garbage_collection);
  EXPECT_EQ(1u, options.listeners.size());
  ASSERT_OK(ValidateFamily(hybrid_, options, options));
  // A second family shares the listener.
  ColumnFamilyOptions other;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &other));
  EXPECT_EQ(1u, options.listeners.size());
  ExpectError(UseBlobHybrid(hybrid_, &options, &other), "compaction_filter_factory");

  Options fifo = options_;
  fifo.compaction_style = kCompactionStyleFIFO;
  ExpectError(UseBlobHybrid(hybrid_, &fifo, &fifo), "compaction_style");
  EXPECT_EQ(nullptr, fifo.compaction_filter_factory);
  EXPECT_TRUE(fifo.listeners.empty());
}

// The medium class.

TEST_F(OptionsTest, MediumClassCanBeSetByName) {
  const Options options = FromStrings(kListener, kMediumFamily);
  const BlobHybridOptions& hybrid = OptionsOf(options);
  EXPECT_EQ(100u, hybrid.medium_value_size);
  EXPECT_EQ(MergeLevel::kLastButOne, hybrid.merge_level);
  EXPECT_EQ(0.125, hybrid.transient_log_budget);
  const auto* tables = options.table_factory->GetOptions<BlockBasedTableOptions>();
  ASSERT_NE(nullptr, tables);
  EXPECT_EQ(8u << 10, tables->block_size);
  ASSERT_OK(OpenDb(options, path_, &db_));
  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path_, &db_options, &families));
  const Options loaded(db_options, families.at(0).options);
  EXPECT_STREQ("BlobHybridTable", loaded.table_factory->Name());
  EXPECT_EQ(8u << 10, loaded.table_factory->GetOptions<BlockBasedTableOptions>()->block_size);
  EXPECT_EQ(100u, OptionsOf(loaded).medium_value_size);
  EXPECT_EQ(MergeLevel::kLastButOne, OptionsOf(loaded).merge_level);
  ASSERT_OK(OpenDb(loaded, path_, &db_));
}

TEST_F(OptionsTest, SizesFollowFromKeySize) {
  Options options = options_;
  hybrid_.key_size = 24;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  // 24 is a fifth of 120, and a fiftieth of 1200.
  EXPECT_EQ(1200u - 24, options.min_blob_size);
  EXPECT_EQ(120u - 24, ClassesOf(hybrid_).medium);
  EXPECT_EQ(1200u - 24, ClassesOf(hybrid_).large);
  ASSERT_OK(OpenDb(options, path_, &db_));
  Close();
  options.min_blob_size = 1000;
  ExpectError(OpenDb(options, path_, &db_), "min_blob_size=1000");

  hybrid_.prefix_size = 12;  // the paper's: values of 1004 bytes are large
  EXPECT_EQ(60u - 24, ClassesOf(hybrid_).medium);
  EXPECT_EQ(600u - 24, ClassesOf(hybrid_).large);
  hybrid_.t_sm = 0.5;
  EXPECT_EQ(1u, ClassesOf(hybrid_).medium);
}

TEST_F(OptionsTest, LargeValuesBeginWhereTmlSays) {
  hybrid_.key_size = 24;
  hybrid_.t_ml = 0.04;  // of 600
  Options options = options_;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  EXPECT_EQ(600u - 24, options.min_blob_size);
  ASSERT_OK(OpenDb(options, path_, &db_));
  Close();
  options.min_blob_size = 1200 - 24;  // by the default
  ExpectError(OpenDb(options, path_, &db_), "min_blob_size=1176");
}

TEST_F(OptionsTest, WrongValuesOfTheMediumClassAreNamed) {
  const BlobHybridOptions good;
  hybrid_.t_sm = 0.01;
  ExpectError(TryOpen(), "t_sm=0.01");
  hybrid_.t_sm = std::nan("");
  ExpectError(TryOpen(), "t_sm=");
  hybrid_ = good;
  hybrid_.t_ml = 0;
  ExpectError(TryOpen(), "t_sm=0.2");
  hybrid_ = good;
  hybrid_.transient_log_budget = 1.5;
  ExpectError(TryOpen(), "transient_log_budget=1.5");
  hybrid_.transient_log_budget = 0.001;
  ExpectError(TryOpen(), "transient_log_budget=0.001");
  hybrid_.transient_log_budget = std::nan("");
  ExpectError(TryOpen(), "transient_log_budget=");
  hybrid_ = good;
  hybrid_.medium_value_size = 100;
  hybrid_.key_size = 24;
  ExpectError(TryOpen(), "medium_value_size and key_size");
  hybrid_ = good;
  hybrid_.key_size = 10;
  hybrid_.prefix_size = 11;
  ExpectError(TryOpen(), "prefix_size=11");
  hybrid_ = good;
  hybrid_.medium_value_size = 200;  // as min_blob_size
  ExpectError(TryOpen(), "min_blob_size=200");
  hybrid_.medium_value_size = 199;
  ASSERT_OK(TryOpen());
}

TEST_F(OptionsTest, TableFactoryIsRequired) {
  Options options = FromStrings(kListener, kMediumFamily);
  options.table_factory.reset(NewBlockBasedTableFactory());
  ExpectError(OpenDb(options, path_, &db_), "table_factory");
}

TEST_F(OptionsTest, FilterFactoryIsRequired) {
  Options options = FromStrings(kListener, kMediumFamily);
  options.compaction_filter_factory = nullptr;
  ExpectError(OpenDb(options, path_, &db_), "compaction_filter_factory");
}

TEST_F(OptionsTest, TablesWithoutAMediumClass) {
  Options options = FromStrings(kListener, kFamily);
  options.table_factory = NewBlobHybridTableFactory(BlockBasedTableOptions());
  EXPECT_OK(OpenDb(options, path_, &db_));
}

TEST_F(OptionsTest, ForeignFilterFactoryIsRefused) {
  for (const char* family : {kFamily, kMediumFamily}) {
    Options options = FromStrings(kListener, family);
    options.table_factory = NewBlobHybridTableFactory(BlockBasedTableOptions());
    options.compaction_filter_factory = std::make_shared<DropSevensFactory>();
    ExpectError(OpenDb(options, path_, &db_), "compaction_filter_factory");
  }
}

// A table factory that is derived from RocksDB's, such as that of hot_promotion.
class OtherTable : public BlockBasedTableFactory {
 public:
  const char* Name() const override { return "OtherTable"; }
  std::unique_ptr<TableFactory> Clone() const override {
    return std::make_unique<OtherTable>(*this);
  }
};

TEST_F(OptionsTest, OtherTablesAreKeptWithoutAMediumClass) {
  Options options = options_;
  options.table_factory = std::make_shared<OtherTable>();
  hybrid_.gc_garbage_ratio = 0.1;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  EXPECT_STREQ("OtherTable", options.table_factory->Name());
  ASSERT_OK(OpenDb(options, path_, &db_));
  Fill(0, 100, 0);
  Flush();
  Fill(0, 100, 1, 2);
  Flush();
  Compact();  // from here on it is known what is garbage
  EXPECT_EQ(0u, Stats().moved_values);
  Compact();
  EXPECT_EQ(50u, Stats().moved_values);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(ValueOf(i, i % 2 == 0 ? 1 : 0), Get(i)) << i;
  }
}

TEST_F(OptionsTest, MediumClassNeedsFlushesThatSeparate) {
  Options options = FromStrings(kListener, kMediumFamily);
  options.blob_file_starting_level = 1;
  ExpectError(OpenDb(options, path_, &db_), "blob_file_starting_level");
}

TEST_F(OptionsTest, CompactionServicesAreRefused) {
  class Service : public CompactionService {
   public:
    const char* Name() const override { return "Service"; }
  };
  for (const char* family : {kFamily, kMediumFamily}) {
    Options options = FromStrings(kListener, family);
    options.compaction_service = std::make_shared<Service>();
    ExpectError(OpenDb(options, path_, &db_), "compaction_service");
  }
}

TEST_F(OptionsTest, OtherTablesAreRefused) {
  Options options = options_;
  options.table_factory.reset(NewPlainTableFactory());
  hybrid_.medium_value_size = 100;
  ExpectError(UseBlobHybrid(hybrid_, &options, &options), "table_factory");
  options.table_factory = nullptr;
  ExpectError(UseBlobHybrid(hybrid_, &options, &options), "table_factory");
}

TEST_F(OptionsTest, UseBlobHybridKeepsTheTableOptions) {
  Options options = options_;
  options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size = 1234;
  hybrid_.medium_value_size = 100;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  EXPECT_STREQ("BlobHybridTable", options.table_factory->Name());
  EXPECT_EQ(1234u, options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size);
  EXPECT_EQ(200u, options.min_blob_size);
  ASSERT_OK(OpenDb(options, path_, &db_));
  // RocksDB replaces the factory by a copy of it.
  ASSERT_OK(db_->SetOptions({{"table_factory.block_size", "2345"}}));
  EXPECT_STREQ("BlobHybridTable", db_->GetOptions().table_factory->Name());
  EXPECT_EQ(2345u,
            db_->GetOptions().table_factory->GetOptions<BlockBasedTableOptions>()->block_size);
  Put(0, 0, 150);
  Flush();
  EXPECT_EQ(1u, BlobFiles().size());
}

TEST_F(OptionsTest, PresetIsAccepted) {
  Options options = options_;
  options.write_buffer_size = 1 << 20;
  hybrid_.medium_value_size = 100;
  hybrid_.transient_log_budget = 0.25;
  PrepareForMediumValues(24, &hybrid_, &options);
  EXPECT_EQ(0u, hybrid_.medium_value_size);
  EXPECT_EQ(24u, hybrid_.key_size);
  EXPECT_EQ(MergeLevel::kLastButOne, hybrid_.merge_level);
  EXPECT_EQ(0.5, hybrid_.transient_log_budget);
  EXPECT_EQ(kRoundRobin, options.compaction_pri);
  EXPECT_EQ(16, options.level0_file_num_compaction_trigger);
  EXPECT_EQ(32, options.level0_slowdown_writes_trigger);
  EXPECT_EQ(48, options.level0_stop_writes_trigger);
  EXPECT_EQ(4u << 20, options.max_bytes_for_level_base);
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  EXPECT_EQ(1176u, options.min_blob_size);
  ASSERT_OK(OpenDb(options, path_, &db_));
}

TEST_F(OptionsTest, PresetAlignsBlocksWhereRocksDbAllowsIt) {
  const auto is_aligned = [](const Options& options) {
    return options.table_factory->GetOptions<BlockBasedTableOptions>()->block_align;
  };
  BlockBasedTableOptions tables;
  tables.block_size = 8192;
  Options options = options_;
  options.compression = kNoCompression;
  options.table_factory.reset(NewBlockBasedTableFactory(tables));
  const std::shared_ptr<TableFactory> shared = options.table_factory;
  Options compressed = options;
  compressed.compression_per_level = {kNoCompression, kZlibCompression};
  PrepareForBlobs(&compressed);
  EXPECT_FALSE(is_aligned(compressed));
  PrepareForBlobs(&options);
  EXPECT_TRUE(is_aligned(options));
  // A factory may be that of other families, too.
  EXPECT_FALSE(shared->GetOptions<BlockBasedTableOptions>()->block_align);
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &options));
  EXPECT_TRUE(is_aligned(options));
  EXPECT_EQ(8192u, options.table_factory->GetOptions<BlockBasedTableOptions>()->block_size);
  ASSERT_OK(OpenDb(options, path_, &db_));
  Options other = options_;
  other.table_factory.reset(NewPlainTableFactory());
  PrepareForBlobs(&other);
  EXPECT_STREQ("PlainTable", other.table_factory->Name());
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
