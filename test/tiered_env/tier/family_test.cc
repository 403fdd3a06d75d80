// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Budgets of column families.

#include <algorithm>
#include <functional>
#include <memory>

#include "plugin/tiered_env/options/tier_options.h"
#include "test/support/files.h"
#include "test/tiered_env/support/hooks.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kKiB = 1024;

class TieredFamilyTest : public TieredTest {
 protected:
  ~TieredFamilyTest() override {
    if (db_ != nullptr) {
      CloseFamilies();
    }
  }

  static Options WithoutCompactions(Options options) {
    options.disable_auto_compactions = true;
    return options;
  }
  // With these column families besides the default one.
  void OpenFamilies(const std::vector<std::string>& names, Options options) {
    options.create_missing_column_families = true;
    std::vector<ColumnFamilyDescriptor> descriptors = {{kDefaultColumnFamilyName, options}};
    for (const std::string& name : names) {
      descriptors.emplace_back(name, options);
    }
    std::vector<ColumnFamilyHandle*> handles;
    ASSERT_OK(OpenInto(&db_, [&](auto* result) {
      return DB::Open(options, db_name_, descriptors, &handles, result);
    }));
    for (ColumnFamilyHandle* handle : handles) {
      families_[handle->GetName()] = handle;
    }
  }
  void OpenFamilies(const std::vector<std::string>& names) { OpenFamilies(names, DbOptions()); }
  void CloseFamilies() {
    for (const auto& [name, handle] : families_) {
      EXPECT_OK(db_->DestroyColumnFamilyHandle(handle));
    }
    families_.clear();
    Close();
  }
  // Writes random keys, of `keys`, of a family.
  void Put(const std::string& family, int count, int keys = 10000, size_t size = 80) {
    for (int i = 0; i < count; i++) {
      const std::string key = std::to_string(1000000 + random_() % static_cast<uint64_t>(keys));
      const std::string value = std::to_string(random_()) + std::string(size, family[0]);
      ASSERT_OK(db_->Put(WriteOptions(), families_[family], key, value));
      models_[family][key] = value;
    }
  }
  // The same, and flushes it.
  void Write(const std::string& family, int count, int keys = 10000) {
    Put(family, count, keys);
    ASSERT_OK(db_->Flush(FlushOptions(), families_[family]));
  }
  void VerifyFamilies() {
    for (const auto& [family, model] : models_) {
      std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), families_[family]));
      auto expected = model.begin();
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
        ASSERT_NE(expected, model.end()) << family;
        ASSERT_EQ(it->key(), expected->first) << family;
        ASSERT_EQ(it->value(), expected->second) << family;
      }
      ASSERT_OK(it->status());
      ASSERT_EQ(expected, model.end()) << family;
    }
  }
  // Of its SSTs and blob files, by what RocksDB says.
  uint64_t BytesOf(const std::string& family, const std::string& tier) {
    ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(families_[family], &meta);
    uint64_t bytes = 0;
    for (const LevelMetaData& level : meta.levels) {
      for (const SstFileMetaData& file : level.files) {
        bytes += TierOf(file.name.substr(1)) == tier ? file.size : 0;
      }
    }
    for (const BlobMetaData& file : meta.blob_files) {
      const std::string base = file.blob_file_name.substr(file.blob_file_name.rfind('/') + 1);
      bytes += TierOf(base) == tier ? file.blob_file_size : 0;
    }
    return bytes;
  }
  // What the plugin has counted; 0 where the family has no budget.
  uint64_t CountedOf(const std::string& family, const std::string& tier) const {
    TieredStats stats;
    EXPECT_OK(GetTieredStats(fs_.get(), &stats));
    for (const TieredFamilyStats& known : stats.families) {
      if (known.family == family && known.tier == tier && known.database == db_name_) {
        return known.bytes;
      }
    }
    return 0;
  }
  // At rest a family has no more than that in fast, nearly all of it, and the rest in slow.
  void ExpectHeldTo(const std::string& family, uint64_t budget) {
    const uint64_t bytes = BytesOf(family, "fast");
    EXPECT_EQ(CountedOf(family, "fast"), bytes) << family;
    EXPECT_LE(bytes, budget) << family;
    EXPECT_GT(bytes + 90 * kKiB, budget) << family << ": " << bytes;  // one SST more has no room
    EXPECT_GT(BytesOf(family, "slow"), 0u) << family;
    EXPECT_EQ(BytesOf(family, "home"), 0u) << family;
  }
  void ExpectAllInFast(const std::string& family) {
    EXPECT_GT(BytesOf(family, "fast"), 0u) << family;
    EXPECT_EQ(BytesOf(family, "slow") + BytesOf(family, "home"), 0u) << family;
  }

  std::map<std::string, ColumnFamilyHandle*> families_;
  std::map<std::string, std::map<std::string, std::string>> models_;
};

