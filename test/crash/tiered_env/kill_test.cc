// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A child writes and publishes in shared memory what was acknowledged; it is killed at a random
// moment, or at a certain point of a move, a spill, a link or a deletion, which one child at least
// must come to. Then every acknowledged write must be there, every file of the database must be
// somewhere once, and each must get where it belongs.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills.

#include "test/support/kill.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/tiered_env/files/names.h"
#include "plugin/tiered_env/files/stub.h"
#include "plugin/tiered_env/tiered_env.h"
#include "port/stack_trace.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/checkpoint.h"
#include "test/crash/tiered_env/memory.h"
#include "test/crash/tiered_env/shared.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kKeys = 4000;

// The n-th write replaces what an earlier one wrote.
std::string KeyOf(uint64_t n) { return "key" + std::to_string(100000 + n * 7919 % kKeys); }
std::string ValueOf(uint64_t n) {
  return std::to_string(n) + ":" + std::string(50 + n % 150, static_cast<char>('a' + n % 26));
}

// What a child must have to come to a point. All else is at random.
enum class Needs {
  kNothing,
  kMisplaced,    // files that are elsewhere than its options want them
  kSmallTier,    // more than there is room for
  kLinks,        // checkpoints that have links in tiers
  kNewDatabase,  // none that has its folders
};

// Where a child kills itself. Some child must come there, of those that have what it needs.
struct Point {
  const char* name;
  Needs needs;
  uint64_t most;  // the first, second... or so many-th time that it comes there
};

const Point kPoints[] = {
    {"", Needs::kNothing, 1},  // it is killed at a random moment
    {"Relocator::Move:BeforeCopy", Needs::kMisplaced, 10},
    {"Copy:Chunk", Needs::kMisplaced, 10},
    {"Relocator::Move:AfterCopy", Needs::kMisplaced, 10},
    {"Relocator::Swap:BeforeRename", Needs::kMisplaced, 10},
    {"Relocator::Swap:AfterRename", Needs::kMisplaced, 10},
    {"Relocator::Move:BeforeDelete", Needs::kMisplaced, 10},
    {"Relocator::Move:AfterDelete", Needs::kMisplaced, 10},
    {"PlacedFile::Open:BeforeStub", Needs::kNothing, 10},
    {"PlacedFile::Spill:BeforeStart", Needs::kSmallTier, 10},
    {"PlacedFile::Spill:BeforeCopy", Needs::kSmallTier, 10},
    {"PlacedFile::Spill:BeforeDelete", Needs::kSmallTier, 10},
    {"TieredFileSystem::DeleteFile:StubIsGone", Needs::kNothing, 10},
    {"TieredFileSystem::LinkPlace:BeforeStub", Needs::kLinks, 10},
    {"Folders::Create:BeforeRename", Needs::kNewDatabase, 2},
    {"Folders::MakeIn:BeforeOwner", Needs::kNewDatabase, 2},
};
constexpr uint64_t kPatience = 1000000;  // microseconds, for a child that shall come to a point
constexpr uint64_t kMoreRounds = 30;     // until a run has seen what it must

const char* const kPlacements[] = {
    "0..1=fast;2..=slow",     "0..=slow",           "",
    "0..=fast;wal=slow",      "last=fast;0..=slow", "0..=slow;wal=fast;meta=fast;blob=fast",
    "older:1s=slow;0..=fast",
};

std::string FolderOf(const std::string& folder, const char* tier) { return folder + "/" + tier; }

struct Opened {
  std::shared_ptr<FileSystem> fs;
  std::unique_ptr<Env> env;
  std::unique_ptr<DB> db;
  std::string placement;

