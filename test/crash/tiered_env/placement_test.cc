// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The placement of a database with several column families is changed, by reopening it, or by the
// options of its FileSystem between two openings; an open database is refused another one. A child
// does it and is killed at each step of a move, or at a random moment. What it has acknowledged
// must be there. What must move has moved in the end, and nothing else: by what RocksDB tells of
// files, and by inodes. In one case nothing compacts, and all is known to the byte; in another one
// compactions, flushes and temperatures change the files meanwhile.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills,
// ROCKTIER_CRASH_SECONDS for how long it goes on.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/tiered_env/tiered_env.h"
#include "port/stack_trace.h"
#include "test/crash/tiered_env/placement_checks.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// Where a child kills itself.
struct Point {
  const char* name;  // empty: it is killed at a random moment
  enum class Step { kOpening, kBeforeSwap, kAfterSwap } step;
};
using Step = Point::Step;

const Point kPoints[] = {
    {"", Step::kOpening},
    {"Folders::Renew:BeforeOwners", Step::kOpening},
    {"Folders::Renew:AfterOwners", Step::kOpening},
    {"Relocator::Move:BeforeCopy", Step::kBeforeSwap},
    {"Copy:Chunk", Step::kBeforeSwap},
    {"Relocator::Move:AfterCopy", Step::kBeforeSwap},
    {"Relocator::Swap:BeforeRename", Step::kBeforeSwap},
    {"Relocator::Swap:AfterRename", Step::kAfterSwap},
    {"Relocator::Move:BeforeDelete", Step::kAfterSwap},
    {"Relocator::Move:AfterDelete", Step::kAfterSwap},
};
// Those of a database that has no folders in tiers yet, and how often an opening comes there.
const struct {
  const char* name;
  int times;
} kFirstPoints[] = {{"Folders::Create:BeforeRename", 2}, {"Folders::MakeIn:BeforeOwner", 4}};

const char* const kPlacements[] = {
    "cf:users=fast;cf:log_*/0..2=middle;range:k1..k2=slow;0..1=fast;2..=slow;blob=slow",
    "cf:log_a=fast;range:k2..=middle;0..2=fast;3..=slow",
    "0..base=fast;base+1..=slow;blob=middle",
    "last=slow;0..=middle",
    "range:..k1=middle;cf:users/range:k2..=fast;0..=slow;cf:users=middle",
    "older:30d=slow;cf:users/blob=fast;hot=fast;cold=slow;0..=middle",
    "",
    "cf:*=middle",
    "cf:default=slow;cf:log_b/older:30d=middle;range:k1..k3/1..4=fast;0..=middle",
    "hot=fast;cold=slow;cf:users=middle;last=slow;0..last-1=fast",
};
// Whose rules do not depend on what other files there are, nor on the time.
const char* const kSteadyPlacements[] = {
    "cf:users=fast;cf:log_*/0..2=middle;range:k1..k2=slow;0..1=fast;2..=slow;blob=slow",
    "cf:log_a=fast;range:k2..=middle;0..2=fast;3..=slow;wal=slow",
    "hot=fast;cold=slow;cf:users=middle;blob=fast;range:k3..=middle;meta=middle;wal=fast",
    "cf:default/1..=slow;cf:log_b=slow;0..1=fast;2..=middle;blob=slow;meta=slow",
};

constexpr time_t kOld = 60 * 24 * 60 * 60;  // seconds, which older:30d fits
constexpr int kLevels = 6;

class RestKillTest : public ::testing::WithParamInterface<int>, public PlacementRestTest {
 protected:
  RestKillTest() : PlacementRestTest(GetParam()) {}

  const Point& point() const { return kPoints[GetParam()]; }
  bool has_point() const { return *point().name != '\0'; }

  // Makes other files of some; the database is at rest by current_ then.
  void Mutate();
  // A placement by which something has to move, if that is needed, but not all.
  std::string Another();
  // Notes by which rules files move between two placements, and which stay.
  void Note(const std::string& a, const std::string& b);
  // Has a child change the placement to `target`, kills it, and opens the database by either.
  void Kill(const std::string& target);
  // Goes to another placement, with some kills on the way, and expects that what both agree on was
  // never moved.
  void Round();
  std::string Unseen() const override;

