// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// MetricsReporter alone, with pages and objects of the test's own. The plugins' copies are alike.

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <vector>

#include "plugin/tiered_env/metrics_page.h"
#include "plugin/tiered_env/metrics_reporter.h"
#include "test/support/files.h"
#include "test/support/hanging_fs.h"
#include "test/support/no_threads.h"
#include "test/support/scratch.h"
#include "test/support/wait.h"
#include "test_util/testharness.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

constexpr auto kLong = std::chrono::seconds(120);  // on a busy machine
constexpr int kNoProcess = 1 << 22;                // Linux has none with a number so large

void Sleep(int milliseconds) { Env::Default()->SleepForMicroseconds(milliseconds * 1000); }

bool WaitUntil(const std::function<bool()>& is_true) { return WaitFor(is_true, kLong); }

// Rounded up.
int SecondsSince(std::chrono::steady_clock::time_point begin) {
  const auto passed = std::chrono::steady_clock::now() - begin;
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(passed).count()) + 1;
}

uint64_t CpuNanos() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

std::string PageOf(const std::string& name) { return MetricsPage().Text({{"db", name}}); }

class ReporterTest : public testing::Test {
 protected:
  ReporterTest() : folder_(NewFolder()), path_(folder_ + "/a.prom") {}
  ~ReporterTest() override { fs::remove_all(folder_); }