// A file is begun as long as the family has not used up its budget, and finished where it is.
TEST_F(TieredFamilyTest, NewFilesGoToTheNextTier) {
  const std::string tiers = Tiers("cf:a=300K");
  NewFs(tiers, "0..=fast", "mover=false");
  OpenFamilies({"a", "b"}, WithoutCompactions(DbOptions()));
  for (int i = 0; i < 8; i++) {
    Write("a", 800);
    Write("b", 800);
    EXPECT_LT(BytesOf("a", "fast"), (300 + 128) * kKiB);
    EXPECT_EQ(CountedOf("a", "fast"), BytesOf("a", "fast"));
  }
  const uint64_t in_fast = BytesOf("a", "fast");
  const uint64_t in_slow = BytesOf("a", "slow");
  EXPECT_GE(in_fast, 300 * kKiB);
  EXPECT_GT(in_slow, 0u);
  EXPECT_GT(StatsOf("fast").spills, 0u);
  ExpectAllInFast("b");
  EXPECT_GT(BytesOf("b", "fast"), in_fast);
  CloseFamilies();
  EXPECT_NE(ReadFile(db_name_ + "/LOG")
                .find(": no room in tier fast (" + TierPath("fast") + ") for column family a\n"),
            std::string::npos);

  // It is counted anew at the opening.
  NewFs(tiers, "0..=fast", "mover=false");
  OpenFamilies({"a", "b"}, WithoutCompactions(DbOptions()));
  EXPECT_EQ(CountedOf("a", "fast"), in_fast);
  Write("a", 800);
  Write("b", 800);
  EXPECT_EQ(BytesOf("a", "fast"), in_fast);
  EXPECT_GT(BytesOf("a", "slow"), in_slow);
  ExpectAllInFast("b");
  VerifyFamilies();
}

TEST_F(TieredFamilyTest, FilesLeaveAndComeBack) {
  NewFs(Tiers("cf:a=300K"), "0..=fast");
  OpenFamilies({"a", "b"});
  Write("a", 20000);
  Write("b", 20000);
  ExpectQuiet();
  ExpectHeldTo("a", 300 * kKiB);
  ExpectAllInFast("b");
  EXPECT_EQ(StatsOf("slow").stranded_bytes, BytesOf("a", "slow"));
  VerifyFamilies();
  auto& model = models_["a"];
  const auto last = std::next(model.begin(), static_cast<int>(model.size() * 9 / 10));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), families_["a"], model.begin()->first, last->first));
  model.erase(model.begin(), last);
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  ASSERT_OK(db_->CompactRange(all, families_["a"], nullptr, nullptr));
  ExpectQuiet();
  ExpectAllInFast("a");
  EXPECT_EQ(StatsOf("slow").files, 0u);
  VerifyFamilies();
}

TEST_F(TieredFamilyTest, APatternHoldsEachFamilyByItself) {
  NewFs(Tiers("cf:t1=100K;cf:t*=250K;cf:*=0"), "0..=fast");
  OpenFamilies({"t1", "t2", "t3", "other"});
  for (const char* const family : {"t1", "t2", "t3", "other"}) {
    Write(family, 10000);
  }
  ExpectQuiet();
  ExpectHeldTo("t1", 100 * kKiB);
  ExpectHeldTo("t2", 250 * kKiB);
  ExpectHeldTo("t3", 250 * kKiB);
  ExpectAllInFast("other");
  VerifyFamilies();
  // One that is made while the database is open.
  ASSERT_OK(db_->CreateColumnFamily(DbOptions(), "t4", &families_["t4"]));
  Write("t4", 10000);
  ExpectQuiet();
  ExpectHeldTo("t4", 250 * kKiB);
  ASSERT_OK(db_->DropColumnFamily(families_["t4"]));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(families_["t4"]));
  families_.erase("t4");
  models_.erase("t4");
  ExpectQuiet();
  EXPECT_EQ(CountedOf("t4", "fast"), 0u);
  ExpectHeldTo("t2", 250 * kKiB);
  VerifyFamilies();
}

