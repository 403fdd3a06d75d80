// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Budgets and full devices.

#include <atomic>
#include <filesystem>
#include <thread>

#include "test/tiered_env/support/mount.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

// With buffered and with direct I/O.
class TieredBudgetTest : public TieredTest, public ::testing::WithParamInterface<bool> {
 protected:
  TieredBudgetTest() {
    auto* sync = SyncPoint::GetInstance();
    sync->SetCallBack("Tier::Failed:Pause",
                      [this](void* pause) { *static_cast<int64_t*>(pause) = pause_; });
    sync->EnableProcessing();
  }

  Options BudgetOptions() const {
    Options options = DbOptions();
    options.use_direct_reads = GetParam();
    options.use_direct_io_for_flush_and_compaction = GetParam();
    return options;
  }

  int64_t pause_ = 0;  // seconds
};

TEST_P(TieredBudgetTest, IsNeverExceeded) {
  NewFs(Tiers("budget=300K", "budget=500K"), "0..1=fast;2..=slow");
  Open(BudgetOptions());
  std::atomic<bool> done{false};
  std::thread watch([&] {
    while (!done) {
      EXPECT_LE(StatsOf("fast").bytes, uint64_t{300} << 10);
      EXPECT_LE(StatsOf("slow").bytes, uint64_t{500} << 10);
      std::this_thread::yield();
    }
  });
  Fill(30000);
  Settle();
  done = true;
  watch.join();
  ExpectQuiet();
  EXPECT_GT(StatsOf("home").files, 0u);
  EXPECT_GT(StatsOf("slow").bytes, uint64_t{400} << 10);
  EXPECT_GT(StatsOf("slow").spills + StatsOf("fast").spills, 0u);
  Verify();
  Open(BudgetOptions());
  ExpectQuiet();
  Verify();
}

TEST_P(TieredBudgetTest, FilesComeBackWhenThereIsRoom) {
  NewFs(Tiers("", "budget=500K"), "0..1=fast;2..=slow");
  Open(BudgetOptions());
  Fill(30000);
  Settle();
  EXPECT_GT(StatsOf("home").stranded_bytes, 0u);
  const auto half = std::next(model_.begin(), static_cast<int>(model_.size() * 9 / 10))->first;
  ASSERT_OK(db_->DeleteRange(WriteOptions(), model_.begin()->first, half));
  model_.erase(model_.begin(), model_.find(half));
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForceOptimized;
  ASSERT_OK(db_->CompactRange(all, nullptr, nullptr));
  ExpectQuiet();
  EXPECT_EQ(StatsOf("home").stranded_bytes, 0u);
  EXPECT_EQ(StatsOf("home").files, 0u);
  Verify();
}

// The budget has room for a part of the file only.
TEST_P(TieredBudgetTest, SpillInTheMiddleOfAFile) {
  NewFs(Tiers("budget=20K", "budget=40K"), "0..=fast");
  Options options = BudgetOptions();
  options.disable_auto_compactions = true;
  options.write_buffer_size = 8 << 20;
  options.writable_file_max_buffer_size = 4096;
  Open(options);
  Fill(3000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Census(), (std::map<std::string, int>{{"L0 home", 1}}));
  EXPECT_EQ(BytesIn("fast"), 0u);
  EXPECT_EQ(BytesIn("slow"), 0u);
  EXPECT_EQ(StatsOf("fast").spills, 1u);
  Verify();
  ExpectQuiet();
  Open(options);
  Verify();
}

// A tier of kind pmem has no direct I/O: whether the file begins there or goes on there.
TEST_P(TieredBudgetTest, SpillFromAndToPmem) {
  Options options = BudgetOptions();
  options.disable_auto_compactions = true;
  options.write_buffer_size = 8 << 20;
  options.writable_file_max_buffer_size = 4096;
  const std::pair<std::string, std::string> kCases[] = {
      {Tiers("kind=pmem;budget=20K", "budget=40K"), "L0 home"},
      {Tiers("budget=20K", "kind=pmem"), "L0 slow"},
      {Tiers("budget=20K", "kind=pmem;budget=40K"), "L0 home"},
  };
  for (const auto& [tiers, expected] : kCases) {
    SCOPED_TRACE(tiers);
    NewFs(tiers, "0..=fast");
    Open(options);
    Fill(3000);
    ASSERT_OK(db_->Flush(FlushOptions()));
    EXPECT_EQ(Census(), (std::map<std::string, int>{{expected, 1}}));
    EXPECT_EQ(StatsOf("fast").spills, 1u);
    Verify();
    ExpectQuiet();
    Open(options);
    ASSERT_OK(db_->VerifyChecksum());
    Verify();
    Close();
    Options destroyed = options;
    destroyed.env = env_.get();
    ASSERT_OK(DestroyDB(db_name_, destroyed));
    model_.clear();
  }
}

