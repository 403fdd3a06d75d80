// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Configurations at random: at rest every file is where it belongs, but for those that find no room
// there.

#include <chrono>
#include <filesystem>
#include <thread>

#include "plugin/tiered_env/options/tier_options.h"
#include "plugin/tiered_env/tier/placement.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class TieredRandomTest : public TieredTest {
 protected:
  Options WithEnv(Options options) const {
    options.env = env_.get();
    return options;
  }
  uint64_t Some(uint64_t n) { return random_() % n; }
  bool Coin() { return Some(2) == 0; }
  void ExpectRest();

  // Between one and four tiers, home among them, with or without budgets.
  std::string RandomTiers() {
    std::string text;
    const bool home_first = Some(5) == 0;
    names_.clear();
    if (home_first) {
      names_.emplace_back("home");
      text = "home={}";
    }
    for (const std::string name : {"fast", "slow", "third"}) {
      if (Some(4) == 0) {
        continue;
      }
      std::filesystem::create_directories(TierPath(name));
      names_.push_back(name);
      text += (text.empty() ? "" : ";") + name + "={path=" + TierPath(name) +
              (Some(3) == 0 ? ";budget=" + std::to_string(50 + Some(800)) + "K" : "") +
              (Some(3) == 0 ? ";cf:d*=" + std::to_string(50 + Some(800)) + "K" : "") +
              (Some(4) == 0 ? ";kind=pmem" : "") + "}";
    }
    if (!home_first) {
      names_.emplace_back("home");
    }
    return text.empty() ? "home={}" : text;
  }
  std::string RandomPlacement() {
    const char* const kSelectors[] = {
        "0",         "0..1",         "1",    "2..", "base", "0..base", "base+1", "base+1..", "last",
        "0..last-1", "last-1..last", "blob", "wal", "meta", "cold",    "warm",   "0.."};
    std::string text;
    for (uint64_t rules = Some(5); rules > 0; rules--) {
      text += (text.empty() ? "" : ";") + std::string(kSelectors[Some(std::size(kSelectors))]) +
              "=" + names_[Some(names_.size())];
    }
    return text;
  }
  Options RandomOptions() {
    Options options = DbOptions();
    if (Coin()) {
      options.listeners.clear();
    }
    options.level_compaction_dynamic_level_bytes = Coin();
    options.write_buffer_size = (32 + Some(200)) << 10;
    options.target_file_size_base = (16 + Some(100)) << 10;
    options.max_background_jobs = 1 + static_cast<int>(Some(4));
    options.max_subcompactions = 1 + static_cast<uint32_t>(Some(3));
    options.compaction_style = Some(4) == 0 ? kCompactionStyleUniversal : kCompactionStyleLevel;
    options.num_levels = 3 + static_cast<int>(Some(5));
    options.max_open_files = Coin() ? -1 : 20;
    options.use_direct_reads = Some(4) == 0;
    options.use_direct_io_for_flush_and_compaction = Some(4) == 0;
    options.writable_file_max_buffer_size = Coin() ? 4096 : 1 << 20;
    options.allow_mmap_reads = !options.use_direct_reads &&
                               !options.use_direct_io_for_flush_and_compaction && Some(4) == 0;
    options.enable_blob_files = Coin();
    options.min_blob_size = 60;
    options.blob_file_size = 100 << 10;
    options.enable_blob_garbage_collection = Coin();
    options.max_manifest_file_size = Coin() ? 5000 : 1 << 30;
    options.last_level_temperature = Coin() ? Temperature::kCold : Temperature::kUnknown;
    options.default_write_temperature = Coin() ? Temperature::kWarm : Temperature::kUnknown;
    options.manual_wal_flush = Some(4) == 0;
    options.WAL_ttl_seconds = Some(4) == 0 ? 1000 : 0;
    return options;
  }

  // The levels of the families are computed from what RocksDB says, not by what the plugin has
  // read.
  void ExpectPlaced(const std::string& tiers, const std::string& placement) {
    std::vector<TierOptions> parsed;
    ASSERT_OK(ParseTiers(tiers, &parsed));
    std::vector<std::string> names;
    for (const TierOptions& tier : parsed) {
      names.push_back(tier.name);
    }
    Placement rules;
    ASSERT_OK(Placement::Parse(placement, names, &rules));
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    LevelRange shape;
    bool is_first = true;
    for (const LevelMetaData& level : meta.levels) {
      if (level.level > 0 && !level.files.empty()) {
        shape.base = is_first ? level.level : shape.base;
        shape.last = level.level;
        is_first = false;
      }
    }
    const auto expect = [&](const std::string& base, uint64_t size, const Facts& facts) {
      const TierOptions& wanted =
          parsed[static_cast<size_t>(rules.TierOf(facts, FindTier(parsed, "home")))];
      const std::string is = TierOf(base);
      const uint64_t bytes = StatsOf(wanted.name).bytes + size;  // the only family's
      const uint64_t of_family = FamilyBudgetOf(wanted, kDefaultColumnFamilyName);
      EXPECT_TRUE(is == wanted.name || (wanted.budget != 0 && bytes > wanted.budget) ||
                  (of_family != 0 && bytes > of_family))
          << base << " of level " << facts.level << " is in " << is << ", not in " << wanted.name;
    };
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        Facts facts;
        facts.content = Content::kTable;
        facts.level = level.level;
        facts.shape = shape;
        facts.temperature = file.temperature;
        expect(file.name.substr(1), file.size, facts);
      }
    }
    for (const BlobMetaData& file : meta.blob_files) {
      Facts facts;
      facts.content = Content::kBlob;
      expect(file.blob_file_name.substr(file.blob_file_name.rfind('/') + 1), file.blob_file_size,
             facts);
    }
  }

  std::vector<std::string> names_;
};

