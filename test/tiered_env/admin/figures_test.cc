// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What is told of tiers in memory: statistics, the LOG, and what tools see from outside.

#include <algorithm>
#include <climits>
#include <fstream>
#include <limits>
#include <map>

#include "plugin/tiered_env/admin/session.h"
#include "plugin/tiered_env/fs/find.h"
#include "plugin/tiered_env/stats.h"
#include "plugin/tiered_env/wal/archive.h"
#include "plugin/tiered_env/wal/segments.h"
#include "test/support/memory_limit.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/volatile.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class FiguresTest : public VolatileTest {
 protected:
  // Blocks of statistics that are complete.
  int Reports() const {
    std::ifstream in(db_name_ + "/LOG");
    std::map<std::string, int> lines;
    for (std::string line; std::getline(in, line);) {
      lines[line.substr(0, line.rfind(' '))]++;
    }
    int reports = INT_MAX;
    for (const char* const name :
         {"  tier_files.memory", "  tier_moves.home", "  memory_wal_amplification_ratio",
          "  memory_literal_ratio", "  memory_saved_bytes"}) {
      reports = std::min(reports, lines[name]);
    }
    return reports;
  }
  static uint64_t SizeOf(const std::vector<std::string>& paths) {
    uint64_t size = 0;
    for (const std::string& path : paths) {
      size += fs::file_size(path);
    }
    return size;
  }
};

TEST_F(FiguresTest, FollowFromEachOther) {
  OpenMemory("wal_amplification_high=1e9;wal_amplification_low=1e9");
  EXPECT_EQ(Stats().wal_amplification(), 0);
  EXPECT_EQ(Stats().literal_ratio(), 0);
  Fill(10000);
  Settle();
  const VolatileStats stats = Stats();
  EXPECT_GT(stats.wal_amplification(), 0.5);
  EXPECT_LT(stats.literal_ratio(), 0.1);
  EXPECT_GT(stats.saved_bytes(), static_cast<int64_t>(stats.table_bytes / 2));
  EXPECT_LT(stats.saved_bytes(), static_cast<int64_t>(stats.table_bytes));
  EXPECT_EQ(stats.persisted_bytes, 0u);
  const std::string text = fs_->GetPrintableOptions();
  for (const char* const name : {"wal_amplification : ", "literal_ratio : ", "saved_bytes : "}) {
    EXPECT_NE(text.find(name), std::string::npos) << text;
  }
  Close();
  OpenMemory("on_close=persist");
  Fill(3000);
  Settle();
  const uint64_t bytes = Stats().bytes;
  ASSERT_GT(bytes, 0u);
  Close();
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_GE(info.in_memory.persisted_bytes, bytes);
  EXPECT_EQ(info.in_memory.bytes, 0u);
}

TEST_F(FiguresTest, ToolsSeeThemToo) {
  OpenMemory("wal_amplification_high=1e9;wal_amplification_low=1e9");
  Fill(10000);
  Settle();
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_TRUE(info.has_memory);
  EXPECT_EQ(info.in_memory.bytes, Stats().bytes);
  EXPECT_EQ(info.in_memory.recipes, Stats().recipes);
  const VolatileStats last = Stats();
  Close();
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_TRUE(info.has_memory);
  EXPECT_EQ(info.in_memory.bytes, last.bytes);
  EXPECT_EQ(info.in_memory.recipes, last.recipes);
  EXPECT_EQ(info.in_memory.recipe_bytes, last.recipe_bytes);
  EXPECT_EQ(info.in_memory.recipe_log_bytes, fs::file_size(Kept("RECIPES").front()));
  EXPECT_EQ(info.in_memory.segments, Kept(".log").size() + Kept(".seg").size());
  EXPECT_EQ(info.in_memory.retained_bytes, SizeOf(Kept(".log")) + SizeOf(Kept(".seg")));
  EXPECT_EQ(info.in_memory.needed_bytes, last.needed_bytes);
  EXPECT_EQ(info.in_memory.tables, last.tables);
  EXPECT_EQ(info.in_memory.references, last.references);
  LoseMemory();
  OpenMemory();
  const uint64_t rebuilt = Stats().rebuilt_files;
  EXPECT_GT(rebuilt, 0u);
  Close();
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_EQ(info.in_memory.rebuilt_files, rebuilt);
  EXPECT_GT(info.in_memory.recovery_micros, 0u);
}