TEST_F(TieredFamilyTest, AnotherBudgetAfterReopening) {
  NewFs(Tiers(), "0..=fast");
  OpenFamilies({"a", "b"});
  Write("a", 15000);
  Write("b", 15000);
  ExpectQuiet();
  ExpectAllInFast("a");
  CloseFamilies();
  for (const int budget : {200, 400, 100}) {
    NewFs(Tiers("cf:a=" + std::to_string(budget) + "K"), "0..=fast");
    OpenFamilies({"a", "b"});
    ExpectQuiet();
    ExpectHeldTo("a", static_cast<uint64_t>(budget) * kKiB);
    ExpectAllInFast("b");
    VerifyFamilies();
    CloseFamilies();
  }
  NewFs(Tiers(), "0..=fast");
  OpenFamilies({"a", "b"});
  ExpectQuiet();
  ExpectAllInFast("a");
  VerifyFamilies();
}

// The family is known when the MANIFEST names the file.
TEST_F(TieredFamilyTest, WithoutTheListenerFilesLeaveAfterwards) {
  NewFs(Tiers("cf:a=100K"), "0..=fast");
  Options options = WithoutCompactions(DbOptions());
  options.listeners.clear();
  OpenFamilies({"a", "b"}, options);
  for (int i = 0; i < 6; i++) {
    Write("a", 500);
    Write("b", 500);
  }
  ExpectQuiet();
  ExpectHeldTo("a", 100 * kKiB);
  ExpectAllInFast("b");
  EXPECT_EQ(StatsOf("fast").spills, 0u);
  EXPECT_GT(StatsOf("slow").moves, 0u);
  VerifyFamilies();
}

TEST_F(TieredFamilyTest, BlobFilesCount) {
  NewFs(Tiers("cf:a=300K"), "0..=fast;blob=fast");
  Options options = DbOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 50;
  OpenFamilies({"a", "b"}, options);
  Write("a", 10000);
  Write("b", 10000);
  ExpectQuiet();
  EXPECT_LE(BytesOf("a", "fast"), 300 * kKiB);
  EXPECT_GT(BytesOf("a", "fast"), 100 * kKiB);
  EXPECT_EQ(CountedOf("a", "fast"), BytesOf("a", "fast"));
  EXPECT_GT(BytesOf("a", "slow"), 300 * kKiB);
  ExpectAllInFast("b");
  VerifyFamilies();
}

// What a family has in two tiers changes places, and fills its budget in both.
TEST_F(TieredFamilyTest, FilesChangePlacesWhereBudgetsAreUsedUp) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  OpenFamilies({"a"});
  Write("a", 20000);
  ExpectQuiet();
  const uint64_t most = std::max(BytesOf("a", "fast"), BytesOf("a", "slow"));
  CloseFamilies();
  const std::string budget = "cf:a=" + std::to_string(most);
  NewFs(Tiers(budget, budget), "0..1=slow;2..=fast");
  OpenFamilies({"a"});
  ExpectQuiet();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] <= '1' ? "slow" : "fast") << where << ": " << count;
  }
  VerifyFamilies();
}

// With the budget of the tier: what the family may not use is the others'.
TEST_F(TieredFamilyTest, OneFamilyCannotPushTheOthersOff) {
  NewFs(Tiers("budget=800K;cf:*=400K"), "0..=fast");
  OpenFamilies({"a", "b"});
  Write("b", 2000, 2000);
  Write("a", 20000);
  Write("b", 100, 2000);
  Write("a", 10000);
  ExpectQuiet();
  ExpectAllInFast("b");
  ExpectHeldTo("a", 400 * kKiB);
  VerifyFamilies();
}

TEST_F(TieredFamilyTest, EachDatabaseHasItsOwn) {
  NewFs(Tiers("cf:default=200K"), "0..=fast");
  Open();
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
  for (int i = 0; i < 10000; i++) {
    ASSERT_OK(other->Put(WriteOptions(), std::to_string(i), std::string(100, 'v')));
  }
  ASSERT_OK(other->Flush(FlushOptions()));
  ASSERT_OK(other->WaitForCompact(WaitForCompactOptions()));
  Fill(10000);
  Settle();
  TieredStats stats;
  ASSERT_OK(GetTieredStats(fs_.get(), &stats));
  ASSERT_EQ(stats.families.size(), 2u);
  for (const TieredFamilyStats& family : stats.families) {
    EXPECT_LE(family.bytes, 200 * kKiB) << family.database;
    EXPECT_GT(family.bytes, 100 * kKiB) << family.database;
  }
  Verify();
}