  std::set<std::string> seen_;
};

void RestKillTest::Mutate() {
  ASSERT_OK(site_->NewFs(current_));
  ASSERT_OK(site_->Open(/*compacts=*/false, /*has_listener=*/Some(2) == 0));
  ASSERT_OK(site_->Write(200));
  ASSERT_OK(site_->Flush(Some(2) == 0 ? "kHot" : "kCold"));
  ASSERT_OK(site_->PushDown(Some(kPlacementFamilies.size()), 1 + static_cast<int>(Some(kLevels))));
  ASSERT_OK(WaitForMoves(site_->fs()));
  site_->Close();
  const Disk disk = LookAtDisk(folder_);
  for (const auto& [base, file] : disk.files) {
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = time(nullptr) - kOld;
    if (Some(8) == 0) {
      ASSERT_EQ(utimensat(AT_FDCWD, file.path.c_str(), times, 0), 0) << base;
    }
  }
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(current_, /*kept=*/true));
}

std::string RestKillTest::Another() {
  for (int i = 0; i < 1000; i++) {
    const char* const placement = kPlacements[Some(std::size(kPlacements))];
    const uint64_t differing = Differing(current_, placement);
    if (placement != current_ && (differing > 0 || !has_point()) && differing < files_.size()) {
      return placement;
    }
  }
  return current_.empty() ? kPlacements[0] : "";
}

void RestKillTest::Note(const std::string& a, const std::string& b) {
  for (const auto& [base, file] : files_) {
    const Belonging before = BelongingOf(a, file);
    const Belonging after = BelongingOf(b, file);
    seen_.insert(before.tier == after.tier ? "a file that stays" : after.by);
  }
}

void RestKillTest::Kill(const std::string& target) {
  const uint64_t differing = Differing(current_, target);
  const bool by_options = kills_ % 2 == 1;
  int hits = 1 + static_cast<int>(Some(std::min<uint64_t>(std::max<uint64_t>(differing, 1), 10)));
  if (point().step == Step::kOpening) {
    hits = by_options ? 2 : 1;  // it opens it twice, or once
  }
  ASSERT_NO_FATAL_FAILURE(CheckPlan(target));
  ASSERT_NO_FATAL_FAILURE(RunAndKill(by_options ? kByOptions : kByReopening, current_, target,
                                     point().name, hits, has_point() ? kPatience : Some(400000)));
  uint64_t moved = 0;
  ASSERT_NO_FATAL_FAILURE(CheckHalfway(target, &moved));
  if (has_point()) {
    EXPECT_EQ(moved, point().step == Step::kOpening      ? 0u
                     : point().step == Step::kBeforeSwap ? static_cast<uint64_t>(hits) - 1
                                                         : static_cast<uint64_t>(hits));
  }
  seen_.insert(moved > 0 && moved < differing ? "a change that was interrupted" : "");
  const bool back = kills_ / 2 % 2 == 0;
  seen_.insert(std::string(by_options ? "by options" : "by reopening") +
               (back ? ", and back" : ", and on"));
  Note(current_, target);
  OpenAndCheck(back ? current_ : target, /*kept=*/Some(2) == 0);
}

void RestKillTest::Round() {
  ASSERT_NO_FATAL_FAILURE(Mutate());
  const std::string from = current_;
  const std::string to = Another();
  const Files files = files_;
  const HeldFiles held(disk_);
  for (int i = 0; i < 2; i++) {
    ASSERT_NO_FATAL_FAILURE(Kill(current_ == from ? to : from));
  }
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(to, /*kept=*/false));
  for (const auto& [base, file] : files) {
    if (BelongingOf(from, file).tier == BelongingOf(to, file).tier) {
      EXPECT_TRUE(IsSameFile(held.disk().files.at(base), disk_.files.at(base)))
          << base << " was moved, though '" << from << "' and '" << to << "' agree";
    }
  }
}

