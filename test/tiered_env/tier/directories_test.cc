// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers of several directories. Free space is what the test says.

#include "plugin/tiered_env/tier/directories.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "plugin/tiered_env/options/tier_options.h"
#include "test/support/seed.h"
#include "test/tiered_env/support/tiered_test.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// Says how much is free, by path.
class SpaciousFs : public FileSystemWrapper {
 public:
  explicit SpaciousFs(std::map<std::string, uint64_t> free)
      : FileSystemWrapper(FileSystem::Default()), free_(std::move(free)) {}
  const char* Name() const override { return "SpaciousFs"; }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions& /*options*/, uint64_t* free,
                        IODebugContext* /*dbg*/) override {
    const auto known = free_.find(path);
    *free = known == free_.end() ? 0 : known->second;
    return known == free_.end() ? IOStatus::IOError(path) : IOStatus::OK();
  }

 private:
  const std::map<std::string, uint64_t> free_;
};

// Tiers a, b of three directories, home.
class DirectoriesTest : public ::testing::Test {
 protected:
  void Make(const std::map<std::string, uint64_t>& free, uint64_t budget = 0) {
    const auto fs = std::make_shared<SpaciousFs>(free);
    const char* const names[] = {"a", "b", "b.2", "b.3", "home"};
    const char* const paths[] = {"/a", "/b1", "/b2", "/b3", ""};
    policy_.tiers.clear();
    for (int i = 0; i < 5; i++) {
      TierOptions options;
      options.name = names[i];
      options.path = paths[i];
      options.budget = budget;
      policy_.tiers.push_back(std::make_shared<Tier>(options, i, i == 2 || i == 3 ? 1 : i, fs));
    }
    policy_.home = 4;
  }
  // How many of a thousand files each directory gets, of numbers that follow one another.
  std::map<std::string, int> Shares(int tier, const Tier* leaving = nullptr) {
    const Directories directories(policy_, leaving);
    std::map<std::string, int> shares;
    for (uint64_t number = 7; number < 1007; number++) {
      shares[directories.For(policy_.tier(tier), number)->name()]++;
    }
    return shares;
  }

  Policy policy_;
};

TEST_F(DirectoriesTest, FilesGoByFreeSpace) {
  Make({{"/b1", 100}, {"/b2", 100}, {"/b3", 100}});
  for (const auto& [name, count] : Shares(1)) {
    EXPECT_NEAR(count, 333, 5) << name;
  }
  EXPECT_EQ(Shares(2), Shares(1)) << "whichever of the tier's directories is named";
  EXPECT_EQ(Shares(0), (std::map<std::string, int>{{"a", 1000}}));
  EXPECT_EQ(Shares(4), (std::map<std::string, int>{{"home", 1000}}));
  Make({{"/b1", uint64_t{6} << 40}, {"/b2", uint64_t{3} << 40}, {"/b3", uint64_t{1} << 40}});
  EXPECT_NEAR(Shares(1)["b"], 600, 5);
  EXPECT_NEAR(Shares(1)["b.2"], 300, 5);
  EXPECT_NEAR(Shares(1)["b.3"], 100, 5);
}

TEST_F(DirectoriesTest, NeighboursGoToDifferentOnes) {
  Make({{"/b1", 100}, {"/b2", 100}, {"/b3", 100}});
  const Directories directories(policy_);
  int same = 0;
  for (uint64_t number = 1; number < 1000; number++) {
    same += directories.For(policy_.tier(1), number) == directories.For(policy_.tier(1), number + 1)
                ? 1
                : 0;
  }
  EXPECT_EQ(same, 0);
}

// How many of so many files that are written at once each directory gets.
std::map<std::string, int> WrittenAtOnce(const Policy& policy, int count) {
  const Directories directories(policy);
  std::map<std::string, int> shares;
  std::vector<Writing> writing(static_cast<size_t>(count));
  for (Writing& one : writing) {
    Tier* const tier = directories.ForNew(policy.tier(1));
    shares[tier->name()]++;
    one = Writing(tier);
  }
  return shares;
}