  MetricsReport ReportOf(const std::string& name) {
    MetricsReport report;
    report.fs = FileSystem::Default();
    report.path = path_;
    report.interval = 1;
    report.text = [name] { return PageOf(name); };
    report.warn = [this](const IOStatus& reason) {
      warning_ = reason.code();
      warnings_++;
    };
    return report;
  }
  bool Has(const std::string& name) const {
    return ReadFile(path_).find("{db=\"" + name + "\"") != std::string::npos;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const std::string folder_;
  const std::string path_;
  std::atomic<int> warnings_{0};
  std::atomic<IOStatus::Code> warning_{IOStatus::kOk};
};

TEST_F(ReporterTest, AFileThatHangsHoldsUpNobodyElse) {
  for (const bool alone : {true, false}) {
    const auto hanging = std::make_shared<HangingFs>("/hung.prom");
    MetricsReport hung = ReportOf("hung");
    hung.fs = hanging;
    hung.path = folder_ + "/hung.prom";
    hung.alone = alone;
    auto opened =
        std::async(std::launch::async, [&] { return std::make_unique<MetricsReporter>(hung); });
    ASSERT_TRUE(WaitUntil([&] { return hanging->is_hanging(); }));
    EXPECT_EQ(opened.wait_for(kLong), std::future_status::ready);
    auto closed = std::async(std::launch::async, [&] { opened.get().reset(); });
    EXPECT_EQ(closed.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
    // Others come and go, the last one, too.
    auto others = std::async(std::launch::async, [&] {
      MetricsReporter one(ReportOf("one"));
      MetricsReport report = ReportOf("two");
      report.path = folder_ + "/two.prom";
      MetricsReporter two(report);
    });
    EXPECT_EQ(others.wait_for(kLong), std::future_status::ready);
    hanging->Release();
  }
}

TEST_F(ReporterTest, WhatIsNoPageOfThePluginIsLeftAsItIs) {
  for (const std::string& text :
       {std::string("node_load1 0.5\n"), "# HELP rocktier_raw_wal_fs_info x\n" + PageOf("x"),
        std::string("\0abc", 4), std::string(100000, '\0') + PageOf("x")}) {
    for (const bool alone : {true, false}) {
      std::ofstream(path_) << text;
      warnings_ = 0;
      MetricsReport report = ReportOf("mine");
      report.alone = alone;
      {
        MetricsReporter reporter(report);
        EXPECT_TRUE(WaitUntil([&] { return warnings_ > 0; }));
        EXPECT_EQ(warning_, IOStatus::kInvalidArgument);
        Sleep(1500);
      }
      EXPECT_EQ(warnings_, 1);
      report.interval = 0;
      std::make_unique<MetricsReporter>(report).reset();
      EXPECT_EQ(ReadFile(path_), text);
      EXPECT_EQ(Files().size(), 1u);
    }
  }
}

TEST_F(ReporterTest, WhatIsNoRegularFileIsLeftAsItIs) {
  for (const bool link : {true, false}) {
    if (link) {
      fs::create_symlink(folder_ + "/not mounted", path_);
    } else {
      ASSERT_EQ(0, mkfifo(path_.c_str(), 0600));
    }
    for (const bool alone : {true, false}) {
      warnings_ = 0;
      MetricsReport report = ReportOf("mine");
      report.alone = alone;
      MetricsReporter reporter(report);
      EXPECT_TRUE(WaitUntil([&] { return warnings_ > 0; }));
      EXPECT_EQ(warning_, IOStatus::kInvalidArgument);
    }
    EXPECT_EQ(Files().size(), 1u);
    EXPECT_TRUE(link ? fs::is_symlink(path_) : fs::is_fifo(path_));
    fs::remove(path_);
  }
}

TEST_F(ReporterTest, OnlyWhatHasTheNameOfAPageThatWasBeingWrittenIsDeleted) {
  const std::string left = path_ + ".tiered_env." + std::to_string(kNoProcess);
  for (const char* const ending : {".tmp", ".tmp.save", ".tmpx", "x.tmp", ""}) {
    std::ofstream(left + ending) << "half";
  }
  MetricsReporter::Delete(FileSystem::Default().get(), path_);
  EXPECT_FALSE(fs::exists(left + ".tmp"));
  EXPECT_EQ(Files().size(), 4u);
}

TEST_F(ReporterTest, WithoutAnIntervalASharedPathIsLeftAlone) {
  const std::string page = PageOf("of another process");
  std::ofstream(path_) << page;
  MetricsReport report = ReportOf("mine");
  report.interval = 0;
  {
    MetricsReporter reporter(report);
    Sleep(200);
  }
  EXPECT_EQ(ReadFile(path_), page);
}

TEST_F(ReporterTest, OfTwoWithOnePathOneWrites) {
  auto first = std::make_unique<MetricsReporter>(ReportOf("first"));
  ASSERT_TRUE(WaitUntil([&] { return Has("first"); }));
  auto second = std::make_unique<MetricsReporter>(ReportOf("second"));
  ASSERT_TRUE(WaitUntil([&] { return warnings_ > 0; }));
  EXPECT_EQ(warning_, IOStatus::kBusy);
  for (int i = 0; i < 100; i++) {
    Sleep(20);
    ASSERT_FALSE(Has("second"));
  }
  EXPECT_EQ(warnings_, 1);
  second.reset();
  EXPECT_TRUE(Has("first"));
  second = std::make_unique<MetricsReporter>(ReportOf("second"));
  first.reset();
  EXPECT_TRUE(WaitUntil([&] { return Has("second"); }));
  second.reset();
  EXPECT_TRUE(Files().empty());
}

TEST_F(ReporterTest, SharedByObjectsOfAProcessItIsWrittenByOne) {
  std::atomic<int> made{0};
  MetricsReport report = ReportOf("all");
  report.shared = true;
  report.text = [&] {
    made++;
    return PageOf("all");
  };
  std::vector<std::unique_ptr<MetricsReporter>> reporters;
  for (int i = 0; i < 20; i++) {
    reporters.push_back(std::make_unique<MetricsReporter>(report));
  }
  ASSERT_TRUE(WaitUntil([&] { return made > 2; }));
  EXPECT_LT(made, 20);
  EXPECT_EQ(warnings_, 0);
  while (!reporters.empty()) {
    reporters.pop_back();
  }
  EXPECT_TRUE(Files().empty());
}

TEST_F(ReporterTest, WhatAKilledProcessLeavesIsReplaced) {
  const std::string left = path_ + ".tiered_env." + std::to_string(kNoProcess) + ".tmp";
  const std::string precious = folder_ + "/precious";
  std::ofstream(precious) << "precious";
  std::string killed = PageOf("killed");
  const std::string process = ",pid=\"" + std::to_string(getpid()) + "\"";
  ASSERT_NE(killed.find(process), std::string::npos) << killed;
  killed.replace(killed.find(process), process.size(),
                 ",pid=\"" + std::to_string(kNoProcess) + "\"");
  for (const std::string& text : {killed, std::string(), std::string(1000, '\0')}) {
    std::ofstream(path_) << text;
    std::ofstream(left) << "half";
    {
      MetricsReporter reporter(ReportOf("mine"));
      EXPECT_TRUE(WaitUntil([&] { return Has("mine"); }));
    }
    EXPECT_EQ(Files(), std::vector<std::string>{"precious"});
    // It goes at once if nobody else can write there.
    std::ofstream(path_) << text;
    std::ofstream(left) << "half";
    MetricsReport alone = ReportOf("alone");
    alone.alone = true;
    alone.interval = 0;
    MetricsReporter reporter(alone);
    EXPECT_TRUE(WaitUntil([&] { return Files().size() == 1; }));
  }
  // Nor is a link followed that somebody has put where it writes.
  MetricsReporter reporter(ReportOf("mine"));
  EXPECT_TRUE(WaitUntil([&] { return Has("mine"); }));
  EXPECT_TRUE(WaitUntil([&] {
    std::error_code error;  // it may be writing
    fs::create_symlink(precious, path_ + ".tiered_env." + std::to_string(getpid()) + ".tmp", error);
    return !error;
  }));
  const std::string before = ReadFile(path_);
  EXPECT_TRUE(WaitUntil([&] { return ReadFile(path_) != before; }));
  EXPECT_EQ(ReadFile(precious), "precious");
}

TEST_F(ReporterTest, EachTimeThatItFailsItIsToldOnce) {
  std::atomic<int> written{0};
  MetricsReport report = ReportOf("mine");
  report.path = folder_ + "/directory/a.prom";
  report.written = [&] { written++; };
  MetricsReporter reporter(report);
  for (int i = 1; i <= 2; i++) {
    ASSERT_TRUE(WaitUntil([&] { return warnings_ >= i; }));
    EXPECT_EQ(warnings_, i);
    written = 0;
    fs::create_directory(folder_ + "/directory");
    ASSERT_TRUE(WaitUntil([&] { return written > 0; }));
    // By another name, for the reporter may be making a file there.
    fs::rename(folder_ + "/directory", folder_ + "/away");
    fs::remove_all(folder_ + "/away");
  }
}

TEST_F(ReporterTest, PeriodsAreLookedAtOnceASecondHoweverManyThereAre) {
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> looked{0};
  std::vector<std::unique_ptr<MetricsReporter>> reporters;
  MetricsReport logging;
  logging.log = [] {};
  logging.log_period = [&] {
    looked++;
    return 600;
  };
  for (int i = 0; i < 20; i++) {
    reporters.push_back(std::make_unique<MetricsReporter>(logging));
    Sleep(20);
  }
  Sleep(4000);
  EXPECT_TRUE(WaitUntil([&] { return looked >= 20; }));
  const int so_far = looked;
  EXPECT_LE(so_far, 20 * SecondsSince(begin));
}

TEST_F(ReporterTest, ManyCostNoMoreThanAHundredthOfTheThread) {
  constexpr int kMany = 40;
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> made{0};
  MetricsReport report = ReportOf("many");
  report.shared = true;
  report.text = [&] {
    const uint64_t begin = CpuNanos();
    while (CpuNanos() - begin < 2000000) {
    }
    made++;
    return PageOf("many");
  };
  std::vector<std::unique_ptr<MetricsReporter>> reporters;
  for (int i = 0; i < kMany; i++) {
    report.path = folder_ + "/" + std::to_string(i) + ".prom";
    reporters.push_back(std::make_unique<MetricsReporter>(report));
  }
  ASSERT_TRUE(WaitUntil([&] { return made > 0; }));
  Sleep(5000);
  const int so_far = made;
  EXPECT_LE(so_far, kMany + 5 * SecondsSince(start)) << "a round, and 10 ms of each second";
}

// The one that comes next has the others report, too.
TEST_F(ReporterTest, WithoutAThreadNothingIsReported) {
  std::unique_ptr<MetricsReporter> reporter;
  Sleep(1000);  // that of the test before may still end
  {
    const NoThreads none;
    reporter = std::make_unique<MetricsReporter>(ReportOf("first"));
  }
  Sleep(1500);
  EXPECT_TRUE(Files().empty());
  MetricsReport report = ReportOf("second");
  report.path = folder_ + "/second.prom";
  MetricsReporter second(report);
  EXPECT_TRUE(WaitUntil([&] { return Has("first") && fs::exists(report.path); }));
}

#if !defined(__SANITIZE_THREAD__)  // which lets a child of fork() have no threads
TEST_F(ReporterTest, AChildOfForkReportsAndLeavesTheParentsFile) {
  const auto hanging = std::make_shared<HangingFs>("/hung.prom");
  MetricsReport alone = ReportOf("parent");
  alone.alone = true;
  auto parents = std::make_unique<MetricsReporter>(alone);
  MetricsReport hung = ReportOf("hung");
  hung.fs = hanging;
  hung.path = folder_ + "/hung.prom";
  ASSERT_TRUE(WaitUntil([&] { return Has("parent"); }));
  auto busy = std::make_unique<MetricsReporter>(hung);
  ASSERT_TRUE(WaitUntil([&] { return hanging->is_hanging(); }));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    hanging->Release();
    busy.reset();
    const bool left = Has("parent");
    MetricsReport report = ReportOf("child");
    report.path = folder_ + "/child.prom";
    MetricsReporter own(report);
    const bool reports = WaitUntil([&] { return fs::exists(report.path); });
    parents.reset();
    _exit(left && Has("parent") && reports ? 0 : 1);
  }
  int status = -1;
  const bool ended = WaitUntil([&] { return waitpid(child, &status, WNOHANG) == child; });
  EXPECT_TRUE(ended);
  EXPECT_EQ(status, 0);
  if (!ended) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  hanging->Release();
  busy.reset();
  parents.reset();
  EXPECT_EQ(Files(), std::vector<std::string>{"child.prom"});
}
#endif

}  // namespace

}  // namespace rocktier
