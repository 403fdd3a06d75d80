// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/blob_hybrid/options.h"

#include <cmath>

#include "plugin/blob_hybrid/factory.h"
#include "rocksdb/convenience.h"
#include "rocksdb/utilities/options_util.h"
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

  const BlobHybridOptions& OptionsOf(const Options& options) {
    return static_cast<const BlobHybridFactory*>(options.compaction_filter_factory.get())
        ->options();
  }
};

constexpr char kListener[] = "create_if_missing=true;listeners={id=BlobHybridListener}";
constexpr char kFamily[] =
    "enable_blob_files=true;min_blob_size=100;"
    "compaction_filter_factory={id=BlobHybrid;gc_garbage_ratio=0.25;max_space_amplification=1.75;"
    "space_floor=2M;gc_bytes_per_second=3K;readahead_size=0}";

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
  EXPECT_TRUE(HasListener(options));
  ASSERT_OK(OpenDb(options, path_, &db_));
}

TEST_F(OptionsTest, WrongValuesAreNamed) {
  hybrid_.gc_garbage_ratio = 0;
  ExpectError(TryOpen(), "gc_garbage_ratio=0.0");
  hybrid_.gc_garbage_ratio = 1.5;
  ExpectError(TryOpen(), "gc_garbage_ratio=1.5");
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

TEST_F(OptionsTest, OtherCompactionStylesAreRefused) {
  Options options = FromStrings(kListener, kFamily);
  options.compaction_style = kCompactionStyleUniversal;
  ExpectError(OpenDb(options, path_, &db_), "compaction_style");
}

TEST_F(OptionsTest, UserTimestampsAreRefused) {
  Options options = FromStrings(kListener, kFamily);
  options.comparator = test::BytewiseComparatorWithU64TsWrapper();
  ExpectError(OpenDb(options, path_, &db_), "comparator");
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
  ASSERT_OK(ValidateFamily(options, options));
  // A second family shares the listener.
  ColumnFamilyOptions other;
  ASSERT_OK(UseBlobHybrid(hybrid_, &options, &other));
  EXPECT_EQ(1u, options.listeners.size());
  ExpectError(UseBlobHybrid(hybrid_, &options, &other), "compaction_filter_factory");

  Options universal = options_;
  universal.compaction_style = kCompactionStyleUniversal;
  ExpectError(UseBlobHybrid(hybrid_, &universal, &universal), "compaction_style");
  EXPECT_EQ(nullptr, universal.compaction_filter_factory);
  EXPECT_TRUE(universal.listeners.empty());
}

}  // namespace
}  // namespace blob_hybrid
}  // namespace ROCKSDB_NAMESPACE