TEST_P(TieredBudgetTest, FullDevice) {
  const Mount mount(TierPath("fast"), "size=200K");
  if (!mount.ok()) {
    ROCKTIER_SKIP(std::string("cannot mount a tmpfs: ") + mount.error());
  }
  NewFs(Tiers(), "0..=fast");
  Open(BudgetOptions());
  Fill(10000);
  Settle();
  Verify();
  EXPECT_GT(StatsOf("slow").stranded_bytes, 0u);
  EXPECT_LE(BytesIn("fast"), uint64_t{200} << 10);
  const uint64_t moves = Moves();
  ASSERT_OK(WaitForMoves(fs_.get()));
  EXPECT_EQ(Moves(), moves);
  ASSERT_TRUE(mount.Remount("size=20M"));
  ExpectQuiet();
  EXPECT_EQ(StatsOf("slow").files, 0u);
  Verify();
  Close();
}

// In the middle of the file: what is written is copied to the next tier.
TEST_P(TieredBudgetTest, DeviceThatFillsUpInTheMiddleOfAFile) {
  const Mount mount(TierPath("fast"), "size=100K");
  if (!mount.ok()) {
    ROCKTIER_SKIP(std::string("cannot mount a tmpfs: ") + mount.error());
  }
  NewFs(Tiers(), "0..=fast");
  Options options = BudgetOptions();
  options.disable_auto_compactions = true;
  options.write_buffer_size = 8 << 20;
  options.writable_file_max_buffer_size = 4096;
  Open(options);
  Fill(3000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Census(), (std::map<std::string, int>{{"L0 slow", 1}}));
  EXPECT_EQ(BytesIn("fast"), 0u);
  Verify();
  ExpectQuiet();
  Close();
}

// The next tier is full as well.
TEST_P(TieredBudgetTest, DevicesThatFillUpInTheMiddleOfAFile) {
  const Mount fast(TierPath("fast"), "size=100K");
  const Mount slow(TierPath("slow"), "size=60K");
  if (!fast.ok() || !slow.ok()) {
    ROCKTIER_SKIP(std::string("cannot mount a tmpfs: ") + fast.error());
  }
  NewFs(Tiers(), "0..=fast");
  Options options = BudgetOptions();
  options.disable_auto_compactions = true;
  options.write_buffer_size = 8 << 20;
  options.writable_file_max_buffer_size = 4096;
  Open(options);
  Fill(3000);
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(Census(), (std::map<std::string, int>{{"L0 home", 1}}));
  EXPECT_EQ(BytesIn("fast"), 0u);
  EXPECT_EQ(BytesIn("slow"), 0u);
  Verify();
  ExpectQuiet();
  Close();
}

// Blob files are written for longer.
TEST_P(TieredBudgetTest, BlobFilesSpill) {
  NewFs(Tiers("budget=30K"), "blob=fast");
  Options options = BudgetOptions();
  options.enable_blob_files = true;
  options.min_blob_size = 50;
  options.write_buffer_size = 1 << 20;
  Open(options);
  Fill(10000);
  Settle();
  EXPECT_LE(BytesIn("fast"), uint64_t{30} << 10);
  for (const std::string& base : FilesOf(".blob")) {
    EXPECT_NE(TierOf(base), "home");
  }
  Verify();
  ExpectQuiet();
}

TEST_P(TieredBudgetTest, AnotherBudgetAfterReopening) {
  NewFs(Tiers(), "0..=fast");
  Open(BudgetOptions());
  Fill(20000);
  ExpectQuiet();
  Close();
  NewFs(Tiers("budget=200K"), "0..=fast");
  Open(BudgetOptions());
  ExpectQuiet();
  EXPECT_LE(StatsOf("fast").bytes, uint64_t{200} << 10);
  EXPECT_GT(StatsOf("slow").stranded_bytes, 0u);
  Verify();
  Close();
  NewFs(Tiers("budget=200M"), "0..=fast");
  Open(BudgetOptions());
  ExpectQuiet();
  EXPECT_EQ(StatsOf("slow").stranded_bytes, 0u);
  Verify();
}

// Both tiers are full, and each has what belongs to the other.
TEST_P(TieredBudgetTest, FullTiersChangePlaces) {
  NewFs(Tiers(), "0..1=fast;2..=slow");
  Open(BudgetOptions());
  Fill(20000);
  ExpectQuiet();
  const uint64_t fast = StatsOf("fast").bytes;
  const uint64_t slow = StatsOf("slow").bytes;
  ASSERT_GT(fast, 0u);
  ASSERT_GT(slow, 0u);
  Close();
  const uint64_t most = std::max(fast, slow);
  NewFs(Tiers("budget=" + std::to_string(most), "budget=" + std::to_string(most)),
        "0..1=slow;2..=fast");
  Open(BudgetOptions());
  ExpectQuiet();
  for (const auto& [where, count] : Census()) {
    EXPECT_EQ(where.substr(3), where[1] <= '1' ? "slow" : "fast") << where << ": " << count;
  }
  Verify();
}