// What a tool finds in recipes and logs is what the database counts.
TEST_F(FiguresTest, LogsAreToldWithTheirLiveShare) {
  OpenMemory("wal_amplification_high=1e9;wal_amplification_low=1e9");
  Fill(10000, 3000);
  Settle();
  std::vector<TieredLogInfo> logs;
  const auto sum = [&](const auto& figure) {
    uint64_t result = 0;
    for (const TieredLogInfo& log : logs) {
      result += figure(log);
    }
    return result;
  };
  const auto live_entries = [](const TieredLogInfo& log) { return log.live_entries; };
  const auto live_bytes = [](const TieredLogInfo& log) { return log.live_bytes; };
  const auto retained_bytes = [](const TieredLogInfo& log) {
    return log.kind == "log" ? 0 : log.bytes;
  };
  const auto count = [&](const std::string& kind) {
    return std::count_if(logs.begin(), logs.end(),
                         [&](const TieredLogInfo& log) { return log.kind == kind; });
  };
  ASSERT_OK(InspectLogs(fs_.get(), db_name_, &logs));  // the database is open
  EXPECT_EQ(sum(live_entries), Stats().live_entries);
  Close();
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  ASSERT_OK(InspectLogs(fs_.get(), db_name_, &logs));
  EXPECT_EQ(sum(live_entries), info.in_memory.live_entries);
  EXPECT_EQ(sum(live_bytes), info.in_memory.live_bytes);
  EXPECT_EQ(sum(retained_bytes), info.in_memory.retained_bytes);
  ASSERT_FALSE(logs.empty());
  for (const TieredLogInfo& log : logs) {
    EXPECT_EQ(log.problem, "");
    EXPECT_EQ(log.bytes, fs::file_size(log.path));
    EXPECT_LE(log.live_entries, log.entries);
    EXPECT_LE(log.live_bytes, log.entry_bytes);
    EXPECT_LE(log.live_byte_share(), 1);
    EXPECT_NE(log.kind, "rewritten");
  }
  // Rewritten, all that is left of them is live.
  const int64_t needed = std::count_if(
      logs.begin(), logs.end(), [](const TieredLogInfo& log) { return log.live_entries > 0; });
  OpenMemory("wal_compression=zstd;wal_amplification_high=1e9;wal_amplification_low=1e9");
  ASSERT_FALSE(HasFailure());
  WaitFor([this] { return Kept(".log").empty(); });
  Env::Default()->SleepForMicroseconds(500000);
  EXPECT_LE(Stats().trims, static_cast<uint64_t>(needed)) << "each once";
  Close();
  ASSERT_OK(InspectLogs(fs_.get(), db_name_, &logs));
  EXPECT_GT(count("rewritten"), 0);
  EXPECT_EQ(sum(live_entries), info.in_memory.live_entries);
  for (const TieredLogInfo& log : logs) {
    EXPECT_EQ(log.live_entry_share(), log.kind == "rewritten" ? 1 : log.live_entry_share());
    EXPECT_EQ(log.live_byte_share(), log.kind == "rewritten" ? 1 : log.live_byte_share());
  }
  const std::string path = Kept(".seg").front();
  fs::rename(path, folder_ + "/away");
  ASSERT_OK(InspectLogs(fs_.get(), db_name_, &logs));
  EXPECT_EQ(count("lost"), 1);
  fs::rename(folder_ + "/away", path);
}

// Else new files go elsewhere, and others are moved away, while somebody looks.
TEST_F(FiguresTest, WhoLooksAtAnOpenDatabaseTakesNothingOfBudgets) {
  Options options = DbOptions();
  options.disable_auto_compactions = true;
  NewFs(Tiers(), "0..=fast");
  Open(options);
  Fill(5000);
  TieredTest::Settle();
  const uint64_t used = StatsOf("fast").bytes;
  NewFs(Tiers("budget=" + std::to_string(used + used / 2)), "0..=fast");
  Open(options);
  TieredTest::Settle();
  ASSERT_EQ(StatsOf("fast").bytes, used);
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_FALSE(info.files.empty());
  for (const TieredFileInfo& file : info.files) {
    EXPECT_EQ(file.tier, "fast") << file.name;
    EXPECT_EQ(file.next, "fast") << file.name;
  }
  TieredFileSystem* ours = nullptr;
  ASSERT_OK(FindFs(fs_.get(), &ours));
  {
    AdminSession session(ours, db_name_);  // as long as InspectLogs() has one
    ASSERT_OK(session.Look());
    EXPECT_EQ(StatsOf("fast").bytes, used);
    Fill(500);
    TieredTest::Settle();
  }
  EXPECT_GT(StatsOf("fast").bytes, used);
  EXPECT_EQ(StatsOf("fast").bytes, BytesIn("fast"));
  EXPECT_EQ(StatsOf("fast").spills, 0u);
  EXPECT_EQ(Moves(), 0u);
}

