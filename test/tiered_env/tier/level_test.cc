// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Placement by level and by temperature.

#include <filesystem>
#include <set>

#include "plugin/tiered_env/compat.h"
#include "rocksdb/statistics.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class TieredLevelTest : public TieredTest {
 protected:
  static Options Dynamic(Options options) {
    options.level_compaction_dynamic_level_bytes = true;
    return options;
  }
  // The lowest and the highest level below L0 with files.
  std::pair<int, int> BaseAndLast() const {
    int base = 100;
    int last = 0;
    for (const auto& [where, count] : Census()) {
      const int level = where[1] - '0';
      base = level > 0 ? std::min(base, level) : base;
      last = std::max(last, level);
    }
    return {base, last};
  }
  // Writes the last level anew, and some records above it: by itself RocksDB may have moved every
  // file to the last level without writing it, so that none has the level's temperature.
  void RewriteLastLevel() {
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    Fill(1000);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  // With the column families a, b and c, which come after the default one.
  void OpenFamilies(std::vector<ColumnFamilyHandle*>* families) {
    Options options = DbOptions();
    options.create_missing_column_families = true;
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name :
         {kDefaultColumnFamilyName, std::string("a"), std::string("b"), std::string("c")}) {
      descriptors.emplace_back(name, options);
    }
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(options, db_name_, descriptors, families, result);
    }));
  }
  void CloseFamilies(std::vector<ColumnFamilyHandle*>* families) {
    for (ColumnFamilyHandle* family : *families) {
      ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
    }
    families->clear();
    Close();
  }
};

TEST_F(TieredLevelTest, BaseOfDynamicLevels) {
  NewFs(Tiers(), "0..base=fast;base+1..=slow");
  Open(Dynamic(DbOptions()));
  for (int i = 0; i < 3; i++) {  // ever more levels
    Fill(10000 << i, 10000 << (2 * i));
    ExpectQuiet();
    const auto [base, last] = BaseAndLast();
    for (const auto& [where, count] : Census()) {
      const int level = where[1] - '0';
      EXPECT_EQ(where.substr(3), level <= base ? "fast" : "slow") << where << " base " << base;
    }
  }
  const auto [base, last] = BaseAndLast();
  EXPECT_LT(base, last);
  Verify();
}

TEST_F(TieredLevelTest, LastOfDynamicLevels) {
  NewFs(Tiers(), "last=slow;0..=fast");
  Options options = Dynamic(DbOptions());
  options.listeners.clear();  // by the MANIFEST alone
  Open(options);
  Fill(60000, 100000);
  ExpectQuiet();
  const auto [base, last] = BaseAndLast();
  EXPECT_LT(base, last);
  for (const auto& [where, count] : Census()) {
    const int level = where[1] - '0';
    EXPECT_EQ(where.substr(3), level == last ? "slow" : "fast") << where << " last " << last;
  }
  Verify();
}

TEST_F(TieredLevelTest, WithTheListenerHardlyAnythingIsMoved) {
  NewFs(Tiers(), "0..base=fast;base+1..=slow");
  Open(Dynamic(DbOptions()));
  Fill(100000, 100000);
  ExpectQuiet();
  const uint64_t written = StatsOf("fast").written_bytes + StatsOf("slow").written_bytes;
  uint64_t moved = StatsOf("fast").moved_bytes + StatsOf("slow").moved_bytes;
  EXPECT_LT(moved, written / 4) << "of " << written;
  Verify();
}

TEST_F(TieredLevelTest, Universal) {
  NewFs(Tiers(), "last=slow;0..=fast");
  Options options = DbOptions();
  options.compaction_style = kCompactionStyleUniversal;
  options.num_levels = 5;
  Open(options);
  Fill(40000);
  ExpectQuiet();
  const int last = BaseAndLast().second;
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] - '0' == last && last > 0 ? "slow" : "fast") << where;
  }
  Verify();
}