TEST_F(DirectoriesTest, FilesThatAreWrittenAtOnceAreInAll) {
  Make({{"/b1", 1000}, {"/b2", 1020}, {"/b3", 980}});
  std::mt19937_64 random(rocktier::Seed());
  for (int round = 0; round < 1000; round++) {
    policy_.tier(1 + static_cast<int>(random() % 3))->Take(random() % (64 << 20));
    EXPECT_EQ(WrittenAtOnce(policy_, 3),
              (std::map<std::string, int>{{"b", 1}, {"b.2", 1}, {"b.3", 1}}));
    EXPECT_EQ(WrittenAtOnce(policy_, 6),
              (std::map<std::string, int>{{"b", 2}, {"b.2", 2}, {"b.3", 2}}));
  }
  for (int i = 1; i < 4; i++) {
    EXPECT_EQ(policy_.tier(i)->writers(), 0);
  }
  Make({{"/b1", 600}, {"/b2", 300}, {"/b3", 100}});
  const auto shares = WrittenAtOnce(policy_, 10);
  EXPECT_NEAR(shares.at("b"), 6, 1);
  EXPECT_NEAR(shares.at("b.2"), 3, 1);
}

// Writes files one after the other, of up to so many bytes. Returns how many each directory got.
std::map<std::string, int> WriteFiles(const Policy& policy, int count, uint64_t most) {
  std::mt19937_64 random(rocktier::Seed());
  const Writing elsewhere(policy.tier(4));
  std::map<std::string, int> files;
  for (int i = 0; i < count; i++) {
    Tier* const tier = Directories(policy).ForNew(policy.tier(1));
    files[tier->name()]++;
    tier->Take(random() % (most + 1));
  }
  return files;
}

TEST_F(DirectoriesTest, NewFilesGoByFreeSpace) {
  Make({{"/b1", 600}, {"/b2", 300}, {"/b3", 100}});
  EXPECT_NEAR(WriteFiles(policy_, 1000, 0)["b.3"], 100, 1);
  Make({{"/b1", 0}, {"/b2", 300}, {"/b3", 0}});
  {
    const Directories full(policy_);
    const Writing two(policy_.tier(2));
    EXPECT_EQ(full.ForNew(policy_.tier(1)), policy_.tier(2));
    EXPECT_EQ(full.ForNew(policy_.tier(0)), policy_.tier(0));
  }
  Make({});
  EXPECT_EQ(Directories(policy_).ForNew(policy_.tier(1)), policy_.tier(1))
      << "it says why it fails";
}

// It has no writers, and was given nothing: it would be the first one, and again when the others
// have many writers.
TEST_F(DirectoriesTest, OneThatIsNearlyFullGetsNoLargeFile) {
  constexpr uint64_t kLarge = 64 << 20;
  Make({{"/b1", kLarge - 1}, {"/b2", uint64_t{1} << 40}, {"/b3", uint64_t{1} << 40}});
  {
    const Directories directories(policy_);
    std::vector<Writing> writing(40);
    for (Writing& one : writing) {
      Tier* const tier = directories.ForNew(policy_.tier(1), kLarge);
      EXPECT_NE(tier, policy_.tier(1));
      one = Writing(tier);
    }
    EXPECT_EQ(directories.ForNew(policy_.tier(1), kLarge - 1), policy_.tier(1)) << "a smaller one";
  }
  Make({{"/b1", 100}, {"/b2", 200}, {"/b3", 100}});
  EXPECT_EQ(Directories(policy_).ForNew(policy_.tier(1), kLarge), policy_.tier(2))
      << "none has room: the one that has most";
}