TEST_P(TieredBudgetTest, TwoDatabasesShareIt) {
  NewFs(Tiers("budget=400K"), "0..=fast");
  Open(BudgetOptions());
  std::unique_ptr<DB> other;
  Options options = BudgetOptions();
  options.disable_auto_compactions = true;
  ASSERT_OK(OpenDb(options, folder_ + "/other", &other));
  // This file stays there, however the two share the rest.
  EXPECT_OK(other->Put(WriteOptions(), "first", std::string(20000, 'v')));
  ASSERT_OK(other->Flush(FlushOptions()));
  EXPECT_GT(StatsOf("fast").bytes, 0u);
  std::atomic<bool> done{false};
  std::thread fill([&] {
    for (int i = 0; i < 10000; i++) {
      EXPECT_OK(other->Put(WriteOptions(), std::to_string(i), std::string(100, 'v')));
    }
    EXPECT_OK(other->Flush(FlushOptions()));
    done = true;
  });
  Fill(10000);
  while (!done) {
    EXPECT_LE(StatsOf("fast").bytes, uint64_t{400} << 10);
  }
  fill.join();
  ASSERT_OK(other->WaitForCompact(WaitForCompactOptions()));
  Settle();
  EXPECT_LE(BytesIn("fast"), uint64_t{400} << 10);
  EXPECT_GT(StatsOf("slow").stranded_bytes, 0u);
  const uint64_t before = StatsOf("fast").bytes;
  other.reset();
  EXPECT_LT(StatsOf("fast").bytes, before);
  ExpectQuiet();
  Verify();
  ASSERT_OK(OpenDb(BudgetOptions(), folder_ + "/other", &other));
  std::string value;
  EXPECT_OK(other->Get(ReadOptions(), "9999", &value));
}

// There is nothing after home.
TEST_P(TieredBudgetTest, NoRoomAnywhereIsNoSpace) {
  NewFs(Tiers("budget=20K", "budget=20K") + ";home={budget=20K}", "0..=fast");
  Options options = BudgetOptions();
  options.max_bgerror_resume_count = 0;
  options.write_buffer_size = 8 << 20;  // no flush before the one that is asked for
  Open(options);
  Fill(1000);
  const Status s = db_->Flush(FlushOptions());
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  Close();
  NewFs(Tiers("budget=20K", "budget=2M"), "0..=fast");
  Open(BudgetOptions());
  ExpectQuiet();
  Verify();
}

// All are exceeded, home's as well, and nothing moves.
TEST_P(TieredBudgetTest, LogsAndManifestsTakeOfNone) {
  for (const std::string placement : {"0..=fast", "0..=slow", ""}) {
    NewFs(Tiers(), placement, "mover=false");
    Open(BudgetOptions());
    Fill(3000);
    ASSERT_OK(db_->Flush(FlushOptions()));
    Settle();
    Close();
  }
  NewFs(Tiers("budget=1K", "budget=1K") + ";home={budget=1K}", "wal=fast;meta=slow", "mover=false");
  Open(BudgetOptions());
  ASSERT_FALSE(HasFailure());
  for (const std::string tier : {"fast", "slow", "home"}) {
    EXPECT_GT(StatsOf(tier).bytes, uint64_t{1} << 10) << tier;
    EXPECT_EQ(StatsOf(tier).spills, 0u) << tier;
  }
  Fill(100);
  int manifests = 0;
  for (const std::string& base : FilesOf("")) {
    const bool is_manifest = base.compare(0, 9, "MANIFEST-") == 0;
    manifests += is_manifest ? 1 : 0;
    EXPECT_TRUE(!is_manifest || TierOf(base) == "slow") << base;
  }
  EXPECT_EQ(manifests, 1);
  const std::vector<std::string> logs = FilesOf(".log");
  EXPECT_GT(logs.size(), 0u);
  for (const std::string& base : logs) {
    EXPECT_EQ(TierOf(base), "fast") << base;
  }
  Verify();
  Close();
  NewFs(Tiers(), "wal=fast;meta=slow");
  Open(BudgetOptions());
  Verify();
}

INSTANTIATE_TEST_CASE_P(Io, TieredBudgetTest, ::testing::Bool(),
                        [](const auto& each) { return each.param ? "Direct" : "Buffered"; });

}  // namespace

}  // namespace rocktier