TEST_F(TieredLevelTest, Fifo) {
  NewFs(Tiers(), "0=fast");
  Options options = DbOptions();
  options.compaction_style = kCompactionStyleFIFO;
  options.num_levels = 1;
  options.compaction_options_fifo.max_table_files_size = 1 << 20;
  Open(options);
  Fill(40000);
  ExpectQuiet();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where, "L0 fast");
  }
  EXPECT_LT(BytesIn("fast"), 3u << 20);
}

// By the listener before a file is written; by the MANIFEST, after it, without it.
TEST_F(TieredLevelTest, RulesOfColumnFamilies) {
  for (const bool listens : {true, false}) {
    NewFs(Tiers(), "cf:log_*/blob=slow;cf:log_*=fast;cf:default=slow");
    Options options = DbOptions();
    options.enable_blob_files = true;
    options.min_blob_size = 500;
    if (!listens) {
      options.listeners.clear();
    }
    Open(options);
    std::vector<ColumnFamilyHandle*> families;
    for (const char* const name : {"log_1", "log_2", "other"}) {
      families.push_back(nullptr);
      ASSERT_OK(db_->CreateColumnFamily(options, name, &families.back()));
      for (int i = 0; i < 300; i++) {
        ASSERT_OK(db_->Put(WriteOptions(), families.back(), std::to_string(i),
                           std::string(i % 2 == 0 ? 100 : 1000, 'v')));
      }
    }
    Fill(300);
    for (ColumnFamilyHandle* family : families) {
      ASSERT_OK(db_->Flush(FlushOptions(), family));
    }
    ExpectQuiet();
    EXPECT_EQ(Moves() == 0, listens);
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    EXPECT_GE(files.size(), 4u);
    for (const LiveFileMetaData& file : files) {
      const std::string& family = file.column_family_name;
      EXPECT_EQ(TierOf(file.name.substr(1)), family == "default" ? "slow"
                                             : family == "other" ? "home"
                                                                 : "fast")
          << family;
    }
    std::set<std::string> blobs;
    for (const std::string& base : FilesOf(".blob")) {
      blobs.insert(TierOf(base));
    }
    EXPECT_EQ(blobs, (std::set<std::string>{"home", "slow"}));
    Verify();
    for (ColumnFamilyHandle* family : families) {
      ASSERT_OK(db_->DropColumnFamily(family));
      ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
    }
    ExpectQuiet();
    Close();
    ASSERT_OK(DestroyDB(db_name_, options));
    model_.clear();
  }
}

// What two families have below L1 changes places, and nothing else moves.
TEST_F(TieredLevelTest, ARuleBecomesThatOfAnotherColumnFamily) {
  NewFs(Tiers(), "cf:a=fast;0..1=fast;2..=slow");
  std::vector<ColumnFamilyHandle*> families;
  OpenFamilies(&families);
  ASSERT_EQ(families.size(), 4u);
  for (size_t i = 1; i < families.size(); i++) {
    for (int put = 0; put < 20000; put++) {
      ASSERT_OK(db_->Put(WriteOptions(), families[i], std::to_string(random_() % 10000),
                         std::string(100, 'v')));
    }
    ASSERT_OK(db_->Flush(FlushOptions(), families[i]));
  }
  ExpectQuiet();
  std::set<std::string> before;
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const LiveFileMetaData& file : files) {
    before.insert(file.name);
  }
  CloseFamilies(&families);
  NewFs(Tiers(), "cf:b=fast;0..1=fast;2..=slow");
  OpenFamilies(&families);
  ExpectQuiet();
  files.clear();
  db_->GetLiveFilesMetaData(&files);
  EXPECT_EQ(files.size(), before.size());
  std::map<std::string, uint64_t> lower;  // bytes below L1, by family
  uint64_t moves = 0;
  for (const LiveFileMetaData& file : files) {
    EXPECT_EQ(before.count(file.name), 1u) << file.name;
    const std::string& family = file.column_family_name;
    EXPECT_EQ(TierOf(file.name.substr(1)), file.level <= 1 || family == "b" ? "fast" : "slow")
        << family << " " << file.level;
    lower[family] += file.level > 1 ? file.size : 0;
    moves += file.level > 1 && family != "c" ? 1 : 0;
  }
  for (const char* const family : {"a", "b", "c"}) {
    EXPECT_GT(lower[family], 0u) << family;
  }
  EXPECT_EQ(StatsOf("fast").moved_bytes, lower["b"]);
  EXPECT_EQ(StatsOf("slow").moved_bytes, lower["a"]);
  EXPECT_EQ(StatsOf("home").moved_bytes, 0u);
  EXPECT_EQ(Moves(), moves);
  CloseFamilies(&families);
}