  Status Open(const std::string& folder, uint64_t seed, Needs needs = Needs::kNothing) {
    std::mt19937_64 random(seed);
    TieredOptions tiered;
    tiered.tiers = "fast={path=" + FolderOf(folder, "fast") +
                   (random() % 2 == 0 || needs == Needs::kSmallTier ? ";budget=60K" : "") +
                   "};slow={path=" + FolderOf(folder, "slow") + "}";
    tiered.placement = needs == Needs::kSmallTier ? "0..=fast"
                       : needs == Needs::kLinks   ? "0..=slow"
                                                  : kPlacements[random() % std::size(kPlacements)];
    placement = tiered.placement;
    tiered.checkpoints = needs == Needs::kLinks ? "linked" : "plain";
    tiered.mover_bytes_per_second = 0;
    Status s = NewTieredFileSystem(tiered, nullptr, &fs);
    if (!s.ok()) {
      return s;
    }
    env = NewCompositeEnv(fs);
    Options options;
    options.env = env.get();
    options.create_if_missing = true;
    options.compression = kNoCompression;
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 32 << 10;
    options.max_bytes_for_level_base = 128 << 10;
    options.max_bytes_for_level_multiplier = 3;
    options.enable_blob_files = random() % 3 == 0;
    options.min_blob_size = 150;
    options.enable_blob_garbage_collection = true;
    options.max_manifest_file_size = random() % 2 == 0 ? 4000 : 1 << 30;
    if (random() % 2 == 0) {
      options.listeners = {NewTieredEnvListener()};
    }
    return OpenDb(options, folder + "/db", &db);
  }
};

// Writes until it is killed.
int ChildMain(const std::string& folder, uint64_t seed, const Point& point, int hits) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  Shared* shared = MapShared<Shared>(folder + "/shared");
  DieAt(point.name, hits);
  const uint64_t writes_per_checkpoint = point.needs == Needs::kLinks ? 500 : 5000;
  TieredStats last;
  Opened opened;
  Status s = opened.Open(folder, seed, point.needs);
  for (uint64_t n = shared->acknowledged; s.ok(); n++) {
    shared->issued = n + 1;
    WriteOptions options;
    options.sync = n % 100 == 0;
    s = opened.db->Put(options, KeyOf(n), ValueOf(n));
    if (s.ok()) {
      shared->acknowledged = n + 1;
    }
    if (s.ok() && n % 3000 == 2999) {
      s = WaitForMoves(opened.fs.get());
    }
    if (s.ok() && n % 256 == 0) {
      Publish(opened.fs.get(), &last, shared);
    }
    if (s.ok() && n % writes_per_checkpoint == writes_per_checkpoint - 1) {
      const std::string copy = folder + "/copy";
      Options destroy;
      destroy.env = opened.env.get();
      s = DestroyDB(copy, destroy);  // of a child that was killed
      Checkpoint* raw = nullptr;
      s = s.ok() ? Checkpoint::Create(opened.db.get(), &raw) : s;
      const std::unique_ptr<Checkpoint> checkpoint(raw);
      s = s.ok() ? checkpoint->CreateCheckpoint(copy) : s;
    }
  }
  fprintf(stderr, "the child: %s\n", s.ToString().c_str());
  shared->failed++;
  return 1;
}

class KillTest : public ::testing::TestWithParam<int> {
 protected:
  KillTest() {
    random_.seed(Seed() + static_cast<uint64_t>(GetParam()));
    folder_ = NewFolder("tier-kill-" + std::to_string(GetParam()));
    std::filesystem::create_directories(FolderOf(folder_, "fast"));
    std::filesystem::create_directories(FolderOf(folder_, "slow"));
    shared_ = MapShared<Shared>(folder_ + "/shared");
  }
  ~KillTest() override {
    munmap(shared_, sizeof(Shared));
    if (!HasFailure()) {
      std::filesystem::remove_all(folder_);
    }
  }

  // There are no folders yet. Nor are there copies: one that was killed while it was destroyed may
  // have had folders, and is refused without them.
  void Restart() {
    for (const char* name : {"db", "fast", "slow", "copy", "copy.tmp"}) {
      std::filesystem::remove_all(FolderOf(folder_, name));
    }
    std::filesystem::create_directories(FolderOf(folder_, "fast"));
    std::filesystem::create_directories(FolderOf(folder_, "slow"));
    shared_->issued = shared_->acknowledged = 0;
  }