// It takes no memory for what its ordinals say that there was.
TEST_F(FiguresTest, AnArchiveOfALogThatNobodyKnowsIsTold) {
  PrepareRetained(1000);
  ASSERT_FALSE(HasFailure());
  constexpr uint64_t kUnknown = 1000000;
  const std::string path = db_name_ + "/" + WalSegments::ArchiveName(kUnknown, "");
  std::unique_ptr<ArchiveWriter> writer;
  ASSERT_OK(ArchiveWriter::Open(FileSystem::Default().get(), path, kUnknown, kNoCompression,
                                nullptr, &writer));
  Entry entry;
  for (const Ordinal ordinal : {Ordinal{5}, std::numeric_limits<Ordinal>::max()}) {
    entry.sequence++;
    entry.batch = entry.sequence;
    ASSERT_OK(writer->Add(ordinal, entry));
  }
  ASSERT_OK(writer->Finish());
  std::vector<TieredLogInfo> logs;
  {
    const MemoryLimit limit(64 << 20);
    ASSERT_OK(InspectLogs(fs_.get(), db_name_, &logs));
  }
  ASSERT_GT(logs.size(), 1u);
  EXPECT_EQ(logs.back().id, kUnknown);
  EXPECT_EQ(logs.back().problem, "");
  EXPECT_EQ(logs.back().entries, 2u);
  EXPECT_EQ(logs.back().live_entries, 0u);
  EXPECT_GT(logs.back().entry_bytes, 0u);
}

TEST_F(FiguresTest, WhereNothingIsInMemoryNothingIsTold) {
  NewFs(Tiers(), "0..=slow");
  Open();
  Fill(1000);
  Settle();
  Close();
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_FALSE(info.has_memory);
  EXPECT_FALSE(fs::exists(db_name_ + "/TIERS-STATS"));
}

// stats_dump_period_sec of the database is that of the reports, too, also if it changes.
TEST_F(FiguresTest, TheLogHasThemAsOftenAsRocksDbsOwn) {
  MountMemory();
  Options options = DbOptions();
  options.stats_dump_period_sec = 1;
  Open(options);
  Fill(1000);
  EXPECT_TRUE(WaitFor([this] { return Reports() >= 2; }));
  Close();
  MountMemory();
  options.stats_dump_period_sec = 0;
  Open(options);
  Fill(1000);
  EXPECT_EQ(Reports(), 0);
  ASSERT_OK(db_->SetDBOptions({{"stats_dump_period_sec", "1"}}));
  EXPECT_TRUE(WaitFor([this] { return Reports() >= 2; }));
  Close();
}

TEST_F(FiguresTest, AreReadAsTheyWereWritten) {
  VolatileStats stats;
  uint64_t next = 1;
#define X(name, type, unit, description) stats.name = next++ * 1000000007;
  TIERED_VOLATILE_STATS(X)
#undef X
  const std::string text = EncodeStatistics(stats);
  VolatileStats read;
  ASSERT_TRUE(DecodeStatistics(text, &read));
#define X(name, type, unit, description) EXPECT_EQ(read.name, stats.name);
  TIERED_VOLATILE_STATS(X)
#undef X
  for (size_t size = 0; size < text.size(); size++) {
    EXPECT_FALSE(DecodeStatistics(text.substr(0, size), &read)) << size;
    std::string damaged = text;
    damaged[size] = static_cast<char>(damaged[size] ^ 1);
    EXPECT_FALSE(DecodeStatistics(damaged, &read)) << size;
    EXPECT_EQ(read.bytes, 0u);
  }
}

// Nobody would bring SSTs away when the budget is reached.
TEST_F(FiguresTest, ABudgetOfLogsNeedsTheMover) {
  TieredOptions options;
  options.tiers = MemoryTiers();
  options.placement = "0..=memory";
  options.mover = false;
  std::shared_ptr<FileSystem> result;
  ASSERT_OK(NewTieredFileSystem(options, nullptr, &result));
  options.wal_budget = 1 << 20;
  const Status s = NewTieredFileSystem(options, nullptr, &result);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  for (const char* const text : {"wal_budget=1048576", "mover=false"}) {
    EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
  }
  options.mover = true;
  EXPECT_OK(NewTieredFileSystem(options, nullptr, &result));
}

}  // namespace

}  // namespace rocktier