// Each family has a base of its own.
TEST_F(TieredLevelTest, ColumnFamilies) {
  NewFs(Tiers(), "0..base=fast;base+1..=slow");
  const Options options = Dynamic(DbOptions());
  Open(options);
  ColumnFamilyHandle* small = nullptr;
  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options, "small", &small));
  ASSERT_OK(db_->CreateColumnFamily(options, "dropped", &dropped));
  for (int i = 0; i < 1000; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), small, std::to_string(i), std::string(100, 's')));
    ASSERT_OK(db_->Put(WriteOptions(), dropped, std::to_string(i), std::string(100, 'd')));
  }
  CompactRangeOptions all;
  for (ColumnFamilyHandle* family : {small, dropped}) {
    ASSERT_OK(db_->Flush(FlushOptions(), family));
    ASSERT_OK(db_->CompactRange(all, family, nullptr, nullptr));
  }
  Fill(60000, 100000);
  ExpectQuiet();
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::map<std::string, int> base;
  for (const LiveFileMetaData& file : files) {
    if (file.level > 0) {
      const auto it = base.emplace(file.column_family_name, file.level).first;
      it->second = std::min(it->second, file.level);
    }
  }
  EXPECT_NE(base["small"], base["default"]);
  for (const LiveFileMetaData& file : files) {
    EXPECT_EQ(TierOf(file.name.substr(1)),
              file.level <= base[file.column_family_name] ? "fast" : "slow")
        << file.column_family_name << " " << file.level;
  }
  const size_t before = FilesIn("fast") + FilesIn("slow");
  ASSERT_OK(db_->DropColumnFamily(dropped));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(dropped));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(small));
  Fill(1000);
  ExpectQuiet();
  files.clear();
  db_->GetLiveFilesMetaData(&files);
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), files.size()) << before;
  Verify();
}

TEST_F(TieredLevelTest, AnotherPlacementAfterReopening) {
  const char* const kPlacements[] = {"0..1=fast;2..=slow", "0..=slow", "",
                                     "last=fast;0..=slow", "0=fast",   "base..last=fast"};
  NewFs(Tiers(), kPlacements[0]);
  Open();
  Fill(20000);
  ExpectQuiet();
  for (const char* placement : kPlacements) {
    Reopen(Tiers(), placement);
    ExpectQuiet();
    EXPECT_EQ(StatsOf("fast").stranded_bytes + StatsOf("slow").stranded_bytes +
                  StatsOf("home").stranded_bytes,
              0u)
        << placement;
    if (*placement == '\0') {
      EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
    }
    Verify();
  }
}

// The way back: nothing in tiers, then RocksDB alone.
TEST_F(TieredLevelTest, BackToRocksDbAlone) {
  NewFs(Tiers(), "0..1=fast;2..=slow;wal=fast;meta=fast");
  Open();
  Fill(20000);
  Settle();
  for (int i = 0; i < 2; i++) {  // RocksDB keeps two OPTIONS files
    Reopen(Tiers(), "");
    ExpectQuiet();
  }
  Close();
  EXPECT_EQ(FilesIn("fast") + FilesIn("slow"), 0u);
  std::filesystem::remove_all(TierPath("fast"));
  std::filesystem::remove_all(TierPath("slow"));
  Options options = DbOptions();
  options.env = Env::Default();
  options.listeners.clear();
  Open(options);
  Verify();
  Close();
}

