// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Statistics for others: properties, OpenMetrics' text, statistics files. test/metrics reads them
// by another parser, and kills the process.

#include "plugin/tiered_env/metrics.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>

#include "rocksdb/utilities/checkpoint.h"
#include "test/support/files.h"
#include "test/support/hanging_fs.h"
#include "test/support/wait.h"
#include "test/tiered_env/support/volatile.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

bool WaitUntil(const std::function<bool()>& is_true) {
  return WaitFor(is_true, std::chrono::seconds(120));
}

class MetricsTest : public VolatileTest {
 protected:
  void OpenPlain(const std::string& more = "") {
    NewFs(Tiers(), "0..1=fast;2..=slow", more);
    Open();
  }
  std::string File() const { return db_name_ + "/" + kMetricsName; }
  // What a process was writing when it was killed, one that Linux has not: the number is too large.
  std::string Half() const { return File() + ".tiered_env.4194304.tmp"; }
  std::string Property(const std::string& name) const {
    std::string value;
    EXPECT_TRUE(GetTieredProperty(fs_.get(), "rocktier.tiered_env." + name, &value)) << name;
    return value;
  }
  // Waits for a file that is complete and not `before`.
  std::string WaitForFile(const std::string& path, const std::string& before = "") const {
    std::string text;
    EXPECT_TRUE(WaitUntil([&] {
      text = ReadFile(path);
      return !text.empty() && text != before;
    }));
    VolatileStats read;
    EXPECT_TRUE(ReadMemoryMetrics(text, &read)) << text;  // it is renamed when it is complete
    return text;
  }
  static int Warnings(const std::string& folder) {
    std::ifstream in(folder + "/LOG");
    int count = 0;
    for (std::string line; std::getline(in, line);) {
      count += line.find("tiered_env: cannot write statistics to ") != std::string::npos ? 1 : 0;
    }
    return count;
  }
};

TEST_F(MetricsTest, PropertiesAreTheStatistics) {
  OpenMemory("metrics_interval=0");
  EXPECT_EQ(Property("memory_tables"), "0");
  Fill(10000);
  Settle();
  std::string none = "as it was";
  for (const char* const name :
       {"rocktier.tiered_env.memory_table", "rocktier.tiered_env.tier_files",
        "rocktier.tiered_env.tier_files.fast", "memory_tables", ""}) {
    EXPECT_FALSE(GetTieredProperty(fs_.get(), name, &none)) << name;
  }
  EXPECT_FALSE(
      GetTieredProperty(FileSystem::Default().get(), "rocktier.tiered_env.memory_tables", &none));
  EXPECT_EQ(none, "as it was");
  EXPECT_EQ(TieredMetricsText(FileSystem::Default().get()), "");
  TieredStats stats;
  ASSERT_OK(GetTieredStats(fs_.get(), &stats));
  EXPECT_GT(stats.in_memory.tables, 0u);
  VolatileStats read;
  ASSERT_TRUE(ReadMemoryMetrics(TieredMetricsText(fs_.get()), &read));
#define X(name, type, unit, description) EXPECT_EQ(read.name, stats.in_memory.name) << #name;
  TIERED_VOLATILE_STATS(X)
#undef X
  EXPECT_EQ(Property("memory_tables"), std::to_string(stats.in_memory.tables));
  EXPECT_EQ(Property("memory_saved_bytes"), std::to_string(stats.in_memory.saved_bytes()));
  for (const TieredTierStats& tier : stats.tiers) {
    EXPECT_EQ(Property("tier_files." + tier.name), std::to_string(tier.files));
    EXPECT_EQ(Property("tier_bytes." + tier.name), std::to_string(tier.bytes));
    EXPECT_EQ(Property("tier_budget_bytes." + tier.name), std::to_string(tier.budget));
    EXPECT_EQ(Property("tier_moved_bytes." + tier.name), std::to_string(tier.moved_bytes));
  }
  const std::string text = TieredMetricsText(fs_.get());
  EXPECT_FALSE(ReadMemoryMetrics(text.substr(0, text.size() - 1), &read));
  EXPECT_EQ(read.tables, 0u);
  EXPECT_FALSE(fs::exists(File()));
}