std::string RestKillTest::Unseen() const {
  std::vector<std::string> unseen;
  for (const char* const what :
       {"cf", "range", "levels", "a file that stays", "by reopening, and back",
        "by reopening, and on", "by options, and back", "by options, and on"}) {
    if (seen_.count(what) == 0) {
      unseen.emplace_back(what);
    }
  }
  if (point().step != Step::kOpening && seen_.count("a change that was interrupted") == 0) {
    unseen.emplace_back("a change that was interrupted");
  }
  if (shared_->refused == 0 || shared_->configured == 0) {
    unseen.emplace_back("options that were changed");
  }
  return Listed(unseen);
}

TEST_P(RestKillTest, MovesWhatMustAndNothingElse) {
  current_ = kPlacements[Some(std::size(kPlacements))];
  ASSERT_OK(site_->NewFs(current_));
  ASSERT_OK(site_->Open(/*compacts=*/false));
  ASSERT_NO_FATAL_FAILURE(Fill());
  ASSERT_OK(WaitForMoves(site_->fs()));
  site_->Close();
  while (GoesOn(4)) {
    SCOPED_TRACE(kills_);
    Round();
  }
  printf("%llu kills, %llu acknowledged writes\n", static_cast<unsigned long long>(kills_),
         static_cast<unsigned long long>(shared_->acknowledged));
  EXPECT_EQ(Unseen(), "");
}

std::string NameOf(const std::string& point) {
  std::string name = point.empty() ? "Anywhere" : point.substr(point.find("::") + 1);
  name.erase(std::remove(name.begin(), name.end(), ':'), name.end());
  return name;
}

std::string PointOf(const ::testing::TestParamInfo<int>& each) {
  return NameOf(kPoints[each.param].name);
}

INSTANTIATE_TEST_CASE_P(Points, RestKillTest,
                        ::testing::Range(0, static_cast<int>(std::size(kPoints))), PointOf);

// A database of stock RocksDB gets its first placement.
class FirstKillTest : public ::testing::WithParamInterface<int>, public PlacementRestTest {
 protected:
  FirstKillTest() : PlacementRestTest(100 + GetParam()) {}

  std::string Unseen() const override { return ""; }
  void MakeStock();
  void Round();
};

void FirstKillTest::MakeStock() {
  site_->Close();
  for (const char* const name : {"db", "fast", "middle-1", "middle-2", "slow"}) {
    std::filesystem::remove_all(folder_ + "/" + name);
  }
  MakeTiersBelow(folder_);
  shared_->issued = shared_->acknowledged = 0;
  NewSite();
  ASSERT_OK(site_->Open(/*compacts=*/false));
  ASSERT_NO_FATAL_FAILURE(Fill());
  disk_ = LookAtDisk(folder_);
  files_ = WithAges(site_->Files(), disk_);
  site_->Close();
  current_ = "";
}

void FirstKillTest::Round() {
  ASSERT_NO_FATAL_FAILURE(MakeStock());
  const std::string target = kPlacements[Some(2)];
  const auto& first = kFirstPoints[GetParam()];
  const int hits = 1 + static_cast<int>(kills_) % first.times;
  ASSERT_NO_FATAL_FAILURE(RunAndKill(kByReopening, current_, target, first.name, hits, kPatience));
  uint64_t moved = 0;
  ASSERT_NO_FATAL_FAILURE(CheckHalfway(target, &moved));
  EXPECT_EQ(moved, 0u);
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(Some(2) == 0 ? "" : target, /*kept=*/true));
  OpenAndCheck(target, /*kept=*/false);
}

TEST_P(FirstKillTest, MovesWhatMustAndNothingElse) {
  while (GoesOn(static_cast<uint64_t>(kFirstPoints[GetParam()].times))) {
    SCOPED_TRACE(kills_);
    Round();
  }
  printf("%llu kills\n", static_cast<unsigned long long>(kills_));
}

std::string FirstPointOf(const ::testing::TestParamInfo<int>& each) {
  return NameOf(kFirstPoints[each.param].name);
}

INSTANTIATE_TEST_CASE_P(Points, FirstKillTest,
                        ::testing::Range(0, static_cast<int>(std::size(kFirstPoints))),
                        FirstPointOf);

