// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What happens to copies: tiers, files that go away, budgets, damage, errors.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "file/file_util.h"
#include "rocksdb/statistics.h"
#include "test/hot_promotion/store/on_disk.h"
#include "test/hot_promotion/support.h"
#include "test/support/no_threads.h"
#include "test/support/seed.h"
#include "test/support/wait.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

using EngineTest = HotDb;

TEST_F(EngineTest, FilesMoveFromFastToSlowStorageWithTheirHotRecords) {
  hot_.slow = root_ + "/slow";
  options_.db_paths = {{path_, 1 << 20}, {root_ + "/slow", 1 << 30}};
  Open();
  Fill(0, 100);
  Flush();
  for (int i = 0; i < 50; i++) {
    Get(i);
  }
  EXPECT_EQ(50u, TakeServed().fast);
  Settle();
  CompactRangeOptions range;
  range.target_path_id = 1;
  range.change_level = true;
  range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(range, nullptr, nullptr));
  EXPECT_GE(Stats().retained, 50u);
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  const Served served = TakeServed();
  EXPECT_EQ(50u, served.store);
  EXPECT_EQ(50u, served.slow);
}

// A FileSystem that knows temperatures, as one with tiers does.
class TemperatureFileSystem : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "TemperatureFileSystem"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* debug) override {
    class File : public FSRandomAccessFileOwnerWrapper {
     public:
      File(std::unique_ptr<FSRandomAccessFile>&& target, Temperature temperature)
          : FSRandomAccessFileOwnerWrapper(std::move(target)), temperature_(temperature) {}
      Temperature GetTemperature() const override { return temperature_; }

     private:
      const Temperature temperature_;
    };
    std::unique_ptr<FSRandomAccessFile> file;
    const IOStatus s = target()->NewRandomAccessFile(name, options, &file, debug);
    if (s.ok()) {
      *result = std::make_unique<File>(std::move(file), temperature);
    }
    return s;
  }

  Temperature temperature = Temperature::kHot;
};

TEST_F(EngineTest, ColdFilesAreSlow) {
  const auto file_system = std::make_shared<TemperatureFileSystem>(FileSystem::Default());
  const auto env = NewCompositeEnv(file_system);
  options_.env = env.get();
  hot_.slow = "temperature:cold";
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().fast);
  file_system->temperature = Temperature::kCold;
  Compact();
  EXPECT_EQ(50u, Stats().retained);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().store);
  CloseAll();
}

TEST_F(EngineTest, RecordsOfDeletedFilesAreForgotten) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  EXPECT_EQ(1u, Stats().store_files);
  Fill(100, 200);
  Flush();
  EXPECT_EQ(2u, Stats().store_files);
  Compact();  // both files are deleted, one is made
  Settle();
  EXPECT_EQ(1u, Stats().store_files);
  EXPECT_EQ(ValueOf(5), Get(5));
}

TEST_F(EngineTest, FilesDeletedWhileNobodyLookedAreForgotten) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  CloseAll();
  {  // without the plugin
    std::unique_ptr<DB> db;
    Options stock;
    ASSERT_OK(OpenDb(stock, path_, &db));
    ASSERT_OK(db->Put(WriteOptions(), KeyOf(5), "stock"));
    CompactRangeOptions range;
    range.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db->CompactRange(range, nullptr, nullptr));
  }
  Open();
  EXPECT_EQ("stock", Get(5));
  EXPECT_EQ(ValueOf(6), Get(6));
  EXPECT_EQ(2u, TakeServed().slow);
  Settle();
  EXPECT_EQ(1u, Stats().store_files);
}

// Files come and go, and their copies with them.
TEST_F(EngineTest, TheBudgetIsKept) {
  hot_.budget = 1 << 20;
  hot_.promotion_cache = 256 << 10;
  Open();
  OnDisk most(hot_.path + "/store");
  for (int version = 0; version < 4; version++) {
    Fill(0, 20000, version);
    Flush();
    Compact();
    for (int i = 0; i < 60000; i++) {
      const int key = i % 3000;
      ASSERT_EQ(ValueOf(key, version), Get(key));
      if (i % 1000 == 0) {
        const OnDisk now(hot_.path + "/store");
        most = now.bytes() > most.bytes() ? now : most;
      }
    }
    const Status s = SettleHotPromotion(options_.table_factory.get());
    EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
  }
  EXPECT_LE(most.bytes(), hot_.budget / 100 * 105) << most.list();
  EXPECT_GT(most.bytes(), hot_.budget / 4);
  EXPECT_GT(TakeServed().store, 1000u);
  EXPECT_EQ(0u, Stats().errors);
}

size_t CountThreads() {
  std::vector<std::string> threads;
  EXPECT_OK(Env::Default()->GetChildren("/proc/self/task", &threads));
  return threads.size();
}

size_t threads_before_the_end = 0;