// Memory is lost, and a family has less of it afterwards: what has no room there goes to the next
// tier at once, without the mover.
TEST_F(TieredFamilyTest, ARecoveryHoldsToThem) {
  const auto mount = [this](const std::string& memory, const std::string& more) {
    NewFs("memory={kind=memory;path=" + TierPath("memory") + memory +
              "};slow={path=" + TierPath("slow") + more,
          "0..2=memory;3..=slow", "mover=false");
  };
  mount("", "}");
  OpenFamilies({"a", "b"}, WithoutCompactions(DbOptions()));
  for (int i = 0; i < 8; i++) {
    Write("a", 800);
    Write("b", 800);
  }
  const uint64_t bytes_of_a = BytesOf("a", "memory");
  const uint64_t bytes_of_b = BytesOf("b", "memory");
  EXPECT_GT(bytes_of_a, 500 * kKiB);
  const struct {
    const char* memory;
    const char* more;
    uint64_t least_at_home;
  } kCases[] = {
      {";cf:a=300K", "}", 0},
      // No tier is left: the slowest takes it, and the database opens.
      {";cf:a=200K", ";cf:a=100K};home={cf:a=50K}", 51 * kKiB},
  };
  for (const auto& each : kCases) {
    CloseFamilies();
    std::filesystem::remove_all(TierPath("memory"));
    mount(each.memory, each.more);
    ASSERT_FALSE(HasFailure());
    OpenFamilies({"a", "b"}, WithoutCompactions(DbOptions()));
    ASSERT_FALSE(HasFailure());
    const uint64_t in_memory = BytesOf("a", "memory");
    EXPECT_EQ(CountedOf("a", "memory"), in_memory);
    EXPECT_LE(in_memory, (each.least_at_home == 0 ? 300 : 200) * kKiB);
    EXPECT_GT(in_memory + 90 * kKiB, (each.least_at_home == 0 ? 300 : 200) * kKiB);
    EXPECT_GE(BytesOf("a", "home"), each.least_at_home);
    EXPECT_EQ(in_memory + BytesOf("a", "slow") + BytesOf("a", "home"), bytes_of_a);
    EXPECT_EQ(BytesOf("b", "memory"), bytes_of_b);
    EXPECT_NE(ReadFile(db_name_ + "/LOG").find("for column family a"), std::string::npos);
    VerifyFamilies();
  }
}

// They are in the next tier already, and leave room for one SST there.
TEST_F(TieredFamilyTest, ARecoveryCountsBlobFiles) {
  const auto mount = [this](const std::string& memory, const std::string& slow) {
    NewFs("memory={kind=memory;path=" + TierPath("memory") + memory +
              "};slow={path=" + TierPath("slow") + slow + "}",
          "0..2=memory;3..=slow;blob=slow", "mover=false");
  };
  Options options = WithoutCompactions(DbOptions());
  options.write_buffer_size = 1 << 20;
  options.enable_blob_files = true;
  options.min_blob_size = 1000;
  mount("", "");
  options.env = env_.get();
  OpenFamilies({"a"}, options);
  for (int i = 0; i < 6; i++) {
    Put("a", 4, 10000, 20000);
    Write("a", 800);
  }
  const uint64_t tables = BytesOf("a", "memory");
  const uint64_t before = BytesOf("a", "slow");
  EXPECT_GT(tables, 400 * kKiB);
  EXPECT_GT(before, 200 * kKiB);
  CloseFamilies();
  std::filesystem::remove_all(TierPath("memory"));
  mount(";cf:a=1K", ";cf:a=" + std::to_string(before + 100 * kKiB));
  options.env = env_.get();
  OpenFamilies({"a"}, options);
  ASSERT_FALSE(HasFailure());
  const uint64_t now = BytesOf("a", "slow");
  EXPECT_GT(now, before);
  EXPECT_LE(now, before + 100 * kKiB);
  EXPECT_EQ(CountedOf("a", "slow"), now);
  EXPECT_EQ(BytesOf("a", "home") + now, before + tables);
  VerifyFamilies();
}