// Files come and go meanwhile: by flushes, by compactions, and by temperatures that SetOptions()
// gives to what is written from then on.
class WorkKillTest : public PlacementKillTest {
 protected:
  WorkKillTest() : PlacementKillTest(200) {}

  // Opens it by a placement and expects in the end that each file is where it belongs.
  void OpenAndCheck(const std::string& placement, bool kept, Files* files, Disk* disk);
  void Round();
  std::string Unseen() const override {
    std::string unseen = stayed_ == 0 ? "a file that stays; " : "";
    unseen += changed_ == 0 ? "a file that was moved; " : "";
    return unseen + (shared_->refused == 0 ? "a placement that was refused; " : "");
  }

  std::string current_ = kSteadyPlacements[0];
  uint64_t stayed_ = 0;
  uint64_t changed_ = 0;
};

void WorkKillTest::OpenAndCheck(const std::string& placement, bool kept, Files* files, Disk* disk) {
  SCOPED_TRACE("to '" + placement + "'");
  ASSERT_OK(site_->NewFs(placement, kept ? kKept : 0));
  ASSERT_OK(site_->Open(/*compacts=*/true, /*has_listener=*/Some(2) == 0));
  ASSERT_NO_FATAL_FAILURE(CheckWrites());
  ASSERT_OK(site_->db()->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(WaitForMoves(site_->fs()));
  *files = site_->Files();
  site_->Close();
  *disk = LookAtDisk(folder_);
  *files = WithAges(std::move(*files), *disk);
  for (const auto& [base, file] : *files) {
    ASSERT_EQ(disk->files.count(base), 1u) << base;
    EXPECT_EQ(disk->files.at(base).tier, BelongingOf(placement, file).tier)
        << base << " of " << file.family << ", level " << file.level;
  }
  CheckLeftovers(*files,
                 kept ? NamesOfLost(*disk, /*and_to_be_lost=*/false) : std::vector<std::string>());
}

void WorkKillTest::Round() {
  Files before;
  Files after;
  Disk disk;
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(current_, /*kept=*/false, &before, &disk));
  const std::string from = current_;
  const std::string to = kSteadyPlacements[Some(std::size(kSteadyPlacements))];
  const HeldFiles held(disk);
  const size_t point = Some(2 * std::size(kPoints));
  const bool has_point = point < std::size(kPoints) && from != to;
  const std::string name = has_point ? kPoints[point].name : "";
  ASSERT_NO_FATAL_FAILURE(RunAndKill(kAgainAndAgain, from, to, name, 1 + static_cast<int>(Some(5)),
                                     name.empty() ? Some(1000000) : kPatience));
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(Some(2) == 0 ? from : to, /*kept=*/true, &after, &disk));
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(to, /*kept=*/false, &after, &disk));
  for (const auto& [base, file] : after) {
    const auto old = before.find(base);
    if (old == before.end() || old->second.level != file.level) {
      continue;
    }
    const bool agreed = BelongingOf(from, file).tier == BelongingOf(to, file).tier;
    const bool same = IsSameFile(held.disk().files.at(base), disk.files.at(base));
    EXPECT_TRUE(same || !agreed) << base << " was moved, though '" << from << "' and '" << to
                                 << "' agree";
    stayed_ += from != to && agreed ? 1 : 0;
    changed_ += same ? 0 : 1;
  }
  current_ = to;
}

TEST_F(WorkKillTest, EachFileIsWhereItBelongs) {
  while (GoesOn(6)) {
    SCOPED_TRACE(kills_);
    Round();
  }
  printf("%llu kills, %llu acknowledged writes, %llu files stayed, %llu were moved\n",
         static_cast<unsigned long long>(kills_),
         static_cast<unsigned long long>(shared_->acknowledged),
         static_cast<unsigned long long>(stayed_), static_cast<unsigned long long>(changed_));
  EXPECT_EQ(Unseen(), "");
}

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  if (rocktier::IsPlacementChild(argc, argv)) {
    return rocktier::PlacementChildMain(argv);
  }
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
