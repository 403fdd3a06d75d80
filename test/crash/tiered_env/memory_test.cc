// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory: a child writes, trims and moves, and is killed at a random moment, at a certain
// point, or while it rebuilds what was lost. What the tier had is then lost, damaged, or older.
// Every acknowledged batch must be there, whole, and nothing else; again and again in the same
// database. It goes on until children have come to the points, and each kind of damage has been
// made and was repaired.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_SECONDS for how long each goes on.

#include "test/crash/tiered_env/memory.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "test/crash/tiered_env/damage.h"
#include "test/crash/tiered_env/model.h"
#include "test/crash/tiered_env/shared.h"
#include "test/support/kill.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kLeastChildren = 10;
constexpr uint64_t kMostChildren = 150;    // until a short run has seen what it must
constexpr uint64_t kMostPatience = 20000;  // milliseconds, for a child that shall get somewhere
constexpr uint64_t kPointPatience = 1500;  // at first: machines may be slow
constexpr uint64_t kNever = UINT64_MAX / 2;

// Where a child kills itself. In its setup one child at least must come there, in the others it is
// a matter of luck.
struct Point {
  const char* name;
  MemorySite::Setup setup;
  bool lost;  // only what was lost leads there
};

const Point kPoints[] = {
    {"Recovery::Rebuild:BeforeWrite", MemorySite::kLeveled, true},
    {"Recovery::Rebuild:AfterWrite", MemorySite::kUniversal, true},
    {"WalSegments::Trim:BeforeSwap", MemorySite::kAllInMemory, false},
    {"WalSegments::Trim:BeforeDelete", MemorySite::kAllInMemory, false},
    {"RecoveryManager::SyncLogs:LogsAreSynced", MemorySite::kLeveled, false},
    {"Relocator::Move:BeforeDelete", MemorySite::kUniversal, false},
    {"Relocator::Swap:AfterRename", MemorySite::kWalDir, false},
    {"TieredFileSystem::DeleteFile:StubIsGone", MemorySite::kWalDir, false},
    {"PlacedFile::Open:BeforeStub", MemorySite::kUniversal, false},
    {"PlacedFile::Spill:BeforeDelete", MemorySite::kLeveled, false},
    {"RawWalFileSystem::DeleteFile:NameIsGone", MemorySite::kLogDevice, false},
    {"RawWalFileSystem::DeleteFile:LogIsGone", MemorySite::kLogDevice, false},
};

class MemoryKillTest : public ::testing::TestWithParam<int> {
 protected:
  MemoryKillTest() {
    random_.seed(Seed() + static_cast<uint64_t>(GetParam()));
    folder_ = NewFolder("memory-kill-" + std::to_string(GetParam()));
    std::filesystem::create_directories(folder_ + "/slow");
    shared_ = MapShared<Shared>(folder_ + "/shared");
    TrimEarly();
    for (const Point& point : kPoints) {
      if (point.setup == GetParam()) {
        due_points_.insert(point.name);
      }
    }
    for (int i = 0; i < kDamages; i++) {
      due_damage_.insert(static_cast<Damage>(i));
    }
    due_damage_.erase(Damage::kNone);
  }
  ~MemoryKillTest() override {
    munmap(shared_, sizeof(Shared));
    if (!HasFailure()) {
      std::filesystem::remove_all(folder_);
    }
  }