// Memory is lost, and writes of what is rebuilt fail.
class TieredFamilyRecoveryTest : public TieredFamilyTest {
 protected:
  // Fills memory. Returns how many bytes the family has there.
  uint64_t FillMemory() {
    Mount({});
    OpenFamilies({"a"}, WithoutCompactions(DbOptions()));
    for (int i = 0; i < 8; i++) {
      Write("a", 800);
    }
    return BytesOf("a", "memory");
  }
  // What options of tiers have besides.
  struct Settings {
    std::string memory;
    std::string slow;
    std::string home;
  };
  // `before`: what comes of it when an SST is begun in `tier`.
  void LoseMemory(const Settings& settings, const std::string& tier,
                  const std::function<IOStatus()>& before) {
    CloseFamilies();
    std::filesystem::remove_all(TierPath("memory"));
    hooks_->before_create = [directory = TierPath(tier), before](const std::string& path) {
      const bool is_one = path.compare(0, directory.size(), directory) == 0 &&
                          path.find(".sst") != std::string::npos;
      return is_one ? before() : IOStatus::OK();
    };
    Mount(settings);
    OpenFamilies({"a"}, WithoutCompactions(DbOptions()));
  }
  size_t TablesIn(const std::string& tier) const {
    const std::vector<std::string> all = FilesOf(".sst");
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [&](const std::string& base) { return TierOf(base) == tier; }));
  }

 private:
  void Mount(const Settings& settings) {
    env_.reset();
    fs_.reset();
    TieredOptions options;
    options.tiers = "memory={kind=memory;path=" + TierPath("memory") + settings.memory +
                    "};slow={path=" + TierPath("slow") + settings.slow + "};home={" +
                    settings.home + "}";
    options.placement = "0..2=memory;3..=slow";
    options.mover = false;
    options.recovery_threads = 1;
    ASSERT_OK(NewTieredFileSystem(options, hooks_, &fs_));
    env_ = NewCompositeEnv(fs_);
  }

  const std::shared_ptr<HookedFs> hooks_ = std::make_shared<HookedFs>();
};

TEST_F(TieredFamilyRecoveryTest, ATierThatFailsIsPassedOver) {
  const uint64_t bytes = FillMemory();
  ASSERT_FALSE(HasFailure());
  LoseMemory({";cf:a=1K", "", ""}, "slow", [] { return IOStatus::IOError("the disk", "fails"); });
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(BytesOf("a", "home"), bytes);
  VerifyFamilies();
  CloseFamilies();
}