// In Java, factories are often not destroyed. What goes on in the background would meet static
// objects of RocksDB that are gone.
TEST_F(EngineTest, NothingGoesOnInTheBackgroundWhenTheProcessEnds) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        // Comes after what the plugin asks for later, and before static objects go. Linux may list
        // a thread that has been joined for a moment.
        std::atexit([] {
          _exit(rocktier::WaitFor([] { return CountThreads() < threads_before_the_end; }) ? 0 : 1);
        });
        Open();
        Fill(0, 100);
        Flush();
        Heat(0, 50);
        threads_before_the_end = CountThreads();
        std::exit(2);
      },
      testing::ExitedWithCode(0), "");
}

std::string table_at_the_end;  // the folder of the access table

// The thread of the access table would write it seconds later.
TEST_F(EngineTest, AccessesAreWrittenBeforeTheProcessEnds) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        std::atexit([] {
          std::vector<std::string> files;
          const Status s = Env::Default()->GetChildren(table_at_the_end, &files);
          _exit(s.ok() && std::any_of(files.begin(), files.end(),
                                      [](const Slice& file) { return file.ends_with(".sst"); })
                    ? 0
                    : 1);
        });
        Open();
        table_at_the_end = hot_.path + "/ralt";
        Fill(0, 10);
        Flush();
        Get(5);
        std::exit(2);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(EngineTest, ADirectoryThatCannotBeUsedIsNoError) {
  hot_.path = "/dev/null/hot";
  Open();
  Fill(0, 10);
  Flush();
  EXPECT_EQ(ValueOf(5), Get(5));
  Compact();
  EXPECT_EQ(ValueOf(5), Get(5));
  HotPromotionStats stats;
  EXPECT_TRUE(GetHotPromotionStats(options_.table_factory.get(), &stats).IsNotFound());
  std::string log;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOG", &log));
  EXPECT_NE(std::string::npos, log.find("nothing is promoted"));
}

// Databases go on without a store, and their SSTs come and go.
TEST_F(EngineTest, SstsAreForgottenWithoutAStore) {
  std::unique_ptr<Folder> another;
  ASSERT_OK(Folder::Open(Folder::Kind::kTop, hot_.path, &another));
  const std::shared_ptr<Engine> engine = Engine::Get(hot_);
  EXPECT_TRUE(engine->GetStatus().IsBusy()) << engine->GetStatus().ToString();
  const auto lease = engine->catalog()->Lease(FileSystem::Default());
  for (uint64_t i = 1; i <= 1000; i++) {
    engine->catalog()->Add({i, i}, 0, root_ + "/none" + std::to_string(i), *lease);
    engine->NoteObsolete({i, i});
  }
  EXPECT_TRUE(rocktier::WaitFor([&] { return engine->Stats().store_files == 0; }));
}

TEST_F(EngineTest, PropertiesAreTheStatisticsAndSoIsTheFile) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 10);
  const TableFactory* const factory = options_.table_factory.get();
  const auto property = [&](const std::string& name) {
    std::string value = "none";
    GetHotPromotionProperty(factory, "rocktier.hot_promotion." + name, &value);
    return value;
  };
  const HotPromotionStats stats = Stats();
  EXPECT_GT(stats.promoted, 0u);
  EXPECT_EQ(std::to_string(stats.promoted), property("promoted"));
  EXPECT_EQ(std::to_string(stats.store_budget), property("store_budget_bytes"));
  EXPECT_EQ(std::to_string(stats.access_table.at("accesses")), property("access_table_accesses"));
  EXPECT_EQ("none", property("access_table"));
  const std::string line = "rocktier_hot_promotion_promoted_total{path=\"" + hot_.path + "\"} " +
                           std::to_string(stats.promoted) + "\n";
  EXPECT_NE(std::string::npos, HotPromotionMetricsText(factory).find(line));
  const std::string file = hot_.path + "/rocktier_hot_promotion.prom";
  std::string text;
  EXPECT_TRUE(rocktier::WaitFor([&] {
    ReadFileToString(Env::Default(), file, &text).PermitUncheckedError();
    return text.find(line) != std::string::npos;
  })) << text;
  CloseAll();
  EXPECT_TRUE(Env::Default()->FileExists(file).IsNotFound());
  // What a process leaves that is killed is nobody else's, and goes with the rest.
  const std::string stale = "# HELP rocktier_hot_promotion_info stale\n";
  const std::string half = file + ".hot_promotion.4194304.tmp";  // Linux has no such process
  ASSERT_OK(WriteStringToFile(Env::Default(), stale, file));
  ASSERT_OK(WriteStringToFile(Env::Default(), "half", half));
  Open();
  EXPECT_EQ(ValueOf(5), Get(5));
  const auto is_stale = [&] {
    return Env::Default()->FileExists(half).ok() ||
           (ReadFileToString(Env::Default(), file, &text).ok() && text == stale);
  };
  EXPECT_TRUE(rocktier::WaitFor([&] { return !is_stale(); }));
  CloseAll();
  ASSERT_OK(WriteStringToFile(Env::Default(), stale, file));
  ASSERT_OK(ClearHotStore(hot_.path));
  EXPECT_TRUE(Env::Default()->FileExists(file).IsNotFound());
}

