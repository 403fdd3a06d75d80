// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The placement of a database with several column families is changed, by reopening it, or by the
// options of its FileSystem between two openings; an open database is refused another one. A child
// does it and is killed at each step of a move, or at a random moment. What it has acknowledged must
// be there. What must move has moved in the end, and nothing else: by what RocksDB tells of files,
// and by inodes. In one case nothing compacts, and all is known to the byte; in another one
// compactions, flushes and temperatures change the files meanwhile.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills,
// ROCKTIER_CRASH_SECONDS for how long it goes on.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "port/stack_trace.h"
#include "test/crash/tiered_env/placement_disk.h"
#include "test/crash/tiered_env/placement_rules.h"
#include "test/crash/tiered_env/placement_site.h"
#include "test/support/kill.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

#define ASSERT_OK(expression)                        \
  do {                                               \
    const Status status_ = (expression);             \
    ASSERT_TRUE(status_.ok()) << status_.ToString(); \
  } while (false)

using Files = std::map<std::string, KnownFile>;

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
constexpr size_t kCases = std::size(kPoints) + std::size(kFirstPoints) + 1;

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

constexpr uint64_t kPatience = 60000000;      // microseconds, for a child that must come to a point
constexpr uint64_t kMoreRounds = 30;          // until a run has seen what it must
constexpr uint64_t kKept = 7 * 24 * 60 * 60;  // seconds
constexpr time_t kOld = 60 * 24 * 60 * 60;    // seconds, which older:30d fits
constexpr int kLevels = 6;

std::string Listed(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    text += path + "\n";
  }
  return text;
}

// The part before the last point: of a file in lost/, or one in a tier, the name that it had.
std::string WithoutEnd(const std::string& path) {
  const std::string base = BaseOf(path);
  return base.substr(0, base.rfind('.'));
}

// Names of what was put aside, and of what the next opening that keeps it puts aside.
std::vector<std::string> Lost(const Disk& disk, bool and_to_be_lost) {
  std::vector<std::string> names;
  for (const std::string& path : disk.lost) {
    names.push_back(WithoutEnd(path));
  }
  for (const std::string& path : and_to_be_lost ? disk.nameless : std::vector<std::string>()) {
    names.push_back(BaseOf(path));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsSameFile(const DiskFile& a, const DiskFile& b) {
  return a.path == b.path && a.device == b.device && a.inode == b.inode;
}

class ChangedPlacement : public ::testing::Test {
 protected:
  explicit ChangedPlacement(int number) : end_(Clock::now() + Share()) {
    random_.seed(Seed() + static_cast<uint64_t>(number));
    folder_ = NewFolder();
    MakeTiersBelow(folder_);
    shared_ = MapShared<PlacementShared>(folder_ + "/shared");
    NewSite();
  }
  ~ChangedPlacement() override {
    site_.reset();
    munmap(shared_, sizeof(PlacementShared));
    if (!HasFailure()) {
      std::filesystem::remove_all(folder_);
    }
  }

  // For what a database has from its beginning.
  void NewSite() {
    site_ = std::make_unique<PlacementSite>(folder_, shared_);
    model_ = std::make_unique<PlacementModel>();
  }
  uint64_t Some(uint64_t n) { return random_() % n; }
  // Whether another round is due: of kills, of time, or for what was not seen yet.
  bool GoesOn(uint64_t least) const {
    const uint64_t kills =
        std::max(FromEnvironment("ROCKTIER_CRASH_ROUNDS", least * kCases) / kCases, uint64_t{1});
    return !HasFailure() && (kills_ < kills || Clock::now() < end_ ||
                             (!Unseen().empty() && kills_ < kills + kMoreRounds));
  }
  virtual std::string Unseen() const = 0;

  // Runs a child and kills it at the point, to which it must come, or before so many microseconds.
  void RunAndKill(const char* how, const std::string& from, const std::string& to,
                  const std::string& point, int hits, uint64_t most);
  // Expects the first writes, at least those that were acknowledged, and nothing else.
  void CheckWrites();
  // Expects that nothing is left of moves that were interrupted, but for what was put aside: files
  // of these names.
  void CheckLeftovers(const Files& files, const std::vector<std::string>& lost);
  // Adds their ages to what RocksDB tells of files. Each must be on the disk.
  Files WithAges(Files files, const Disk& disk) const;

  using Clock = std::chrono::steady_clock;
  static Clock::duration Share() {
    const uint64_t seconds = FromEnvironment("ROCKTIER_CRASH_SECONDS", 0);
    return std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds / kCases));
  }

  const Clock::time_point end_;
  std::mt19937_64 random_;
  std::string folder_;
  PlacementShared* shared_;
  std::unique_ptr<PlacementSite> site_;
  std::unique_ptr<PlacementModel> model_;
  uint64_t kills_ = 0;
};