#ifdef TIERED_HAS_SUBMIT_READ_ASYNC  // since the version that has it
TEST_F(TieredLevelTest, AManifestThatIsGoneOnWith) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  Options options = DbOptions();
  options.reuse_manifest_on_open = true;
  options.listeners.clear();
  for (int i = 0; i < 3; i++) {
    Open(options);
    Fill(20000);
    ExpectQuiet();
    ExpectUpperInFast();
  }
  Verify();
}
#endif

TEST_F(TieredLevelTest, LastLevelTemperature) {
  NewFs(Tiers("temperature=hot", "temperature=cold"), "cold=slow;0..=fast");
  Options options = DbOptions();
  options.last_level_temperature = Temperature::kCold;
  options.num_levels = 3;
  options.statistics = CreateDBStatistics();
  Open(options);
  Fill(40000);
  RewriteLastLevel();
  ExpectQuiet();
  // A file that RocksDB has moved to the last level without writing it has no temperature.
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  int cold = 0;
  for (const LiveFileMetaData& file : files) {
    const bool is_cold = file.temperature == Temperature::kCold;
    EXPECT_EQ(TierOf(file.name.substr(1)), is_cold ? "slow" : "fast") << file.name;
    cold += is_cold ? 1 : 0;
  }
  EXPECT_GT(cold, 0);
  Verify();
  EXPECT_GT(options.statistics->getTickerCount(COLD_FILE_READ_COUNT), 0u);
  EXPECT_GT(options.statistics->getTickerCount(COLD_FILE_READ_BYTES), 0u);
}

// Recent data stays above the last level, and with that on the fast tier, until it is old.
TEST_F(TieredLevelTest, PrecludeLastLevelDataSeconds) {
  NewFs(Tiers(), "cold=slow;0..=fast");
  Options options = DbOptions();
  options.compaction_style = kCompactionStyleUniversal;
  options.last_level_temperature = Temperature::kCold;
  for (const bool is_old : {false, true}) {
    options.preclude_last_level_data_seconds = is_old ? 0 : 24 * 3600;
    Open(options);
    if (!is_old) {
      Fill(20000);
    }
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
    ExpectQuiet();
    std::vector<LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    EXPECT_FALSE(files.empty());
    for (const LiveFileMetaData& file : files) {
      EXPECT_EQ(is_old, file.level == options.num_levels - 1) << file.name;
      EXPECT_EQ(is_old ? "slow" : "fast", TierOf(file.name.substr(1))) << file.name;
    }
  }
  Verify();
}

TEST_F(TieredLevelTest, DefaultWriteTemperature) {
  NewFs(Tiers(), "warm=slow;hot=fast");
  Options options = DbOptions();
  options.default_write_temperature = Temperature::kWarm;
  options.last_level_temperature = Temperature::kHot;
  options.num_levels = 3;
  options.statistics = CreateDBStatistics();
  Open(options);
  Fill(40000);
  RewriteLastLevel();
  ExpectQuiet();
  // A file that RocksDB has moved to the last level without writing it has the temperature that it
  // was written with.
  std::vector<LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  for (const LiveFileMetaData& file : files) {
    const bool is_hot = file.temperature == Temperature::kHot;
    EXPECT_TRUE(is_hot ? file.level == 2 : file.temperature == Temperature::kWarm) << file.name;
    EXPECT_EQ(TierOf(file.name.substr(1)), is_hot ? "fast" : "slow") << file.name;
  }
  Verify();
  EXPECT_GT(options.statistics->getTickerCount(HOT_FILE_READ_COUNT), 0u);
  EXPECT_GT(options.statistics->getTickerCount(WARM_FILE_READ_COUNT), 0u);
}

}  // namespace

}  // namespace rocktier