TEST_F(EngineTest, StatisticsOfOtherFactories) {
  HotPromotionStats stats;
  EXPECT_TRUE(GetHotPromotionStats(nullptr, &stats).IsInvalidArgument());
  const std::unique_ptr<TableFactory> stock(NewBlockBasedTableFactory());
  EXPECT_TRUE(GetHotPromotionStats(stock.get(), &stats).IsInvalidArgument());
}

TEST_F(EngineTest, BadOptionsFailTheOpen) {
  hot_.slow = "nowhere";
  options_.table_factory = std::make_shared<HotPromotionTable>(table_options_, hot_);
  const Status s = OpenDb(options_, path_, &db_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("slow: nowhere"));
}

// Any of its files is lost or changed while it is closed.
TEST_F(EngineTest, DamageNeverIsAnError) {
  const auto seed = static_cast<uint32_t>(rocktier::FromEnvironment("ROCKTIER_SEED", 7));
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  Open();
  Fill(0, 200);
  Flush();
  for (int round = 0; round < 30; round++) {
    Heat(0, 100);
    CloseAll();
    const std::string directory = hot_.path + (random.OneIn(2) ? "/store" : "/ralt");
    std::vector<std::string> names;
    ASSERT_OK(Env::Default()->GetChildren(directory, &names));
    const std::string name =
        directory + "/" + names[random.Uniform(static_cast<int>(names.size()))];
    std::string contents;
    ASSERT_OK(ReadFileToString(Env::Default(), name, &contents));
    if (random.OneIn(3) || contents.empty()) {
      ASSERT_OK(Env::Default()->DeleteFile(name));
    } else {
      const int position = random.Uniform(static_cast<int>(contents.size()));
      if (random.OneIn(2)) {
        contents.resize(position);
      } else {
        contents[position] = static_cast<char>(contents[position] ^ 4);
      }
      ASSERT_OK(WriteStringToFile(Env::Default(), contents, name));
    }
    Open();
    for (int i = 0; i < 200; i++) {
      ASSERT_EQ(ValueOf(i), Get(i)) << name;
    }
    std::string log;
    ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOG", &log));
    const size_t told = log.find("nothing is promoted");
    ASSERT_EQ(std::string::npos, told) << name << ": " << log.substr(told, 300);
  }
}

TEST_F(EngineTest, TheDirectoryMayBeDeleted) {
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  CloseAll();
  ASSERT_OK(DestroyDir(Env::Default(), hot_.path));
  Open();
  EXPECT_EQ(ValueOf(5), Get(5));
  Heat(0, 50);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().store);
}

TEST_F(EngineTest, StockTickersCountWhatCopiesAnswer) {
  options_.statistics = CreateDBStatistics();
  Open();
  Fill(0, 100);
  Flush();
  Heat(0, 50);
  ASSERT_OK(options_.statistics->Reset());
  Get(5);
  Get(70);
  EXPECT_EQ(1u, options_.statistics->getTickerCount(HOT_FILE_READ_COUNT));
  EXPECT_EQ(ValueOf(5).size(), options_.statistics->getTickerCount(HOT_FILE_READ_BYTES));
  EXPECT_EQ(1u, options_.statistics->getTickerCount(COLD_FILE_READ_COUNT));
}

// It is tried again when an SST goes.
TEST_F(EngineTest, WithoutAThreadNothingIsPromoted) {
  std::shared_ptr<Engine> engine;
  {
    const rocktier::NoThreads none;
    engine = Engine::Get(hot_);
  }
  Open();
  Fill(0, 100);
  Flush();
  EXPECT_EQ(ValueOf(5), Get(5));
  const Status s = SettleHotPromotion(options_.table_factory.get());
  EXPECT_NE(std::string::npos, s.ToString().find("no thread can be had")) << s.ToString();
  EXPECT_TRUE(rocktier::WaitFor([&] {
    Compact();
    return SettleHotPromotion(options_.table_factory.get()).ok();
  }));
  Heat(0, 50);
  EXPECT_EQ(ValueOf(5), Get(5));
  EXPECT_EQ(1u, TakeServed().store);
}

TEST_F(EngineTest, StatisticsAsText) {
  Open();
  Fill(0, 10);
  Flush();
  Heat(0, 10);
  const HotPromotionStats stats = Stats();
  EXPECT_NE(std::string::npos, stats.ToString().find("promoted: 10\n"));
  EXPECT_NE(std::string::npos, stats.ToString().find("access_table.accesses: 30\n"));
  EXPECT_NE(std::string::npos, stats.ToJson().find("\"promoted\": 10"));
  EXPECT_NE(std::string::npos, stats.ToJson().find("\"access_table\": {"));
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
