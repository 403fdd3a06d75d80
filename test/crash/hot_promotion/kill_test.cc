// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A child writes, reads, promotes, flushes and compacts, publishes in shared memory what was
// acknowledged, and is killed at a random moment, or at a step of a flush or a compaction, of the
// database or of its hot store. Then every answer must be that of the acknowledged writes, and the
// hot records must be served from their copies again. All rounds are on one database and one
// hot_promotion directory.
//
// The seed is printed; ROCKTIER_SEED sets it, ROCKTIER_CRASH_ROUNDS the number of kills, or
// ROCKTIER_CRASH_SECONDS the time.

#include "test/support/kill.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"
#include "plugin/hot_promotion/hot_promotion.h"
#include "port/stack_trace.h"
#include "test/crash/hot_promotion/model.h"
#include "test/hot_promotion/store/on_disk.h"
#include "test/support/open_db.h"
#include "test/support/scratch.h"
#include "test/support/seed.h"
#include "test_util/testharness.h"
#include "utilities/merge_operators.h"

extern char** environ;

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;                 // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::hot_promotion;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kBudget = 4 << 20;

// Where a child kills itself, in every other round.
const char* const kPoints[] = {
    "BuildTable:BeforeFinishBuildTable",
    "CompactionJob::Run():Inprogress",
    "CompactionJob::Run():End",
    "VersionSet::LogAndApply:WriteManifest",
    "VersionSet::LogAndApply:WriteManifestDone",
    "DBImpl::DeleteObsoleteFileImpl:AfterDeletion",
};
constexpr uint64_t kPointDeadline = 120 * 1000 * 1000;  // microseconds
constexpr uint64_t kMoreRounds = 30;

struct Shared {
  std::atomic<uint64_t> issued{0};        // changes [0, issued) may have happened
  std::atomic<uint64_t> acknowledged{0};  // changes [0, acknowledged) have
  std::atomic<uint64_t> hot{0};           // of the hot records, served from copies in the last turn
  std::atomic<uint64_t> failed{0};
};

struct Opened {
  Options options;
  std::unique_ptr<DB> db;

  Status Open(const std::string& folder, const std::string& name = "db") {
    HotPromotionOptions hot;
    hot.path = folder + "/hot";
    hot.budget = kBudget;
    hot.slow = folder;
    hot.promotion_cache = 256 << 10;
    hot.slow_read_micros = 0;
    hot.ralt_buffer_bytes = 16 << 10;
    Status s = NewHotPromotionTableFactory(hot, BlockBasedTableOptions(), &options.table_factory);
    options.create_if_missing = true;
    options.merge_operator = MergeOperators::CreateStringAppendOperator();
    options.write_buffer_size = 64 << 10;
    options.target_file_size_base = 64 << 10;
    options.max_bytes_for_level_base = 128 << 10;
    options.max_bytes_for_level_multiplier = 3;
    return s.ok() ? OpenDb(options, folder + "/" + name, &db) : s;
  }

  HotPromotionStats Stats() const {
    HotPromotionStats stats;
    EXPECT_OK(GetHotPromotionStats(options.table_factory.get(), &stats));
    return stats;
  }
};

// Reads the hot records, those that there must be, and returns how many were served from copies.
uint64_t ReadHot(Opened* opened, Shared* shared) {
  HotPromotionStats before;
  GetHotPromotionStats(opened->options.table_factory.get(), &before).PermitUncheckedError();
  const uint64_t keys = std::min(kHotKeys, shared->acknowledged.load());
  for (uint64_t key = 0; key < keys; key++) {
    std::string value;
    const Status s = opened->db->Get(ReadOptions(), KeyOf(key), &value);
    if (!s.ok() || value.compare(0, KeyOf(key).size(), KeyOf(key)) != 0) {
      shared->failed++;
    }
  }
  HotPromotionStats after;
  GetHotPromotionStats(opened->options.table_factory.get(), &after).PermitUncheckedError();
  return after.served_store - before.served_store;
}

// Makes the hot records known as such. A compaction that began before that writes its SST without
// their copies: one that is under way is waited for.
Status MakeHot(Opened* opened, Shared* shared) {
  ReadHot(opened, shared);
  Status s = SettleHotPromotion(opened->options.table_factory.get());
  if (s.ok() || s.IsBusy()) {
    s = opened->db->PauseBackgroundWork();
  }
  return s.ok() ? opened->db->ContinueBackgroundWork() : s;
}