  const Point& point() const { return kPoints[GetParam()]; }
  bool has_point() const { return *point().name != '\0'; }

  // At the point, if it comes to it in time. The more there were that have not seen all they must,
  // the more time the next one has, and the sooner it shall come there: machines may be slow.
  void RunAndKill() {
    const uint64_t slowness = Unseen().empty() ? 1 : 1 + kills_ / 4;
    const std::string number = std::to_string(GetParam());
    const uint64_t most_hits = std::max<uint64_t>(point().most / slowness, 1);
    const std::string hits = std::to_string(1 + random_() % most_hits);
    const std::string seed = std::to_string(random_());
    const char* arguments[] = {"kill_test",    "--child",    folder_.c_str(), seed.c_str(),
                               number.c_str(), hits.c_str(), nullptr};
    pid_t pid;
    ASSERT_EQ(posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(arguments),
                          environ),
              0);
    const uint64_t most = has_point() ? kPatience : random_() % 400000;
    int status = 0;
    at_point_ += KillAfter(pid, most * slowness, &status) ? 1 : 0;
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    ASSERT_EQ(shared_->failed, 0u);
  }

  // The first m writes are there for some m from acknowledged to issued, and nothing else.
  void CheckWrites(DB* db) const {
    std::map<std::string, std::string> found;
    uint64_t count = 0;
    std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
      count = std::max<uint64_t>(count, strtoull(it->value().data(), nullptr, 10) + 1);
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_GE(count, shared_->acknowledged);
    ASSERT_LE(count, shared_->issued);
    std::map<std::string, std::string> expected;
    for (uint64_t n = count > kKeys ? count - kKeys : 0; n < count; n++) {
      expected[KeyOf(n)] = ValueOf(n);
    }
    ASSERT_TRUE(found == expected) << count;
    const Status s = db->VerifyChecksum();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  // Each stub has its file, each file in a tier its stub, and each SST of the database is there.
  void CheckFiles(DB* db) const {
    std::set<std::string> named;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/db")) {
      const std::string base = entry.path().filename().string();
      ASSERT_FALSE(EndsWith(base, kTemporary)) << base;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string contents(std::istreambuf_iterator<char>(in), {});
      Stub stub;
      const Status s = Stub::Decode(contents, base, &stub);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      if (s.ok()) {
        const std::string path = FolderOf(folder_, stub.tier.c_str()) + "/" + stub.path;
        ASSERT_TRUE(named.insert(path).second) << path;
        ASSERT_TRUE(std::filesystem::exists(path)) << base << " is lost: " << path;
      }
    }
    std::vector<LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    for (const LiveFileMetaData& file : files) {
      ASSERT_TRUE(std::filesystem::exists(folder_ + "/db" + file.name)) << file.name;
    }
    for (const char* tier : {"fast", "slow"}) {
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(FolderOf(folder_, tier))) {
        const std::string path = entry.path().string();
        // Checkpoints that were killed.
        const bool is_copy = path.find("/copy") != std::string::npos;
        ASSERT_TRUE(!entry.is_regular_file() || BaseOf(path) == kOwnerName ||
                    BaseOf(path) == kFolderLock || is_copy ||
                    path.find("/lost/") != std::string::npos || named.count(path) > 0)
            << path << " is an orphan";
      }
    }
  }

  // Without a MANIFEST nothing is known to be needed, so what a child that died before there was
  // one has left in tiers is deleted by the second opening.
  void MakeIfMissing() {
    if (!std::filesystem::exists(folder_ + "/db/CURRENT")) {
      Opened opened;
      const Status s = opened.Open(folder_, random_());
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  }

  void Check() {
    ASSERT_NO_FATAL_FAILURE(MakeIfMissing());
    Opened opened;
    const Status s = opened.Open(folder_, random_());
    ASSERT_TRUE(s.ok()) << s.ToString();
    CheckWrites(opened.db.get());
    if (HasFailure()) {
      return;
    }
    ASSERT_TRUE(opened.db->WaitForCompact(WaitForCompactOptions()).ok());
    if (opened.placement.find("older:") != std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // until all files are old
    }
    ASSERT_TRUE(WaitForMoves(opened.fs.get()).ok());
    CheckFiles(opened.db.get());
    TieredStats stats;
    Publish(opened.fs.get(), &stats, shared_);
    ASSERT_FALSE(stats.tiers.empty());
    bool has_budget = false;
    for (const TieredTierStats& tier : stats.tiers) {
      has_budget = has_budget || tier.budget > 0;
    }
    for (const TieredTierStats& tier : stats.tiers) {
      ASSERT_TRUE(has_budget || tier.stranded_bytes == 0) << tier.name << ", " << opened.placement;
      ASSERT_TRUE(tier.budget == 0 || tier.bytes <= tier.budget) << tier.name;
    }
    std::unique_ptr<Iterator> it(opened.db->NewIterator(ReadOptions()));
    uint64_t count = shared_->acknowledged;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      count = std::max<uint64_t>(count, strtoull(it->value().data(), nullptr, 10) + 1);
    }
    shared_->acknowledged = shared_->issued = count;
  }

  // Of what a run must have seen; empty if it has.
  std::string Unseen() const {
    std::string unseen;
    if (has_point() && at_point_ == 0) {
      unseen += std::string("no child came to ") + point().name + "; ";
    }
    if (point().needs != Needs::kNewDatabase && shared_->moves == 0) {
      unseen += "no file was moved; ";
    }
    if ((point().needs == Needs::kSmallTier || !has_point()) && shared_->spills == 0) {
      unseen += "no file was spilled; ";
    }
    return unseen;
  }

  std::mt19937_64 random_;
  std::string folder_;
  Shared* shared_;
  uint64_t kills_ = 0;
  uint64_t at_point_ = 0;
};