// Files that RocksDB deletes meanwhile may make room for a few more moves.
void TieredRandomTest::ExpectRest() {
  uint64_t before;
  uint64_t after = Moves();
  int tries = 0;
  do {
    before = after;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_OK(WaitForMoves(fs_.get()));
    after = Moves();
  } while (after != before && ++tries < 20);
  EXPECT_EQ(after, before);
}

TEST_F(TieredRandomTest, NothingIsStranded) {
  random_.seed(Seed());
  for (int round = 0; round < Rounds(20); round++) {
    // What is in a tier that the next options do not name would be out of reach.
    std::string tiers = RandomTiers();
    const Options options = RandomOptions();
    for (int times = 0; times < 3; times++) {
      const std::string placement = RandomPlacement();
      SCOPED_TRACE(tiers + "   " + placement);
      NewFs(tiers, placement);
      Open(options);
      ASSERT_FALSE(HasFailure());
      Fill(static_cast<int>(Some(10000)), 10000, 20 + Some(200));
      if (Coin()) {
        ASSERT_OK(db_->FlushWAL(/*sync=*/true));
      }
      if (Some(3) == 0) {
        ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      }
      Settle();
      ExpectRest();
      ExpectPlaced(tiers, placement);
      TieredStats stats;
      ASSERT_OK(GetTieredStats(fs_.get(), &stats));
      for (const TieredTierStats& tier : stats.tiers) {
        EXPECT_TRUE(tier.budget == 0 || tier.bytes <= tier.budget) << tier.name;
        EXPECT_EQ(tier.errors, 0u) << tier.name;
      }
      for (const TieredFamilyStats& family : stats.families) {
        EXPECT_LE(family.bytes, family.budget) << family.tier;
        EXPECT_EQ(family.bytes, StatsOf(family.tier).bytes) << family.tier;
      }
      Verify();
      ASSERT_FALSE(HasFailure());
    }
    Close();
    ASSERT_OK(DestroyDB(db_name_, WithEnv(options)));
    for (const std::string name : {"fast", "slow", "third"}) {
      EXPECT_TRUE(!std::filesystem::exists(TierPath(name)) ||
                  std::filesystem::is_empty(TierPath(name)))
          << name;
    }
    // DestroyDB() leaves the directory, empty, if there was an archive in it.
    EXPECT_TRUE(!std::filesystem::exists(db_name_) || std::filesystem::is_empty(db_name_));
    model_.clear();
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace

}  // namespace rocktier
