// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Fault model: the process dies by SIGKILL at any moment, the kernel and the disk live on. Then
// every acknowledged write is in the DB, and every block that had reached the cache file is found
// again; a block cannot be wrong.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <ostream>

#include "test/crash/secondary_cache_2q/fixture.h"

namespace rocktier {

namespace {

struct Variant {
  const char* name;
  const char* cache_options;
  bool hyper_clock;
};

std::ostream& operator<<(std::ostream& out, const Variant& variant) { return out << variant.name; }

constexpr Variant kVariants[] = {
    {"UringDirect", "io=uring;direct_io=true", false},
    {"UringBufferedLz4", "io=uring;direct_io=false;compression=lz4", false},
    {"PreadDirect", "io=pread;direct_io=true", false},
    {"PreadBufferedHyperClock", "io=pread;direct_io=false", true},
    {"Pmem", "io=pmem", false},
    {"PmemLz4", "io=pmem;compression=lz4", false},
};

// So many that the ones in the write buffer, which a kill takes along, are less than a fifth.
constexpr uint64_t kEnoughBlocks = 1400;
constexpr double kServedAgain = 0.8;
// Of the blocks that could be asked for at all. After a clean close A1 is there again, and admits
// blocks while the others are still read: those that are evicted then do not count.
constexpr double kUsefulServedAgain = 0.98;
constexpr int kMostRounds = 20;  // until a kill comes after blocks were carried

class KillTest : public CrashTest, public ::testing::WithParamInterface<Variant> {
 protected:
  // Reopens what a child has left and reads all of it. `held`: the blocks in the child's last
  // sample. `clean`: it was closed, not killed.
  void Reopen(uint64_t held, bool clean) {
    const FileIndex index = ReadIndex(site_.CacheFile());
    Opened opened;
    Status s = opened.Open(site_, /*read_only=*/false);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const uint64_t recovered = opened.Stats().recovered;
    const std::set<std::string> live = LiveFiles(opened.db.get());
    const uint64_t misses_before = opened.observer->misses();
    uint64_t device_reads;
    ASSERT_EQ(GetAll(opened.db.get(), *oracle_, &device_reads), "");
    const uint64_t misses = opened.observer->misses() - misses_before;
    ASSERT_EQ(ScanAll(opened.db.get(), *oracle_), "");
    std::set<std::string> keys;
    std::set<std::string> useful;  // of SSTs that still exist
    for (const auto& [key, slot] : index) {
      keys.insert(key);
      if (live.count(key.substr(0, 8)) != 0) {
        useful.insert(key);
      }
    }
    const std::set<std::string>& served = opened.observer->served();
    const double share = held == 0 ? 1
                                   : ShareServed(served, keys) * static_cast<double>(keys.size()) /
                                         static_cast<double>(held);
    const double useful_share = ShareServed(served, useful);
    const CacheStats stats = opened.Stats();
    printf(
        "%s: held %llu, in the file %zu, recovered %llu (%.1f%%), served again %.1f%% of the held, "
        "%.1f%% of the %zu whose SST exists; corrupt %llu\n",
        clean ? "closed" : "killed", static_cast<unsigned long long>(held), keys.size(),
        static_cast<unsigned long long>(recovered),
        held == 0 ? 100.0 : 100.0 * static_cast<double>(recovered) / static_cast<double>(held),
        100 * share, 100 * useful_share, useful.size(),
        static_cast<unsigned long long>(stats.corrupt));
    fflush(stdout);
    EXPECT_EQ(stats.corrupt, 0u);
    EXPECT_EQ(stats.io_errors, 0u);
    // A block that the cache answers is not read from the SST as well.
    EXPECT_LE(device_reads, misses);
    const double evicted = clean ? static_cast<double>(stats.evictions) : 0;
    EXPECT_GE(useful_share * static_cast<double>(useful.size()) + evicted,
              kUsefulServedAgain * static_cast<double>(useful.size()));
    if (clean) {
      EXPECT_EQ(recovered, held);
    }
    EXPECT_GE(static_cast<double>(recovered), kServedAgain * static_cast<double>(held));
    // A kill between a compaction and its report to the listener leaves blocks that nobody can ask
    // for.
    const double askable =
        static_cast<double>(held) - static_cast<double>(keys.size() - useful.size());
    EXPECT_GE(share * static_cast<double>(held), kServedAgain * askable);
    shares_ += share;
    reopened_++;
  }