TEST_F(DirectoriesTest, EachHasItsShareOfBytes) {
  Make({{"/b1", 500}, {"/b2", 300}, {"/b3", 200}});
  WriteFiles(policy_, 1000, 8 << 20);
  const double all = 1000 * 4.0 * (1 << 20);
  EXPECT_NEAR(static_cast<double>(policy_.tier(1)->used()) / all, 0.5, 0.05);
  const double of_first = static_cast<double>(policy_.tier(1)->used());
  EXPECT_NEAR(static_cast<double>(policy_.tier(2)->used()) / of_first, 0.6, 0.01);
  EXPECT_NEAR(static_cast<double>(policy_.tier(3)->used()) / of_first, 0.4, 0.01);
}

// A compaction deletes what it has read, and that is not even.
TEST_F(DirectoriesTest, WhatIsDeletedIsMadeUpFor) {
  Make({{"/b1", 100}, {"/b2", 100}, {"/b3", 100}});
  WriteFiles(policy_, 300, 2 << 20);
  policy_.tier(2)->Release(policy_.tier(2)->used() / 2);
  policy_.tier(3)->Release(policy_.tier(3)->used() / 4);
  WriteFiles(policy_, 300, 2 << 20);
  const auto of_first = static_cast<double>(policy_.tier(1)->used());
  EXPECT_NEAR(static_cast<double>(policy_.tier(2)->used()) / of_first, 1, 0.02);
  EXPECT_NEAR(static_cast<double>(policy_.tier(3)->used()) / of_first, 1, 0.02);
}

// What was there before counts by the free space alone.
TEST_F(DirectoriesTest, WhatWasThereDoesNotCount) {
  Make({{"/b1", 100}, {"/b2", 100}, {"/b3", 100}});
  policy_.tier(1)->Take(200 << 20);
  EXPECT_NEAR(WriteFiles(policy_, 300, 0)["b"], 100, 1);
}

// Else it would be written to alone.
TEST_F(DirectoriesTest, OneThatWasOutOfUseDoesNotMakeUpForAllOfIt) {
  Make({{"/b1", 100}, {"/b2", 100}, {"/b3", 100}});
  WriteFiles(policy_, 1, 0);
  policy_.tier(1)->Take(uint64_t{10} << 30);
  policy_.tier(2)->Take(uint64_t{10} << 30);
  auto files = WriteFiles(policy_, 1200, 2 << 20);
  EXPECT_GT(files["b.3"], 420);
  EXPECT_LT(files["b.3"], 500);
}

TEST_F(DirectoriesTest, WhatTakesNothingGetsNothing) {
  const std::map<std::string, uint64_t> free = {{"/b1", 100}, {"/b2", 100}, {"/b3", 100}};
  Make(free);
  policy_.tier(1)->Failed();
  EXPECT_EQ(Shares(1).count("b"), 0u);
  EXPECT_NEAR(Shares(1)["b.2"], 500, 5);
  EXPECT_NEAR(Shares(1)["b.3"], 500, 5);
  EXPECT_EQ(Shares(1, policy_.tier(3)), (std::map<std::string, int>{{"b.2", 1000}}));
  Make({{"/b1", 0}, {"/b3", 100}});
  EXPECT_EQ(Shares(1), (std::map<std::string, int>{{"b.3", 1000}})) << "b2 does not tell";
  Make({});
  EXPECT_EQ(Shares(1), (std::map<std::string, int>{{"b", 1000}})) << "it says why it fails";
}

TEST_F(DirectoriesTest, BudgetsCount) {
  Make({{"/b1", 1000}, {"/b2", 1000}, {"/b3", 1000}}, 100);
  policy_.tier(1)->Take(100);
  policy_.tier(2)->Take(50);
  EXPECT_EQ(Shares(1).count("b"), 0u);
  EXPECT_NEAR(Shares(1)["b.2"], 333, 5);
  EXPECT_NEAR(Shares(1)["b.3"], 667, 5);
}