// Writes and reads until it is killed.
int ChildMain(const std::string& folder, uint64_t seed, const std::string& point) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a parent that a time limit ends takes its child along
  Shared* shared = MapShared<Shared>(folder + "/shared");
  DieAt(point, 1 + static_cast<int>(seed % 30));
  Opened opened;
  Status s = opened.Open(folder);
  std::thread reader([&] {
    std::mt19937_64 random(seed);
    while (s.ok() && shared->acknowledged < kKeys) {
      std::this_thread::yield();
    }
    const Status known = s.ok() ? MakeHot(&opened, shared) : s;
    while (s.ok() && known.ok()) {
      shared->hot = ReadHot(&opened, shared);
      for (int i = 0; i < 100; i++) {
        std::string value;
        opened.db->Get(ReadOptions(), KeyOf(random() % kKeys), &value).PermitUncheckedError();
      }
      const Status settled = SettleHotPromotion(opened.options.table_factory.get());
      shared->failed += settled.ok() || settled.IsBusy() ? 0 : 1;
    }
    shared->failed += known.ok() ? 0 : 1;
  });
  for (uint64_t n = shared->acknowledged; s.ok(); n++) {
    shared->issued = n + 1;
    s = WriteChange(opened.db.get(), n);
    if (s.ok()) {
      shared->acknowledged = n + 1;
    }
    if (n % 5000 == 4999 && s.ok()) {
      s = opened.db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    }
  }
  fprintf(stderr, "child: %s\n", s.ToString().c_str());
  reader.join();
  shared->failed++;
  return 1;
}

// Opens a database and waits for its end.
int HolderMain(const std::string& folder) {
  Opened opened;
  const Status s = opened.Open(folder, "held");
  Status written = opened.db->Put(WriteOptions(), "k", "v");
  if (written.ok()) {
    written = opened.db->Flush(FlushOptions());
  }
  std::ofstream(folder + "/ready") << s.ToString() << written.ToString();
  for (;;) {
    pause();
  }
}

class Child {
 public:
  Child(const std::string& mode, const std::string& folder, uint64_t seed,
        const std::string& point = "") {
    std::vector<std::string> arguments = {"/proc/self/exe", mode, folder, std::to_string(seed),
                                          point};
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
      abort();
    }
  }
  // Kills it, if it lives.
  ~Child() { EndAfter(0); }

  // Kills it after so many microseconds. Whether it had killed itself by then.
  bool EndAfter(uint64_t micros) {
    if (pid_ == 0) {
      return false;
    }
    int status = 0;
    const bool itself = KillAfter(pid_, micros, &status);
    pid_ = 0;
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
    return itself;
  }

 private:
  pid_t pid_ = 0;
};

class HotKillTest : public testing::Test {
 protected:
  HotKillTest() : folder_(NewFolder("hot_kill_" + std::to_string(getpid()))) {}
  ~HotKillTest() override { std::filesystem::remove_all(folder_); }

  // Brings the model to what the child has issued. Returns what there is without the last change,
  // which may or may not have happened.
  std::map<std::string, std::string> Advance(const Shared& shared) {
    if (shared.acknowledged < model_.count()) {
      model_ = Model();  // a child began anew
    }
    model_.AdvanceTo(shared.acknowledged);
    std::map<std::string, std::string> before = model_.records();
    model_.AdvanceTo(shared.issued);
    return before;
  }