  // A child is killed while it opens the DB and the cache, or formats the cache file, or does not
  // yet hold much.
  void KillEarly() {
    if (Random(3) == 0) {
      std::filesystem::remove(site_.CacheFile());
    }
    Child child(site_, oracle_.get(), random_());
    Sleep(Random(150));
    ASSERT_TRUE(child.Kill());
  }

  // Of all the blocks that were held, over all rounds.
  void ExpectMeanShare() {
    ASSERT_GT(reopened_, 0);
    printf("served again in the mean: %.1f%% of the held\n", 100 * shares_ / reopened_);
    EXPECT_GE(shares_ / reopened_, kServedAgain);
  }

  void KillLate() {
    Child child(site_, oracle_.get(), random_());
    ASSERT_TRUE(child.WaitForBlocks(kEnoughBlocks));
    Sleep(Random(800));
    ASSERT_TRUE(child.Kill());
    EXPECT_EQ(oracle_->shared().corrupt, 0u);
    EXPECT_EQ(oracle_->shared().io_errors, 0u);
    carried_ += oracle_->shared().carried;
    carry_failed_ += oracle_->shared().carry_failed;
    Reopen(oracle_->shared().blocks, /*clean=*/false);
  }

  double shares_ = 0;
  int reopened_ = 0;
  uint64_t carried_ = 0;  // blocks that had survived compactions before the kills
  uint64_t carry_failed_ = 0;
};

TEST_P(KillTest, EverythingIsRightAndMostBlocksAreServedAgain) {
  if (!Prepare(GetParam().cache_options, GetParam().hyper_clock)) {
    return;
  }
  const auto budget = std::chrono::duration<double>(CrashSeconds(30) / std::size(kVariants));
  const auto deadline = std::chrono::steady_clock::now() + budget;
  int rounds = 0;
  int kills = 0;
  do {
    if (Random(2) == 0) {
      KillEarly();
      kills++;
    }
    if (!HasFailure()) {
      KillLate();
      kills++;
    }
    rounds++;
    // A disk that is busy may leave no time for a compaction and the reads that it asks for.
  } while (!HasFailure() && (rounds < 2 || std::chrono::steady_clock::now() < deadline ||
                             (carried_ == 0 && rounds < kMostRounds)));
  ExpectMeanShare();
  const Shared& shared = oracle_->shared();
  printf("%d kills, %llu verified reads and %llu writes by the children\n", kills,
         static_cast<unsigned long long>(shared.reads),
         static_cast<unsigned long long>(shared.writes));
  EXPECT_GT(shared.reads, 0u);
  EXPECT_GT(shared.writes, 0u);
  printf("%llu blocks were carried, %llu SSTs were gone\n",
         static_cast<unsigned long long>(carried_), static_cast<unsigned long long>(carry_failed_));
  EXPECT_GT(carried_, 0u);
}

TEST_P(KillTest, AfterACleanCloseAllBlocksAreThere) {
  if (!Prepare(GetParam().cache_options, GetParam().hyper_clock)) {
    return;
  }
  Child child(site_, oracle_.get(), random_());
  ASSERT_TRUE(child.WaitForBlocks(kEnoughBlocks));
  Sleep(Random(300));
  ASSERT_TRUE(child.Stop());
  Reopen(oracle_->shared().blocks, /*clean=*/true);
  ExpectMeanShare();
}

INSTANTIATE_TEST_CASE_P(Io, KillTest, ::testing::ValuesIn(kVariants),
                        [](const auto& each) { return std::string(each.param.name); });

}  // namespace

}  // namespace rocktier