// What was not written takes of no budget.
TEST_F(TieredFamilyRecoveryTest, ATierThatIsFullOnceIsUsedAgain) {
  const uint64_t bytes = FillMemory();
  ASSERT_FALSE(HasFailure());
  const std::string budget = ";budget=" + std::to_string(bytes - 1);
  LoseMemory({";cf:a=1K", budget, ""}, "slow", [times = 0]() mutable {
    return ++times == 1 ? IOStatus::NoSpace("the disk", "is full") : IOStatus::OK();
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_GT(BytesOf("a", "home"), 0u);
  EXPECT_LT(BytesOf("a", "home"), bytes / 5) << "one SST of eight";
  EXPECT_EQ(BytesOf("a", "home") + BytesOf("a", "slow"), bytes);
  VerifyFamilies();
  CloseFamilies();
}

// It is not waited for as long as another one has room.
TEST_F(TieredFamilyRecoveryTest, ATierThatFailedIsTriedLast) {
  const uint64_t bytes = FillMemory();
  ASSERT_FALSE(HasFailure());
  size_t times = 0;
  LoseMemory({";budget=1K", "", "budget=" + std::to_string(bytes / 2)}, "slow", [&] {
    return ++times == 1 ? IOStatus::IOError("the disk", "fails") : IOStatus::OK();
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_GT(BytesOf("a", "home"), bytes / 4);
  EXPECT_GT(BytesOf("a", "slow"), bytes / 4);
  EXPECT_EQ(BytesOf("a", "home") + BytesOf("a", "slow"), bytes);
  EXPECT_EQ(times, 1 + TablesIn("slow"));
  VerifyFamilies();
  CloseFamilies();
}

TEST_F(TieredFamilyRecoveryTest, ATierThatFailsOnceIsTheOnlyOne) {
  const uint64_t bytes = FillMemory();
  ASSERT_FALSE(HasFailure());
  LoseMemory({";budget=1K", "", "budget=1K"}, "slow", [times = 0]() mutable {
    return ++times == 1 ? IOStatus::IOError("the disk", "fails") : IOStatus::OK();
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(BytesOf("a", "slow"), bytes);
  VerifyFamilies();
  CloseFamilies();
}

TEST_F(TieredFamilyRecoveryTest, MemoryThatFailsIsTriedOnce) {
  const uint64_t bytes = FillMemory();
  ASSERT_FALSE(HasFailure());
  int times = 0;
  LoseMemory({}, "memory", [&] {
    times++;
    return IOStatus::IOError("memory", "fails");
  });
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(BytesOf("a", "slow"), bytes);
  EXPECT_EQ(times, 1);
  VerifyFamilies();
  CloseFamilies();
}

TEST_F(TieredFamilyTest, Figures) {
  NewFs(Tiers("cf:a*=100K", "cf:*=2G"), "0..=fast");
  OpenFamilies({"a", "a\"2"});
  Write("a", 3000);
  ExpectQuiet();
  TieredStats stats;
  ASSERT_OK(GetTieredStats(fs_.get(), &stats));
  ASSERT_EQ(stats.families.size(), 5u);
  EXPECT_EQ(stats.families[0].tier, "fast");
  EXPECT_EQ(stats.families[0].family, "a");
  EXPECT_EQ(stats.families[0].budget, 100 * kKiB);
  EXPECT_EQ(stats.families[0].database, db_name_);
  EXPECT_EQ(stats.families[2].tier, "slow");
  const uint64_t bytes = BytesOf("a", "fast");
  EXPECT_EQ(stats.families[0].bytes, bytes);
  std::string value;
  ASSERT_TRUE(GetTieredProperty(fs_.get(), "rocktier.tiered_env.family_bytes.fast.a", &value));
  EXPECT_EQ(value, std::to_string(bytes));
  ASSERT_TRUE(
      GetTieredProperty(fs_.get(), "rocktier.tiered_env.family_budget_bytes.slow.default", &value));
  EXPECT_EQ(value, std::to_string(uint64_t{2} << 30));
  EXPECT_FALSE(
      GetTieredProperty(fs_.get(), "rocktier.tiered_env.family_bytes.fast.default", &value));
  EXPECT_NE(TieredMetricsText(fs_.get()).find("rocktier_tiered_env_family_bytes{db=\"" + db_name_ +
                                              "\",tier=\"fast\",cf=\"a\\\"2\"} 0\n"),
            std::string::npos)
      << TieredMetricsText(fs_.get());
  EXPECT_NE(stats.ToString().find("  column family a of " + db_name_ +
                                  " in tier fast\n    bytes : " + std::to_string(bytes)),
            std::string::npos)
      << stats.ToString();
  EXPECT_NE(stats.ToJson().find(",\"column families\":[{\"database\":\"" + db_name_ +
                                "\",\"tier\":\"fast\",\"family\":\"a\",\"bytes\":" +
                                std::to_string(bytes) + ",\"budget\":102400},{"),
            std::string::npos)
      << stats.ToJson();
  EXPECT_NE(stats.ToJson().find("\"family\":\"a\\\"2\""), std::string::npos);
}

// As an OPTIONS file has them.
TEST_F(TieredFamilyTest, OptionsAreWrittenAndReadAgain) {
  const std::string tiers = Tiers("budget=1G;cf:log_*=20M;cf:a:b#c=5;cf:*=0");
  NewFs(tiers, "cf:log_*/0..=fast");
  const ConfigOptions config;
  std::shared_ptr<FileSystem> again;
  const std::string text = fs_->ToString(config);
  ASSERT_OK(FileSystem::CreateFromString(config, text, &again));
  const auto* options = again->GetOptions<TieredOptions>();
  ASSERT_NE(options, nullptr);
  std::vector<TierOptions> expected;
  std::vector<TierOptions> read;
  ASSERT_OK(ParseTiers(tiers, &expected));
  ASSERT_OK(ParseTiers(options->tiers, &read));
  EXPECT_EQ(PrintTiers(read), PrintTiers(expected)) << text;
}

}  // namespace

}  // namespace rocktier