  void Spawn(const std::string& point, pid_t* pid) {
    const std::string setup = std::to_string(GetParam());
    const std::string seed = std::to_string(random_());
    const std::string hits = std::to_string(1 + random_() % (due_points_.count(point) > 0 ? 2 : 6));
    printf("  child %llu, seed %s, %s, %s\n", static_cast<unsigned long long>(children_),
           seed.c_str(), point.c_str(), hits.c_str());
    const char* arguments[] = {"kill_test",  "--memory-child", folder_.c_str(), setup.c_str(),
                               seed.c_str(), point.c_str(),    hits.c_str(),    nullptr};
    ASSERT_EQ(posix_spawn(pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments),
                          environ),
              0);
    children_++;
  }

  // Waits until it ends, has written so many batches, or the time is over.
  bool Ended(pid_t pid, uint64_t batches, uint64_t milliseconds, int* status) const {
    const uint64_t end = shared_->acknowledged + batches;
    for (uint64_t waited = 0; waited < milliseconds && shared_->acknowledged < end; waited++) {
      if (waitpid(pid, status, WNOHANG) == pid) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  // Kills a child after so many batches or milliseconds, if it has not died at the point by then.
  void RunAndKill(const std::string& point, uint64_t batches, uint64_t milliseconds) {
    pid_t pid = 0;
    int status = 0;
    ASSERT_NO_FATAL_FAILURE(Spawn(point, &pid));
    if (!Ended(pid, batches, milliseconds, &status)) {
      kill(pid, SIGKILL);
      ASSERT_EQ(waitpid(pid, &status, 0), pid);
    } else if (!point.empty()) {
      at_point_++;
      due_points_.erase(point);
    }
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    ASSERT_EQ(shared_->failed, 0u);
  }

  // Any point, or one of those that no child has come to yet.
  const Point& APoint() {
    for (;;) {
      const Point& point = kPoints[random_() % std::size(kPoints)];
      if (due_points_.empty() || due_points_.count(point.name) > 0) {
        return point;
      }
    }
  }

  void RunToAPoint(const MemorySite& site) {
    const Point& point = APoint();
    if (point.lost) {
      std::filesystem::remove_all(site.tier());
    }
    const uint64_t slowness = due_points_.empty() ? 1 : 1 + children_ / 20;
    RunAndKill(point.name, kNever, kPointPatience * slowness);
  }

  void RunAndKill(const MemorySite& site) {
    switch (random_() % 4) {
      case 0:  // as a rule before it is open
        return RunAndKill("", kNever, random_() % 200);
      case 1:
        return RunToAPoint(site);
      case 2:
        if (!due_points_.empty()) {
          return RunToAPoint(site);
        }
        [[fallthrough]];
      default:
        return RunAndKill("", 1 + random_() % 5000, kMostPatience);
    }
  }

  // Whether something has changed.
  bool MakeDamage(const MemorySite& site, Damage damage) {
    printf("  the tier: %s\n", NameOf(damage));
    return DamageTier(damage, site.tier(), site.older(), &random_);
  }

  // Of a tier that a check has left sound: what is rebuilt by the next one was damaged here.
  void MakeDueDamage(const MemorySite& site) {
    const std::set<Damage> due = due_damage_;
    for (const Damage damage : due) {
      const uint64_t rebuilt = shared_->rebuilt;
      if (MakeDamage(site, damage)) {
        SCOPED_TRACE(NameOf(damage));
        ASSERT_NO_FATAL_FAILURE(Check());
        if (!LosesFiles(damage) || shared_->rebuilt > rebuilt) {
          due_damage_.erase(damage);
        }
      }
    }
  }

  void CheckFamily(const MemorySite& site, size_t family) const {
    const auto& expected = model_.family(family);
    std::unique_ptr<Iterator> it(site.db()->NewIterator(ReadOptions(), site.families()[family]));
    auto next = expected.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++next) {
      ASSERT_TRUE(next != expected.end()) << it->key().ToString() << " should not be there";
      ASSERT_EQ(it->key().ToString(), next->first);
      ASSERT_TRUE(it->value() == next->second)
          << next->first << ": " << it->value().ToString().substr(0, 100) << " instead of "
          << next->second.substr(0, 100);
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_TRUE(next == expected.end()) << next->first << " is lost";
    auto last = expected.rbegin();
    for (it->SeekToLast(); it->Valid(); it->Prev(), ++last) {
      ASSERT_TRUE(last != expected.rend() && it->key() == last->first) << it->key().ToString();
    }
    ASSERT_TRUE(last == expected.rend());
    for (const auto& [key, value] : expected) {
      std::string found;
      const Status s = site.db()->Get(ReadOptions(), site.families()[family], key, &found);
      ASSERT_TRUE(s.ok() && found == value) << key << ": " << s.ToString();
    }
  }

  void CheckDb(const MemorySite& site) {
    uint64_t count = 0;
    Status s = site.Count(&count);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_GE(count, shared_->acknowledged);
    ASSERT_LE(count, shared_->issued);
    model_.AdvanceTo(count);
    for (size_t i = 0; i < kFamilies && !HasFailure(); i++) {
      CheckFamily(site, i);
    }
    s = site.db()->VerifyChecksum();
    ASSERT_TRUE(s.ok()) << s.ToString();
    s = site.db()->VerifyFileChecksums(ReadOptions());
    ASSERT_TRUE(s.ok()) << s.ToString();
    shared_->acknowledged = shared_->issued = count;
  }

  void CheckBudgets(const MemorySite& site) {
    ASSERT_TRUE(WaitForMoves(site.fs()).ok());
    TieredStats stats;
    Publish(site.fs(), &stats, shared_);
    ASSERT_FALSE(stats.tiers.empty());
    for (const TieredTierStats& tier : stats.tiers) {
      ASSERT_TRUE(tier.budget == 0 || tier.bytes <= tier.budget)
          << tier.name << " has " << tier.bytes;
    }
  }

  // What is left is in order, with nobody at work.
  void CheckClosed(const MemorySite& site) {
    TieredCheck check;
    std::shared_ptr<FileSystem> fs;
    TieredOptions options;
    options.tiers =
        "memory={kind=memory;path=" + site.tier() + "};slow={path=" + folder_ + "/slow}";
    std::shared_ptr<FileSystem> target;
    ASSERT_TRUE(site.Target(&target).ok());
    ASSERT_TRUE(NewTieredFileSystem(options, target, &fs).ok());
    const Status s = CheckTiers(fs.get(), site.directory(), /*repair=*/false, &check);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (const TieredProblem& problem : check.problems) {
      EXPECT_TRUE(problem.harmless) << problem.path << " " << problem.what;
    }
  }

  void Check() {
    MemorySite site(folder_, GetParam());
    const Status s = site.Open(random_());
    ASSERT_TRUE(s.ok()) << s.ToString() << "\n" << site.options();
    SCOPED_TRACE(site.options());
    CheckDb(site);
    if (HasFailure()) {
      return;
    }
    CheckBudgets(site);
    site.Close();
    CheckClosed(site);
  }

  // Of what a run must have seen; empty if it has. It takes a dozen children as a rule.
  std::string Unseen() const {
    std::string unseen;
    for (const std::string& point : due_points_) {
      unseen += "no child came to " + point + "; ";
    }
    for (const Damage damage : due_damage_) {
      unseen += std::string("nothing was repaired after: ") + NameOf(damage) + "; ";
    }
    const bool all_in_memory = GetParam() == MemorySite::kAllInMemory;
    unseen += shared_->rebuilt == 0 ? "no SST was rebuilt; " : "";
    unseen += shared_->references == 0 ? "no recipe refers to a log; " : "";
    unseen += all_in_memory && shared_->trims == 0 ? "no log was trimmed; " : "";
    const bool on_device = GetParam() == MemorySite::kLogDevice;
    unseen += on_device && shared_->trims == 0 ? "no log was trimmed; " : "";
    unseen += !all_in_memory && shared_->moves == 0 ? "no file was moved; " : "";
    unseen += !all_in_memory && shared_->spills == 0 ? "no file was spilled; " : "";
    return unseen;
  }

  bool IsLongEnough(std::chrono::steady_clock::time_point end) const {
    return children_ >= kLeastChildren && std::chrono::steady_clock::now() >= end &&
           (Unseen().empty() || children_ >= kMostChildren);
  }

  std::mt19937_64 random_;
  std::string folder_;
  Shared* shared_;
  Model model_;
  uint64_t children_ = 0;
  uint64_t at_point_ = 0;
  std::set<std::string> due_points_;
  std::set<Damage> due_damage_;
};

TEST_P(MemoryKillTest, EveryAcknowledgedWriteIsThere) {
  if (!MemorySite::Has(GetParam())) {
    printf("[ SKIPPED ] raw_wal_fs is not built\n");
    return;
  }
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(FromEnvironment("ROCKTIER_CRASH_SECONDS", 4));
  const MemorySite site(folder_, GetParam());
  while (!HasFailure() && !IsLongEnough(end)) {
    SCOPED_TRACE("after child " + std::to_string(children_));
    RunAndKill(site);
    if (HasFailure()) {
      break;
    }
    MakeDamage(site, AnyDamage(&random_));
    if (random_() % 2 == 0) {  // else the next child has to do with what is left
      Check();
      if (!HasFailure()) {
        MakeDueDamage(site);
      }
      MakeDamage(site, AnyDamage(&random_));
    }
  }
  if (!HasFailure()) {
    std::filesystem::remove_all(site.tier());
    Check();
  }
  printf(
      "%llu kills, %llu at a point, %llu batches, %llu SSTs rebuilt, %llu logs trimmed, "
      "%llu references, %llu moves, %llu spills\n",
      static_cast<unsigned long long>(children_), static_cast<unsigned long long>(at_point_),
      static_cast<unsigned long long>(shared_->acknowledged),
      static_cast<unsigned long long>(shared_->rebuilt),
      static_cast<unsigned long long>(shared_->trims),
      static_cast<unsigned long long>(shared_->references),
      static_cast<unsigned long long>(shared_->moves),
      static_cast<unsigned long long>(shared_->spills));
  EXPECT_GT(shared_->acknowledged, 0u);
  EXPECT_EQ(Unseen(), "");
}

std::string NameOf(const ::testing::TestParamInfo<int>& each) {
  const char* const names[MemorySite::kSetups] = {"Leveled", "Universal", "WalDir", "AllInMemory",
                                                  "LogDevice"};
  return names[each.param];
}

INSTANTIATE_TEST_CASE_P(Setups, MemoryKillTest, ::testing::Range(0, int{MemorySite::kSetups}),
                        NameOf);

}  // namespace

}  // namespace rocktier