void ChangedPlacement::RunAndKill(const char* how, const std::string& from, const std::string& to,
                                  const std::string& point, int hits, uint64_t most) {
  const std::string times = std::to_string(hits);
  const std::string seed = std::to_string(random_());
  const char* arguments[] = {
      "placement_test", "--placement-child", folder_.c_str(), how,          from.c_str(),
      to.c_str(),       point.c_str(),       times.c_str(),   seed.c_str(), nullptr};
  kills_++;
  pid_t pid;
  ASSERT_EQ(
      posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments), environ),
      0);
  int status = 0;
  const bool died = KillAfter(pid, most, &status);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
  ASSERT_EQ(shared_->failed, 0u);
  ASSERT_EQ(died, !point.empty()) << "no child came to " << point << ", " << hits << " times";
}

void ChangedPlacement::CheckWrites() {
  uint64_t count = 0;
  ASSERT_OK(site_->Count(&count));
  ASSERT_GE(count, shared_->acknowledged);
  ASSERT_LE(count, shared_->issued);
  model_->AdvanceTo(count);
  for (size_t i = 0; i < kPlacementFamilies.size(); i++) {
    std::map<std::string, std::string> found;
    const std::unique_ptr<Iterator> it(
        site_->db()->NewIterator(ReadOptions(), site_->families()[i]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    ASSERT_OK(it->status());
    ASSERT_TRUE(found == model_->family(i)) << kPlacementFamilies[i] << " after " << count;
  }
  ASSERT_OK(site_->db()->VerifyChecksum());
  shared_->acknowledged = shared_->issued = count;
}

void ChangedPlacement::CheckLeftovers(const Files& files, const std::vector<std::string>& lost) {
  const Disk disk = LookAtDisk(folder_);
  EXPECT_EQ(Listed(disk.faults), "");
  EXPECT_EQ(Listed(disk.nameless), "");
  EXPECT_EQ(Listed(disk.temporary), "");
  EXPECT_EQ(Listed(Lost(disk, /*and_to_be_lost=*/false)), Listed(lost));
  for (const auto& [base, file] : disk.files) {
    const bool is_data = EndsWith(base, ".sst") || EndsWith(base, ".blob");
    ASSERT_TRUE(!is_data || files.count(base) > 0) << base << " is not RocksDB's";
  }
}

Files ChangedPlacement::WithAges(Files files, const Disk& disk) const {
  const auto now = static_cast<int64_t>(time(nullptr));
  for (auto& [base, file] : files) {
    const auto it = disk.files.find(base);
    if (it == disk.files.end()) {
      ADD_FAILURE() << base << " is missing";
      continue;
    }
    EXPECT_EQ(it->second.size, file.size) << base;
    file.age = static_cast<uint64_t>(std::max<int64_t>(now - it->second.written, 0));
  }
  return files;
}

// Of a database in which nothing compacts: it is known of each file what becomes of it.
class Quiet : public ChangedPlacement {
 protected:
  explicit Quiet(int number) : ChangedPlacement(number) {}

  // Fills a database that is new and open, several levels deep.
  void Fill();
  // Opens it, by current_ from then on, and expects that this moves what must move, and nothing
  // else, to the byte; and closes it. `kept`: what was put aside is not deleted.
  void OpenAndCheck(const std::string& placement, bool kept);
  // Expects that `rocktier tier plan` would say what a placement moves.
  void CheckPlan(const std::string& placement);
  // Expects of a killed child that each file is where it was, untouched, or where `target` wants it.
  // *moved: those.
  void CheckHalfway(const std::string& target, uint64_t* moved);
  // Files for which two placements, of which the database has one, differ.
  uint64_t Differing(const std::string& a, const std::string& b) const;

  std::string current_;
  Files files_;  // as they are after OpenAndCheck()
  Disk disk_;    // the same
};

void Quiet::Fill() {
  for (const int level : {4, 2, 1}) {
    ASSERT_OK(site_->Write(1000));
    ASSERT_OK(site_->Flush("kUnknown"));
    for (size_t i = 0; i < kPlacementFamilies.size(); i++) {
      ASSERT_OK(site_->PushDown(i, level));
    }
  }
  for (const char* const temperature : {"kHot", "kCold"}) {
    ASSERT_OK(site_->Write(300));
    ASSERT_OK(site_->Flush(temperature));
  }
}

void Quiet::OpenAndCheck(const std::string& placement, bool kept) {
  SCOPED_TRACE("from '" + current_ + "' to '" + placement + "'");
  const Disk before = LookAtDisk(folder_);
  ASSERT_OK(site_->NewFs(placement, kept ? kKept : 0));
  ASSERT_OK(site_->Open(/*compacts=*/false, /*has_listener=*/Some(2) == 0));
  ASSERT_NO_FATAL_FAILURE(CheckWrites());
  ASSERT_OK(WaitForMoves(site_->fs()));
  disk_ = LookAtDisk(folder_);
  files_ = WithAges(site_->Files(), disk_);
  std::map<std::string, PlacementSite::Moved> expected;
  for (const auto& [base, file] : files_) {
    ASSERT_EQ(before.files.count(base), 1u) << base;
    ASSERT_EQ(disk_.files.count(base), 1u) << base;
    const DiskFile& was = before.files.at(base);
    const DiskFile& is = disk_.files.at(base);
    const std::string wanted = BelongingOf(placement, file).tier;
    EXPECT_EQ(is.tier, wanted) << base << " of " << file.family << ", level " << file.level;
    EXPECT_EQ(is.written, was.written) << base << " seems to be of another time";
    if (was.tier == wanted) {
      EXPECT_TRUE(IsSameFile(was, is))
          << base << " was moved from " << was.path << " to " << is.path;
      continue;
    }
    for (const std::string& tier : {wanted, std::string()}) {
      expected[tier].files++;
      expected[tier].bytes += file.size;
    }
  }
  for (const auto& [tier, moved] : site_->Moves()) {
    EXPECT_EQ(moved.files, expected[tier].files) << "to " << tier;
    EXPECT_EQ(moved.bytes, expected[tier].bytes) << "to " << tier;
  }
  site_->Close();
  current_ = placement;
  CheckLeftovers(files_, kept ? Lost(before, /*and_to_be_lost=*/true) : std::vector<std::string>());
}

void Quiet::CheckPlan(const std::string& placement) {
  PlacementSite other(folder_, shared_);
  ASSERT_OK(other.NewFs(placement));
  TieredDirectoryInfo info;
  ASSERT_OK(InspectTiers(other.fs(), site_->directory(), &info));
  uint64_t planned = 0;
  for (const TieredFileInfo& file : info.files) {
    const auto known = files_.find(file.name);
    if (known == files_.end()) {
      EXPECT_EQ(file.next, file.tier) << file.name;
      continue;
    }
    planned++;
    EXPECT_EQ(WholeTier(file.next), BelongingOf(placement, known->second).tier) << file.name;
    EXPECT_EQ(WholeTier(file.tier), disk_.files.at(file.name).tier) << file.name;
  }
  EXPECT_EQ(planned, files_.size());
}

void Quiet::CheckHalfway(const std::string& target, uint64_t* moved) {
  const Disk disk = LookAtDisk(folder_);
  *moved = 0;
  ASSERT_EQ(Listed(disk.faults), "");
  for (const auto& [base, file] : files_) {
    ASSERT_EQ(disk.files.count(base), 1u) << base;
    const DiskFile& was = disk_.files.at(base);
    const DiskFile& is = disk.files.at(base);
    EXPECT_EQ(is.size, file.size) << base;
    if (IsSameFile(was, is)) {
      continue;
    }
    (*moved)++;
    EXPECT_NE(was.tier, is.tier) << base;
    EXPECT_EQ(is.tier, BelongingOf(target, file).tier) << base;
  }
  // There is one move at a time. What has no name is its copy or its source, whole; it is nobody's
  // only copy.
  EXPECT_LE(disk.nameless.size(), 1u) << Listed(disk.nameless);
  for (const std::string& path : disk.nameless) {
    const auto second = files_.find(WithoutEnd(path));
    EXPECT_TRUE(second != files_.end() && std::filesystem::file_size(path) == second->second.size)
        << path;
  }
}

uint64_t Quiet::Differing(const std::string& a, const std::string& b) const {
  uint64_t count = 0;
  for (const auto& [base, file] : files_) {
    count += BelongingOf(a, file).tier != BelongingOf(b, file).tier ? 1 : 0;
  }
  return count;
}

class Killed : public ::testing::WithParamInterface<int>, public Quiet {
 protected:
  Killed() : Quiet(GetParam()) {}

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

void Killed::Mutate() {
  ASSERT_OK(site_->NewFs(current_));
  ASSERT_OK(site_->Open(/*compacts=*/false, /*has_listener=*/Some(2) == 0));
  ASSERT_OK(site_->Write(200));
  ASSERT_OK(site_->Flush(Some(2) == 0 ? "kHot" : "kCold"));
  ASSERT_OK(site_->PushDown(Some(kPlacementFamilies.size()), 1 + static_cast<int>(Some(kLevels))));
  ASSERT_OK(WaitForMoves(site_->fs()));
  site_->Close();
  for (const auto& [base, file] : LookAtDisk(folder_).files) {
    timespec times[2] = {};
    times[0].tv_nsec = UTIME_OMIT;
    times[1].tv_sec = time(nullptr) - kOld;
    if (Some(8) == 0) {
      ASSERT_EQ(utimensat(AT_FDCWD, file.path.c_str(), times, 0), 0) << base;
    }
  }
  ASSERT_NO_FATAL_FAILURE(OpenAndCheck(current_, /*kept=*/true));
}

std::string Killed::Another() {
  for (int i = 0; i < 1000; i++) {
    const std::string placement = kPlacements[Some(std::size(kPlacements))];
    const uint64_t differing = Differing(current_, placement);
    if (placement != current_ && (differing > 0 || !has_point()) && differing < files_.size()) {
      return placement;
    }
  }
  return current_.empty() ? kPlacements[0] : "";
}

void Killed::Note(const std::string& a, const std::string& b) {
  for (const auto& [base, file] : files_) {
    const Belonging before = BelongingOf(a, file);
    const Belonging after = BelongingOf(b, file);
    seen_.insert(before.tier == after.tier ? "a file that stays" : after.by);
  }
}

void Killed::Kill(const std::string& target) {
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

void Killed::Round() {
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

std::string Killed::Unseen() const {
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

TEST_P(Killed, MovesWhatMustAndNothingElse) {
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

INSTANTIATE_TEST_CASE_P(Points, Killed, ::testing::Range(0, static_cast<int>(std::size(kPoints))),
                        PointOf);

// A database of stock RocksDB gets its first placement.
class KilledAtFirst : public ::testing::WithParamInterface<int>, public Quiet {
 protected:
  KilledAtFirst() : Quiet(100 + GetParam()) {}

  std::string Unseen() const override { return ""; }
  void MakeStock();
  void Round();
};

void KilledAtFirst::MakeStock() {
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

void KilledAtFirst::Round() {
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

TEST_P(KilledAtFirst, MovesWhatMustAndNothingElse) {
  while (GoesOn(static_cast<uint64_t>(kFirstPoints[GetParam()].times))) {
    SCOPED_TRACE(kills_);
    Round();
  }
  printf("%llu kills\n", static_cast<unsigned long long>(kills_));
}

std::string FirstPointOf(const ::testing::TestParamInfo<int>& each) {
  return NameOf(kFirstPoints[each.param].name);
}

INSTANTIATE_TEST_CASE_P(Points, KilledAtFirst,
                        ::testing::Range(0, static_cast<int>(std::size(kFirstPoints))),
                        FirstPointOf);

// Files come and go meanwhile: by flushes, by compactions, and by temperatures that SetOptions()
// gives to what is written from then on.
class KilledAtWork : public ChangedPlacement {
 protected:
  KilledAtWork() : ChangedPlacement(200) {}

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

void KilledAtWork::OpenAndCheck(const std::string& placement, bool kept, Files* files, Disk* disk) {
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
  CheckLeftovers(*files, kept ? Lost(*disk, /*and_to_be_lost=*/false) : std::vector<std::string>());
}

void KilledAtWork::Round() {
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
                                     name.empty() ? Some(1500000) : kPatience));
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

TEST_F(KilledAtWork, EachFileIsWhereItBelongs) {
  while (GoesOn(8)) {
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
