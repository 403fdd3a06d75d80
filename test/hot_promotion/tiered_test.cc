// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// With a tiered_env below, whose slow tier is told by its temperature.

#include "rocksdb/convenience.h"
#include "rocksdb/listener.h"
#include "test/hot_promotion/support.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class TieredTest : public HotDb {
 protected:
  TieredTest() {
    hot_.slow = "temperature:cold";
    EXPECT_OK(Env::Default()->CreateDirIfMissing(root_ + "/fast"));
    EXPECT_OK(Env::Default()->CreateDirIfMissing(root_ + "/slow"));
    NewEnv();
    // Without it an SST of the last level may be on the fast tier first, and moved later.
    std::shared_ptr<EventListener> listener;
    EXPECT_OK(EventListener::CreateFromString(ConfigOptions(), "TieredEnvListener", &listener));
    options_.listeners.push_back(listener);
  }
  ~TieredTest() override { CloseAll(); }

  void NewEnv(const std::string& placement = "0..1=fast;2..=slow") {
    std::shared_ptr<FileSystem> fs;
    ASSERT_OK(FileSystem::CreateFromString(
        ConfigOptions(),
        "id=TieredFileSystem;tiers={fast={path=" + root_ + "/fast};slow={path=" + root_ +
            "/slow;temperature=cold}};placement={" + placement + "}",
        &fs));
    CloseAll();
    env_ = NewCompositeEnv(fs);
    options_.env = env_.get();
  }

  void ExpectServedFast(int from, int to, int version) {
    TakeServed();
    for (int i = from; i < to; i++) {
      EXPECT_EQ(ValueOf(i, version), Get(i));
    }
    const Served served = TakeServed();
    EXPECT_EQ(static_cast<uint64_t>(to - from), served.store + served.memory);
    EXPECT_EQ(0u, served.slow);
  }

  std::unique_ptr<Env> env_;
};

TEST_F(TieredTest, OnlyTheColdTierIsSlow) {
  Open();
  Fill(0, 1000);
  Flush();
  TakeServed();
  EXPECT_EQ(ValueOf(1), Get(1));
  EXPECT_EQ(1u, TakeServed().fast);
  Compact();
  EXPECT_EQ(ValueOf(700), Get(700));
  EXPECT_EQ(1u, TakeServed().slow);
}

TEST_F(TieredTest, HotRecordsOfTheColdTierAreServedFast) {
  Open();
  Fill(0, 1000);
  Compact();
  Heat(0, 100);
  ExpectServedFast(0, 100, 0);
  NewEnv();
  Open();
  ExpectServedFast(0, 100, 0);
}

TEST_F(TieredTest, HotRecordsAreRetainedWhenTheyAreWrittenToTheColdTier) {
  Open();
  Fill(0, 1000);
  Compact();
  Heat(0, 100);
  Fill(0, 1000, 1);
  Flush();
  Compact();
  EXPECT_GE(Stats().retained, 100u);
  ExpectServedFast(0, 100, 1);
}

// Recent data is above the last level, on the fast tier: it needs no copies. When it is old, and
// goes to the slow one, what is read often gets them.
TEST_F(TieredTest, WhatIsNotPrecludedFromTheLastLevelIsSlow) {
  NewEnv("cold=slow;0..=fast");
  options_.compaction_style = kCompactionStyleUniversal;
  options_.last_level_temperature = Temperature::kCold;
  options_.preclude_last_level_data_seconds = 24 * 3600;
  Open();
  Fill(0, 1000);
  Compact();
  TakeServed();
  for (int i = 0; i < 100; i++) {
    EXPECT_EQ(ValueOf(i), Get(i));
  }
  const Served recent = TakeServed();
  EXPECT_EQ(100u, recent.fast);
  EXPECT_EQ(0u, recent.slow);
  options_.preclude_last_level_data_seconds = 0;
  Close();
  Open();
  Compact();
  EXPECT_EQ(ValueOf(700), Get(700));
  EXPECT_EQ(1u, TakeServed().slow);
  Heat(0, 100);
  ExpectServedFast(0, 100, 0);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