// Budgets are used up as a rule: logs go by what devices have free, and take turns of their own.
TEST_F(DirectoriesTest, BudgetsDoNotCountForWhatTakesOfNone) {
  constexpr uint64_t kLog = 64 << 20;
  constexpr uint64_t kPlenty = uint64_t{1} << 40;
  Make({{"/b1", kLog - 1}, {"/b2", kPlenty}, {"/b3", 3 * kPlenty}}, 100);
  for (int i = 1; i < 4; i++) {
    policy_.tier(i)->Take(100);
  }
  std::map<std::string, int> logs;
  for (int i = 0; i < 400; i++) {
    logs[Directories(policy_, nullptr, /*budgeted=*/false).ForNew(policy_.tier(1), kLog)->name()]++;
    policy_.tier(3)->Release(100);
    EXPECT_EQ(Directories(policy_).ForNew(policy_.tier(1), 100), policy_.tier(3));
    policy_.tier(3)->Take(100);
  }
  EXPECT_EQ(logs.count("b"), 0u);
  EXPECT_NEAR(logs["b.2"], 100, 2);
  EXPECT_NEAR(logs["b.3"], 300, 2);
  // One that was full does not make up for all that the others got.
  Make({{"/b1", kPlenty}, {"/b2", kPlenty}, {"/b3", kPlenty}});
  policy_.tier(1)->turn(false)->Give(-1000.0 * kLog);
  logs.clear();
  for (int i = 0; i < 300; i++) {
    logs[Directories(policy_, nullptr, /*budgeted=*/false).ForNew(policy_.tier(1), kLog)->name()]++;
  }
  EXPECT_NEAR(logs["b"], 100, 5);
}

class TieredDirectoriesTest : public TieredTest {
 protected:
  TieredDirectoriesTest() {
    for (const char* name : {"d1", "d2", "d3"}) {
      std::filesystem::create_directory(TierPath(name));
    }
  }
  // A tier of so many directories.
  std::string Several(int count, const std::string& more = "") const {
    std::string paths;
    for (int i = 1; i <= count; i++) {
      paths += (paths.empty() ? "" : ",") + TierPath("d" + std::to_string(i));
    }
    return "slow={path=" + paths + more + "}";
  }
  Status TryToOpen(const std::string& tiers) {
    NewFs(tiers, "0..=slow");
    Options options = DbOptions();
    return OpenDb(options, db_name_, &db_);
  }
};

TEST_F(TieredDirectoriesTest, FilesAreInAll) {
  NewFs(Several(3), "0..=slow");
  Open();
  Fill(20000);
  Settle();
  EXPECT_GT(FilesIn("d1"), 0u);
  EXPECT_GT(FilesIn("d2"), 0u);
  EXPECT_GT(FilesIn("d3"), 0u);
  EXPECT_EQ(Moves(), 0u) << "each is where it belongs";
  EXPECT_EQ(StatsOf("slow").spills, 0u);
  EXPECT_EQ(StatsOf("slow.2").files, FilesIn("d2"));
  EXPECT_EQ(StatsOf("slow.2").stranded_bytes, 0u);
  Verify();
  Reopen(Several(3), "0..=slow");
  Settle();
  EXPECT_EQ(Moves(), 0u);
  Verify();
}

// It does not spill: with the first log of a process there, writes would soon fail.
TEST_F(TieredDirectoriesTest, OneThatIsNearlyFullGetsNoLog) {
  constexpr uint64_t kPlenty = uint64_t{1} << 40;
  target_ = std::make_shared<SpaciousFs>(std::map<std::string, uint64_t>{
      {TierPath("d1"), 1 << 20}, {TierPath("d2"), kPlenty}, {TierPath("d3"), kPlenty}});
  for (const std::string more : {"", ";budget=1"}) {  // which is for SSTs
    NewFs(Several(3, more), "wal=slow");
    Open();
    Fill(10);
    EXPECT_EQ(FilesIn("d1"), 0u) << more;
    EXPECT_EQ(FilesIn("d2") + FilesIn("d3"), 1u) << more;
    Verify();
  }
}