TEST_F(MetricsTest, ValuesAndNamesAreInBaseUnits) {
  const auto name = [](const char* text, const char* type, const char* unit) {
    return MetricsPage::NameInText({text, type, unit, ""});
  };
  EXPECT_EQ(name("wait_micros", "counter", "microseconds"),
            "rocktier_tiered_env_wait_seconds_total");
  EXPECT_EQ(name("budget", "gauge", "bytes"), "rocktier_tiered_env_budget_bytes");
  EXPECT_EQ(name("read_bytes", "counter", "bytes"), "rocktier_tiered_env_read_bytes_total");
  EXPECT_EQ(name("bytes", "gauge", "bytes"), "rocktier_tiered_env_bytes");
  EXPECT_EQ(name("share_percent", "gauge", "percent"), "rocktier_tiered_env_share_ratio");
  MetricsPage page;
  page.Add({"wait_micros", "counter", "microseconds", ""}, uint64_t{1500});
  page.Add({"long_micros", "gauge", "microseconds", ""}, uint64_t{12345678});
  page.Add({"share_percent", "gauge", "percent", ""}, uint64_t{150});
  page.Add({"files", "gauge", "count", "a\n\"b\"\\"}, UINT64_MAX, {{"tier", "a\"b\\c\nd"}});
  EXPECT_EQ(page.Lines(),
            "  wait_seconds 0.001500\n  long_seconds 12.345678\n  share_ratio 1.50\n"
            "  files.a\"b\\c\nd 18446744073709551615\n");
  const std::string text = page.Text();
  EXPECT_NE(text.find("# HELP rocktier_tiered_env_files a\\n\\\"b\\\"\\\\\n"), std::string::npos);
  EXPECT_NE(text.find("_files{tier=\"a\\\"b\\\\c\\nd\"} 18446744073709551615\n"),
            std::string::npos);
}

TEST_F(MetricsTest, TheFileIsRenewedAndGoesAtTheClose) {
  OpenPlain();
  const std::string first = WaitForFile(File());
  EXPECT_NE(first.find("db=\"" + db_name_ + "\""), std::string::npos) << first;
  Fill(3000);
  Settle();
  const std::string second = WaitForFile(File(), first);
  std::string last = second;
  EXPECT_TRUE(WaitUntil([&] {
    last = WaitForFile(File(), last);
    return last.find("rocktier_tiered_env_tier_files{db=\"" + db_name_ + "\",tier=\"fast\"} " +
                     Property("tier_files.fast") + "\n") != std::string::npos;
  })) << last;
  // RocksDB does not see it, and neither do copies.
  std::vector<std::string> names;
  ASSERT_OK(env_->GetChildren(db_name_, &names));
  EXPECT_EQ(std::count(names.begin(), names.end(), kMetricsName), 0);
  Checkpoint* checkpoint = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &checkpoint));
  ASSERT_OK(checkpoint->CreateCheckpoint(folder_ + "/copy"));
  delete checkpoint;
  std::unique_ptr<DB> reader;
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), folder_ + "/copy", &reader));
  Env::Default()->SleepForMicroseconds(1500000);
  EXPECT_FALSE(fs::exists(folder_ + "/copy/" + kMetricsName));
  reader.reset();
  Close();
  for (const auto& entry : fs::directory_iterator(db_name_)) {
    EXPECT_EQ(entry.path().string().find(kMetricsName), std::string::npos) << entry.path();
  }
}

TEST_F(MetricsTest, WhatAKilledProcessLeavesIsHarmless) {
  OpenMemory();
  Fill(5000);
  Settle();
  const std::string left = WaitForFile(File());
  Close();
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  const uint64_t tables = info.in_memory.tables;
  EXPECT_GT(tables, 0u);
  // As if it had been killed: the tool goes by that.
  std::string older = left;
  const std::string name = "rocktier_tiered_env_memory_tables_total{db=\"" + db_name_ + "\"} ";
  const size_t at = older.find(name) + name.size();
  ASSERT_GT(at, name.size());
  older.replace(at, older.find('\n', at) - at, "123456");
  std::ofstream(File()) << older;
  std::ofstream(Half()) << "half";
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_EQ(info.in_memory.tables, 123456u);
  MountMemory("metrics_interval=0");
  Open();
  EXPECT_TRUE(WaitUntil([&] { return !fs::exists(File()) && !fs::exists(Half()); }));
  Close();
  ASSERT_OK(InspectTiers(fs_.get(), db_name_, &info));
  EXPECT_EQ(info.in_memory.tables, 0u);
  // While it is open, the tool goes by the file.
  OpenMemory();
  Fill(3000);
  Settle();
  EXPECT_TRUE(WaitUntil([&] {
    EXPECT_OK(InspectTiers(fs_.get(), db_name_, &info));
    return info.in_memory.tables > 0 && info.in_memory.tables == Stats().tables;
  }));
  Close();
  std::ofstream(File()) << older;
  std::ofstream(Half()) << "half";
  ASSERT_OK(DestroyDB(db_name_, DbOptions()));
  EXPECT_FALSE(fs::exists(db_name_));
}

