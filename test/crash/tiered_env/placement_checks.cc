// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "test/crash/tiered_env/placement_checks.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/tiered_env.h"
#include "plugin/tiered_env/tiered_env_tools.h"
#include "test/support/kill.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kMoreKills = 30;  // until a run has seen what it must

// Each case that runs gets its share of the time.
std::chrono::milliseconds ShareOfTime() {
  const auto cases =
      static_cast<uint64_t>(std::max(::testing::UnitTest::GetInstance()->test_to_run_count(), 1));
  return std::chrono::milliseconds(
      static_cast<int64_t>(1000 * FromEnvironment("ROCKTIER_CRASH_SECONDS", 0) / cases));
}

// The part before the last point: of a file in lost/, or one in a tier, the name that it had.
std::string WithoutEnd(const std::string& path) {
  const std::string base = BaseOf(path);
  return base.substr(0, base.rfind('.'));
}

}  // namespace

std::string Listed(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> NamesOfLost(const Disk& disk, bool and_to_be_lost) {
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

PlacementKillTest::PlacementKillTest(int number)
    : end_(std::chrono::steady_clock::now() + ShareOfTime()),
      random_(Seed() + static_cast<uint64_t>(number)),
      folder_(NewFolder()),
      shared_(MapShared<PlacementShared>(folder_ + "/shared")) {
  MakeTiersBelow(folder_);
  NewSite();
}

PlacementKillTest::~PlacementKillTest() {
  site_.reset();
  munmap(shared_, sizeof(PlacementShared));
  if (!HasFailure()) {
    std::filesystem::remove_all(folder_);
  }
}

void PlacementKillTest::NewSite() {
  site_ = std::make_unique<PlacementSite>(folder_, shared_);
  model_ = std::make_unique<PlacementModel>();
}

bool PlacementKillTest::GoesOn(uint64_t kills) const {
  const auto cases = static_cast<uint64_t>(::testing::UnitTest::GetInstance()->total_test_count());
  const uint64_t all = FromEnvironment("ROCKTIER_CRASH_ROUNDS", kills * cases);
  const uint64_t least = std::max<uint64_t>(all / cases, 1);
  return !HasFailure() && (kills_ < least || std::chrono::steady_clock::now() < end_ ||
                           (!Unseen().empty() && kills_ < least + kMoreKills));
}

void PlacementKillTest::RunAndKill(const char* how, const std::string& from, const std::string& to,
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

void PlacementKillTest::CheckWrites() {
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

void PlacementKillTest::CheckLeftovers(const Files& files, const std::vector<std::string>& lost) {
  const Disk disk = LookAtDisk(folder_);
  EXPECT_EQ(Listed(disk.faults), "");
  EXPECT_EQ(Listed(disk.nameless), "");
  EXPECT_EQ(Listed(disk.temporary), "");
  EXPECT_EQ(Listed(NamesOfLost(disk, /*and_to_be_lost=*/false)), Listed(lost));
  for (const auto& [base, file] : disk.files) {
    const bool is_data = EndsWith(base, ".sst") || EndsWith(base, ".blob");
    ASSERT_TRUE(!is_data || files.count(base) > 0) << base << " is not RocksDB's";
  }
}

Files PlacementKillTest::WithAges(Files files, const Disk& disk) const {
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

void PlacementRestTest::Fill() {
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

void PlacementRestTest::OpenAndCheck(const std::string& placement, bool kept) {
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
  CheckLeftovers(files_,
                 kept ? NamesOfLost(before, /*and_to_be_lost=*/true) : std::vector<std::string>());
}

void PlacementRestTest::CheckPlan(const std::string& placement) {
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

void PlacementRestTest::CheckHalfway(const std::string& target, uint64_t* moved) {
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

uint64_t PlacementRestTest::Differing(const std::string& a, const std::string& b) const {
  uint64_t count = 0;
  for (const auto& [base, file] : files_) {
    count += BelongingOf(a, file).tier != BelongingOf(b, file).tier ? 1 : 0;
  }
  return count;
}

}  // namespace rocktier
