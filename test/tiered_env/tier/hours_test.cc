// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// When the mover works, and what holds it back. The clock that the plugin sees is set.

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "plugin/tiered_env/files/clock.h"
#include "rocksdb/rate_limiter.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kDay = 24 * 60 * 60;  // seconds

class TieredHoursTest : public TieredTest {
 protected:
  TieredHoursTest() {
    SyncPoint::GetInstance()->SetCallBack("SecondsSince1970", [this](void* now) {
      *static_cast<uint64_t*>(now) = 20000 * kDay + time_.load();
    });
    SyncPoint::GetInstance()->EnableProcessing();
  }
  // A database whose SSTs are at home and belong to fast. Nothing but the mover changes that.
  void Begin(const std::string& more, const std::shared_ptr<RateLimiter>& limiter = nullptr) {
    NewFs(Tiers(), "");
    Open();
    Fill(5000);
    Settle();
    NewFs(Tiers(), "0..=fast", more);
    Options options = DbOptions();
    options.disable_auto_compactions = true;
    options.rate_limiter = limiter;
    Open(options);
    Settle();
  }
  void At(int hour, int minute) { time_ = static_cast<uint64_t>(hour) * 3600 + minute * 60; }
  int AtHome() const {
    int count = 0;
    for (const std::string& base : FilesOf(".sst")) {
      count += TierOf(base) == "home" ? 1 : 0;
    }
    return count;
  }
  // A flush makes the mover look.
  void Look() {
    Fill(10);
    Settle();
  }

  std::atomic<uint64_t> time_{0};  // seconds since midnight
};

TEST_F(TieredHoursTest, FilesAreMovedWithinTheHoursOnly) {
  At(12, 0);
  Begin("mover_hours=22:30-02:15");
  const int all = AtHome();
  ASSERT_GT(all, 0);
  EXPECT_EQ(Moves(), 0u);
  At(22, 29);
  Look();
  EXPECT_EQ(AtHome(), all);
  At(22, 30);
  Look();
  EXPECT_EQ(AtHome(), 0) << "and new files go where they belong at any hour";
  EXPECT_EQ(Moves(), static_cast<uint64_t>(all));
  Verify();
}

TEST_F(TieredHoursTest, PastMidnight) {
  At(2, 14);
  Begin("mover_hours=22:30-02:15");
  EXPECT_EQ(AtHome(), 0);
  Verify();
}

TEST_F(TieredHoursTest, NothingBesidesIsNeededForItToBegin) {
  At(12, 0);
  std::atomic<int> looks{0};
  SyncPoint::GetInstance()->SetCallBack("Mover::LookAgain", [&](void* pause) {
    *static_cast<std::chrono::seconds*>(pause) = std::chrono::seconds(1);
    looks++;
  });
  Begin("mover_hours=22:30-02:15");
  ASSERT_GT(AtHome(), 0);
  EXPECT_EQ(looks.load(), 1) << "a minute, otherwise";
  At(23, 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (AtHome() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(AtHome(), 0);
}

TEST_F(TieredHoursTest, WhatIsNoTimeIsRefused) {
  for (const std::string wrong : {"22:30", "22:30-25:00", "1-2", "03:00-03:00", "night"}) {
    std::shared_ptr<FileSystem> fs;
    const Status s = FileSystem::CreateFromString(ConfigOptions(),
                                                  "id=TieredFileSystem;mover_hours=" + wrong, &fs);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("mover_hours=" + wrong), std::string::npos) << s.ToString();
  }
  std::shared_ptr<FileSystem> fs;
  const Status s =
      FileSystem::CreateFromString(ConfigOptions(), "id=TieredFileSystem;mover_limiter=mine", &fs);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
}

// Counts what is asked for at low priority.
class CountingLimiter : public RateLimiter {
 public:
  explicit CountingLimiter(std::atomic<int64_t>* low) : RateLimiter(Mode::kWritesOnly), low_(low) {}
  void SetBytesPerSecond(int64_t /*bytes*/) override {}
  void Request(int64_t bytes, Env::IOPriority priority, Statistics* /*stats*/) override {
    *low_ += priority == Env::IO_LOW ? bytes : 0;
  }
  int64_t GetSingleBurstBytes() const override { return 64 << 10; }
  int64_t GetTotalBytesThrough(Env::IOPriority /*priority*/) const override { return *low_; }
  int64_t GetTotalRequests(Env::IOPriority /*priority*/) const override { return 0; }
  int64_t GetBytesPerSecond() const override { return 1 << 30; }

 private:
  std::atomic<int64_t>* const low_;
};

// Until the database has begun its log nobody knows its limiter.
TEST_F(TieredHoursTest, TheDatabasesLimiterIsAskedOnWish) {
  for (const bool wish : {false, true}) {
    std::atomic<int64_t> low{0};
    At(12, 0);
    Begin(std::string("mover_hours=22:30-02:15;mover_limiter=") + (wish ? "database" : "own"),
          std::make_shared<CountingLimiter>(&low));
    EXPECT_EQ(low.load(), 0);
    At(23, 0);
    Look();
    EXPECT_EQ(AtHome(), 0);
    const auto bytes = static_cast<int64_t>(StatsOf("fast").moved_bytes);
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(low.load(), wish ? bytes : 0);
    Close();
  }
}

}  // namespace

}  // namespace rocktier