TEST_F(MetricsTest, AFolderThatGoesAwayStopsOnlyTheFile) {
  OpenPlain();
  WaitForFile(File());
  fs::rename(db_name_, folder_ + "/away");
  EXPECT_TRUE(WaitUntil([&] { return Warnings(folder_ + "/away") > 0; }));
  Env::Default()->SleepForMicroseconds(1500000);  // it is told once, not each time
  fs::rename(folder_ + "/away", db_name_);
  fs::remove(File());
  WaitForFile(File());
  EXPECT_EQ(Warnings(db_name_), 1);
  Fill(1000);
  Verify();
  Settle();
  std::error_code busy;  // RocksDB and the mover may be making files
  for (int i = 0; i < 100 && fs::exists(db_name_); i++) {
    fs::remove_all(db_name_, busy);
  }
  Env::Default()->SleepForMicroseconds(1500000);
  EXPECT_FALSE(fs::exists(db_name_));
  Close();
}

TEST_F(MetricsTest, EachDatabaseHasAFileOrAllHaveOne) {
  OpenPlain();
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
  const std::string of_other = WaitForFile(folder_ + "/other/" + kMetricsName);
  EXPECT_NE(of_other.find("db=\"" + folder_ + "/other\""), std::string::npos);
  EXPECT_EQ(of_other.find("db=\"" + db_name_ + "\""), std::string::npos);
  WaitForFile(File());
  other.reset();
  EXPECT_FALSE(fs::exists(folder_ + "/other/" + kMetricsName));
  EXPECT_TRUE(fs::exists(File()));
  const std::string path = folder_ + "/all.prom";
  OpenPlain("metrics_file=" + path);
  ASSERT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
  EXPECT_TRUE(WaitUntil([&] {
    const std::string text = ReadFile(path);
    return text.find("db=\"" + db_name_ + "\"") != std::string::npos &&
           text.find("db=\"" + folder_ + "/other\"") != std::string::npos;
  }));
  EXPECT_FALSE(fs::exists(File()));
  Close();
  std::string last = ReadFile(path);
  last = WaitForFile(path, last);
  EXPECT_EQ(WaitForFile(path, last).find("db=\"" + db_name_ + "\""), std::string::npos);
  other.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(MetricsTest, AFileOfAllThatHangsHoldsUpNoOpening) {
  const auto hanging = std::make_shared<HangingFs>("/all.prom");
  TieredOptions options;
  options.tiers = Tiers();
  options.placement = "0..1=fast;2..=slow";
  options.metrics_file = folder_ + "/all.prom";
  ASSERT_OK(NewTieredFileSystem(options, hanging, &fs_));
  env_ = NewCompositeEnv(fs_);
  Open();
  ASSERT_TRUE(WaitUntil([&] { return hanging->is_hanging(); }));
  auto closed = std::async(std::launch::async, [&] { Close(); });
  EXPECT_EQ(closed.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout);
  auto another = std::async(std::launch::async, [&] {
    std::unique_ptr<DB> other;
    EXPECT_OK(OpenDb(DbOptions(), folder_ + "/other", &other));
    EXPECT_OK(other->Put(WriteOptions(), "key", "value"));
    EXPECT_OK(other->Flush(FlushOptions()));
  });
  EXPECT_EQ(another.wait_for(std::chrono::seconds(120)), std::future_status::ready);
  hanging->Release();
}

TEST_F(MetricsTest, OptionsOutOfRangeAreRefused) {
  TieredOptions options;
  std::shared_ptr<FileSystem> result;
  options.metrics_interval = 86400;
  options.metrics_file = "/a/b.prom";
  EXPECT_OK(NewTieredFileSystem(options, nullptr, &result));
  options.metrics_interval = 86401;
  Status s = NewTieredFileSystem(options, nullptr, &result);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("metrics_interval=86401"), std::string::npos) << s.ToString();
  options.metrics_interval = 1;
  for (const char* const path : {"b.prom", "/a/b", "/a/.promo"}) {
    options.metrics_file = path;
    s = NewTieredFileSystem(options, nullptr, &result);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("metrics_file=" + std::string(path)), std::string::npos);
  }
}

}  // namespace

}  // namespace rocktier