  void Check(DB* db, const Shared& shared, const std::map<std::string, std::string>& before) {
    const std::map<std::string, std::string>& after = model_.records();
    for (uint64_t key = 0; key < kKeys; key++) {
      std::string value;
      const Status s = db->Get(ReadOptions(), KeyOf(key), &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      const auto as_in = [&](const std::map<std::string, std::string>& records) {
        const auto it = records.find(KeyOf(key));
        return it == records.end() ? s.IsNotFound() : s.ok() && value == it->second;
      };
      EXPECT_TRUE(as_in(before) || as_in(after))
          << KeyOf(key) << " has " << value << " (" << s.ToString() << ") after "
          << shared.acknowledged.load() << " changes";
    }
  }

  const std::string folder_;
  Model model_;  // of all that was issued
};

TEST_F(HotKillTest, AnswersAreRightAndHotRecordsAreStillServed) {
  const uint64_t rounds = FromEnvironment("ROCKTIER_CRASH_ROUNDS", 12);
  const time_t end = time(nullptr) + FromEnvironment("ROCKTIER_CRASH_SECONDS", 0);
  std::mt19937_64 random(Seed());
  Shared* shared = MapShared<Shared>(folder_ + "/shared");
  uint64_t full = 0;  // rounds in which the child had all hot records in the store
  uint64_t round = 0;
  // A slow machine needs more time, or more rounds, until a child has that.
  const auto more = [&] { return full == 0 && round >= rounds ? round - rounds : 0; };
  for (; (round < rounds || time(nullptr) < end || (full == 0 && more() < kMoreRounds)) &&
         !HasFailure();
       round++) {
    if (round % 2 == 0) {
      Child("write", folder_, random()).EndAfter((200000 + random() % 1000000) * (1 + more()));
    } else {
      const char* const point = kPoints[round / 2 % std::size(kPoints)];
      EXPECT_TRUE(Child("write", folder_, random(), point).EndAfter(kPointDeadline))
          << "did not come to " << point;
    }
    const uint64_t hot = shared->hot.exchange(0);
    Opened opened;
    ASSERT_OK(opened.Open(folder_));
    if (shared->issued == 0) {
      continue;  // the child was killed before it wrote anything: there is no store yet
    }
    const uint64_t again = ReadHot(&opened, shared);
    EXPECT_GE(again, hot * 9 / 10) << "of the hot records";
    full += hot == kHotKeys ? 1 : 0;
    const std::map<std::string, std::string> before = Advance(*shared);
    for (int pass = 0; pass < 3; pass++) {
      Check(opened.db.get(), *shared, before);
      const Status s = SettleHotPromotion(opened.options.table_factory.get());
      EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
    }
    const OnDisk store(folder_ + "/hot/store");
    EXPECT_LE(store.bytes(), kBudget / 100 * 105) << store.list();
    EXPECT_EQ(0u, shared->failed.load());
    // The next child goes on where this one was for sure.
    shared->acknowledged = shared->issued.load();
    WriteBatch rest;
    for (uint64_t key = kHotKeys; key < kKeys; key++) {
      const auto it = model_.records().find(KeyOf(key));
      ASSERT_OK(it == model_.records().end() ? rest.Delete(KeyOf(key))
                                             : rest.Put(KeyOf(key), it->second));
    }
    if (shared->issued >= kHotKeys) {
      ASSERT_OK(opened.db->Write(WriteOptions(), &rest));
    } else {
      shared->acknowledged = 0;
    }
  }
  printf("%llu kills\n", static_cast<unsigned long long>(round));
  EXPECT_GT(full, 0u);
}

TEST_F(HotKillTest, ASecondProcessPassesThrough) {
  Child holder("hold", folder_, 0);
  while (!std::filesystem::exists(folder_ + "/ready")) {
    usleep(10000);
  }
  usleep(100000);
  Opened opened;
  ASSERT_OK(opened.Open(folder_));
  ASSERT_OK(opened.db->Put(WriteOptions(), "key", "value"));
  ASSERT_OK(opened.db->Flush(FlushOptions()));
  for (int i = 0; i < 3; i++) {
    std::string value;
    ASSERT_OK(opened.db->Get(ReadOptions(), "key", &value));
    EXPECT_EQ("value", value);
  }
  HotPromotionStats stats;
  EXPECT_TRUE(GetHotPromotionStats(opened.options.table_factory.get(), &stats).IsNotFound());
  std::ifstream log(folder_ + "/db/LOG");
  std::stringstream text;
  text << log.rdbuf();
  EXPECT_NE(
      std::string::npos,
      text.str().find("nothing is promoted (it is tried again every few seconds): Resource busy"));
}

}  // namespace

}  // namespace rocktier

int main(int argc, char** argv) {
  ROCKSDB_NAMESPACE::port::InstallStackTraceHandler();
  if (argc == 5 && std::string(argv[1]) == "write") {
    return rocktier::ChildMain(argv[2], std::stoull(argv[3]), argv[4]);
  }
  if (argc == 5 && std::string(argv[1]) == "hold") {
    return rocktier::HolderMain(argv[2]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