TEST_P(KillTest, EveryAcknowledgedWriteIsThere) {
  const uint64_t all = FromEnvironment("ROCKTIER_CRASH_ROUNDS", 160);
  const uint64_t rounds = std::max<uint64_t>(all / std::size(kPoints), 1);
  const auto goes_on = [&] {
    return kills_ < rounds || (!Unseen().empty() && kills_ < rounds + kMoreRounds);
  };
  for (; goes_on() && !HasFailure(); kills_++) {
    SCOPED_TRACE(kills_);
    if (point().needs == Needs::kNewDatabase) {
      Restart();
    }
    RunAndKill();
    if (!HasFailure()) {
      Check();
    }
  }
  printf("%llu kills, %llu at the point, %llu acknowledged writes, %llu moves, %llu spills\n",
         static_cast<unsigned long long>(kills_), static_cast<unsigned long long>(at_point_),
         static_cast<unsigned long long>(shared_->acknowledged),
         static_cast<unsigned long long>(shared_->moves),
         static_cast<unsigned long long>(shared_->spills));
  EXPECT_EQ(Unseen(), "");
}

std::string NameOf(const ::testing::TestParamInfo<int>& each) {
  std::string name = kPoints[each.param].name;
  name = name.empty() ? "Anywhere" : name.substr(name.find("::") + 2);
  name.erase(std::remove(name.begin(), name.end(), ':'), name.end());
  return name;
}

INSTANTIATE_TEST_CASE_P(Points, KillTest, ::testing::Range(0, static_cast<int>(std::size(kPoints))),
                        NameOf);

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "--child") {
    return rocktier::ChildMain(argv[2], strtoull(argv[3], nullptr, 10),
                               rocktier::kPoints[atoi(argv[4])], atoi(argv[5]));
  }
  if (rocktier::IsMemoryChild(argc, argv)) {
    return rocktier::MemoryChildMain(argv);
  }
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