TEST_F(TieredDirectoriesTest, TheMoverSpreads) {
  NewFs(Several(3), "");
  Open();
  Fill(20000);
  Settle();
  Reopen(Several(3), "0..=slow");
  Settle();
  EXPECT_GT(FilesIn("d1"), 0u);
  EXPECT_GT(FilesIn("d2"), 0u);
  EXPECT_GT(FilesIn("d3"), 0u);
  for (const std::string& base : FilesOf(".sst")) {
    EXPECT_NE(TierOf(base), "home") << base;
  }
  Verify();
}

TEST_F(TieredDirectoriesTest, OneIsAddedAtTheEnd) {
  NewFs(Several(2), "0..=slow");
  Open();
  Fill(5000);
  Settle();
  ASSERT_EQ(FilesIn("d3"), 0u);
  const uint64_t before = FilesIn("d1");
  Reopen(Several(3), "0..=slow");
  Settle();
  EXPECT_EQ(Moves(), 0u) << "what is there stays";
  EXPECT_EQ(FilesIn("d1"), before);
  Fill(20000);
  Settle();
  EXPECT_GT(FilesIn("d3"), 0u);
  Verify();
}

TEST_F(TieredDirectoriesTest, WhoseDirectoryIsMissingOrAnotherIsRefused) {
  ASSERT_OK(TryToOpen(Several(3)));
  Fill(10000);
  Settle();
  Close();
  const std::string d = TierPath("d");
  std::filesystem::rename(d + "2", d + "2-unplugged");
  Status s = TryToOpen(Several(3));
  EXPECT_FALSE(s.ok());
  EXPECT_NE(s.ToString().find(d + "2"), std::string::npos) << s.ToString();
  s = TryToOpen("slow={path=" + d + "1," + d + "3}");
  EXPECT_FALSE(s.ok()) << "the third one in the place of the second";
  s = TryToOpen(Several(1));
  EXPECT_FALSE(s.ok()) << "left out";
  std::filesystem::rename(d + "2-unplugged", d + "2");
  s = TryToOpen("slow={path=" + d + "2," + d + "1," + d + "3}");
  EXPECT_FALSE(s.ok()) << "in another order";
  ASSERT_OK(TryToOpen(Several(3)));
  Verify();
}

TEST_F(TieredDirectoriesTest, OneIsDrainedAndLeftOut) {
  ASSERT_OK(TryToOpen(Several(3)));
  Fill(10000);
  Settle();
  Close();
  ASSERT_GT(FilesIn("d3"), 0u);
  const size_t all = FilesIn("d1") + FilesIn("d2") + FilesIn("d3");
  const size_t of_third = FilesIn("d3");
  uint64_t moved = 0;
  ASSERT_OK(DrainTier(fs_.get(), db_name_, "slow.3", &moved));
  EXPECT_EQ(moved, of_third);
  EXPECT_EQ(FilesIn("d3"), 0u);
  EXPECT_EQ(FilesIn("d1") + FilesIn("d2"), all) << "within the tier";
  ASSERT_OK(TryToOpen(Several(2)));
  Verify();
}

TEST_F(TieredDirectoriesTest, ABudgetIsOfEachDirectory) {
  NewFs(Several(3, ";budget=200K"), "0..=slow");
  Open();
  Fill(20000);
  Settle();
  for (const std::string name : {"slow", "slow.2", "slow.3"}) {
    EXPECT_LE(StatsOf(name).bytes, 200u << 10) << name;
    EXPECT_GT(StatsOf(name).bytes, 60u << 10) << name;
  }
  EXPECT_GT(StatsOf("home").bytes, 0u) << "the rest";
  Verify();
}

}  // namespace

}  // namespace rocktier
