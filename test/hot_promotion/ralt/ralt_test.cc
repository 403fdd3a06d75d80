// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The table as its users see it: durability, damage, small sizes, threads.

#include "plugin/hot_promotion/ralt/ralt.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "plugin/hot_promotion/ralt/run_file_format.h"
#include "test/hot_promotion/ralt/support.h"
#include "test/support/no_threads.h"
#include "util/random.h"
#include "utilities/fault_injection_env.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace ralt {

// Directories cannot be synced while it says so.
class NoSyncEnv : public EnvWrapper {
 public:
  NoSyncEnv() : EnvWrapper(Env::Default()) {}
  const char* Name() const override { return "NoSyncEnv"; }
  Status NewDirectory(const std::string& name, std::unique_ptr<Directory>* result) override {
    return broken ? Status::IOError(name, "no disk") : EnvWrapper::NewDirectory(name, result);
  }

  std::atomic<bool> broken{false};
};

class RaltTest : public testing::Test {
 protected:
  static constexpr Space kSpace = 42;

  RaltTest() : memory_(NewMemEnv(Env::Default())) {
    Anew();
    options_.fast_bytes = 10 << 20;
    options_.flush_seconds = 3600;
  }

  void Anew() {
    ralt_.reset();
    options_.path = NewFolder(env(), "ralt");
  }

  // In memory, where a test would else wait for the disk most of the time.
  void UseMemory() {
    options_.env = memory_.get();
    Anew();
  }

  Env* env() const { return options_.env == nullptr ? Env::Default() : options_.env; }

  void Open() {
    ralt_.reset();
    ASSERT_OK(Ralt::Open(options_, &ralt_));
    ralt_->Settle();  // nothing is written until the test says so
  }

  void Access(uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      ralt_->Access(kSpace, Name(i), 90);
    }
  }

  uint64_t HotOf(uint64_t begin, uint64_t end) const {
    uint64_t hot = 0;
    for (uint64_t i = begin; i < end; ++i) {
      hot += ralt_->IsHot(kSpace, Name(i)) ? 1 : 0;
    }
    return hot;
  }

  std::vector<std::string> RunFiles() const {
    std::vector<std::string> names;
    std::vector<std::string> files;
    EXPECT_OK(env()->GetChildren(options_.path, &names));
    uint64_t number;
    for (const std::string& name : names) {
      if (ParseRunFileName(name, &number)) {
        files.push_back(options_.path + "/" + name);
      }
    }
    return files;
  }

  std::string Read(const std::string& file) const {
    std::string bytes;
    EXPECT_OK(ReadFileToString(env(), file, &bytes));
    return bytes;
  }

  void Write(const std::string& file, const std::string& bytes) const {
    EXPECT_OK(WriteStringToFile(env(), bytes, file));
  }

  const std::unique_ptr<Env> memory_;
  RaltOptions options_;
  std::unique_ptr<Ralt> ralt_;
};

TEST_F(RaltTest, AnAccessIsKnownAfterAFlush) {
  Open();
  Access(0, 100);
  EXPECT_EQ(0u, HotOf(0, 100));
  ASSERT_OK(ralt_->Flush());
  EXPECT_EQ(100u, HotOf(0, 100));
  const RaltStats stats = ralt_->Stats();
  EXPECT_EQ(100u, stats.accesses);
  EXPECT_EQ(0u, stats.dropped);
  EXPECT_EQ(100u, stats.hot_keys);
  EXPECT_EQ(100u * 101, stats.hot_bytes);
}

TEST_F(RaltTest, WithoutAThreadItIsNotOpened) {
  {
    const rocktier::NoThreads none;
    const Status s = Ralt::Open(options_, &ralt_);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
  }
  Open();
  Access(0, 10);
  ASSERT_OK(ralt_->Flush());
}

TEST_F(RaltTest, AHalfFullBufferIsWrittenByItself) {
  options_.buffer_bytes = 64 << 10;
  Open();
  while (ralt_->Stats().flushes == 0) {
    Access(0, 10);
    std::this_thread::yield();
  }
  EXPECT_EQ(10u, HotOf(0, 10));
}

TEST_F(RaltTest, ABufferIsWrittenAfterSomeSeconds) {
  options_.flush_seconds = 1;
  Open();
  Access(0, 10);
  while (ralt_->Stats().flushes == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(10u, HotOf(0, 10));
}

TEST_F(RaltTest, EverythingIsThereAfterAClose) {
  Open();
  Access(0, 100);
  ASSERT_OK(ralt_->Flush());
  Access(50, 200);
  ralt_->Settle();
  Access(200, 300);
  Open();
  EXPECT_EQ(300u, HotOf(0, 300));
  const RaltStats stats = ralt_->Stats();
  EXPECT_EQ(300u, stats.hot_keys);
  EXPECT_EQ(0u, stats.damaged);
  Open();
  EXPECT_EQ(stats.tick, ralt_->Stats().tick);
  EXPECT_EQ(stats.hot_limit, ralt_->Stats().hot_limit);
}

TEST_F(RaltTest, OnceItIsStoppedWhoFlushesWrites) {
  Open();
  Access(0, 100);
  ralt_->Stop();
  EXPECT_EQ(100u, HotOf(0, 100));
  Access(100, 150);
  ralt_->Settle();
  EXPECT_EQ(0u, HotOf(100, 150));
  ASSERT_OK(ralt_->Flush());
  EXPECT_EQ(50u, HotOf(100, 150));
  Access(150, 200);
  ralt_->Stop();
  Open();
  EXPECT_EQ(200u, HotOf(0, 200));
}

// Some are told by the thread, some by themselves.
TEST_F(RaltTest, WhoWaitsWhileItIsStoppedIsTold) {
  UseMemory();
  for (int round = 0; round < 10; ++round) {
    Open();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
          Access(0, 10);
          EXPECT_OK(ralt_->Flush());
          ralt_->Settle();
        }
      });
    }
    ralt_->Stop();
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(10u, HotOf(0, 10));
  }
}

TEST_F(RaltTest, LimitsSurviveAClose) {
  options_.fast_bytes = 100000;
  Open();
  for (int round = 0; round < 10; ++round) {
    Access(0, 100);
    Access(0, 100);
    Access(static_cast<uint64_t>(round) * 1000, static_cast<uint64_t>(round) * 1000 + 500);
    ASSERT_OK(ralt_->Flush());
    ralt_->Settle();
  }
  const RaltStats stats = ralt_->Stats();
  EXPECT_GT(stats.evictions, 0u);
  EXPECT_NE(50000u, stats.hot_limit) << "as it is at first";
  Open();
  EXPECT_EQ(stats.hot_limit, ralt_->Stats().hot_limit);
  EXPECT_EQ(stats.table_limit, ralt_->Stats().table_limit);
  EXPECT_EQ(stats.stable_bytes, ralt_->Stats().stable_bytes);
}

TEST_F(RaltTest, ASecondOneIsRefused) {
  Open();
  std::unique_ptr<Ralt> second;
  EXPECT_TRUE(Ralt::Open(options_, &second).IsIOError());
  EXPECT_EQ(nullptr, second);
}

TEST_F(RaltTest, ADirectoryThatCannotBeIsAnError) {
  Write(options_.path + "/file", "");
  options_.path += "/file/ralt";
  EXPECT_NOK(Ralt::Open(options_, &ralt_));
}

TEST_F(RaltTest, ADamagedCatalogMakesAnEmptyTable) {
  UseMemory();
  for (const std::string damage : {"cut", "flipped", "nothing", "gone"}) {
    Open();
    Access(0, 100);
    ralt_.reset();
    const std::string file = options_.path + kCatalogName;
    std::string bytes = Read(file);
    if (damage == "gone") {
      ASSERT_OK(env()->DeleteFile(file));
    } else {
      bytes.back() = static_cast<char>(bytes.back() ^ 1);
      Write(file, damage == "cut" ? bytes.substr(0, 30) : damage == "nothing" ? "" : bytes);
    }
    Open();
    EXPECT_EQ(0u, HotOf(0, 100)) << damage;
    EXPECT_EQ(0u, RunFiles().size()) << damage;
    Access(0, 10);
    ASSERT_OK(ralt_->Flush());
    EXPECT_EQ(10u, HotOf(0, 10)) << damage;
  }
}

// Whatever happens to a file of a run: the others stay, nothing crashes, and what is recorded later
// is known.
TEST_F(RaltTest, ADamagedFileIsDropped) {
  UseMemory();
  Random random(Seed());
  for (int round = 0; round < 60; ++round) {
    Anew();
    Open();
    Access(0, 1000);
    ASSERT_OK(ralt_->Flush());
    const std::string older = RunFiles().at(0);
    Access(2000, 2100);
    ralt_.reset();
    std::string bytes = Read(older);
    switch (round % 3) {
      case 0:
        bytes.resize(random.Uniform(static_cast<int>(bytes.size())));
        break;
      case 1:
        bytes[random.Uniform(static_cast<int>(bytes.size()))] ^=
            static_cast<char>(1 << random.Uniform(8));
        break;
      default:
        bytes.replace(random.Uniform(static_cast<int>(bytes.size())), 512, 512, '\0');
    }
    if (round == 0) {
      ASSERT_OK(env()->DeleteFile(older));
    } else {
      Write(older, bytes);
    }
    Open();
    for (int i = 0; i < 4; ++i) {  // until runs are merged, and the damage is met
      Access(3000, 3100);
      ASSERT_OK(ralt_->Flush());
      ralt_->Settle();
    }
    EXPECT_EQ(100u, HotOf(2000, 2100));
    EXPECT_EQ(100u, HotOf(3000, 3100));
    EXPECT_EQ(ralt_->Stats().damaged == 0 ? 1000u : 0u, HotOf(0, 1000)) << "round " << round;
    if (round % 3 == 0) {
      EXPECT_EQ(1u, ralt_->Stats().damaged);
    }
    Open();
    EXPECT_EQ(0u, ralt_->Stats().damaged) << "it is gone for good";
  }
}

TEST_F(RaltTest, UnknownFilesAreLeftAloneAndStrayRunFilesRemoved) {
  Open();
  Access(0, 10);
  ralt_.reset();
  Write(options_.path + "/note.txt", "mine");
  Write(options_.path + "/000999.sst", "left by a crash");
  Open();
  EXPECT_EQ(10u, HotOf(0, 10));
  EXPECT_EQ("mine", Read(options_.path + "/note.txt"));
  EXPECT_EQ(1u, RunFiles().size());
}

TEST_F(RaltTest, TinySizesWork) {
  UseMemory();
  Random random(Seed());
  for (const uint64_t fast : {0, 1, 100, 2000, 5000}) {
    Anew();
    options_.fast_bytes = fast;
    options_.buffer_bytes = 1;
    Open();
    for (int i = 0; i < 3000; ++i) {
      ralt_->Access(kSpace, Name(random.Uniform(50)), random.Uniform(200));
      if (i % 100 == 0) {
        ASSERT_OK(ralt_->Flush());
      }
    }
    ralt_->Access(kSpace, "", 0);
    ralt_->Access(kSpace, std::string(700, 'k'), uint64_t{1} << 40);
    ASSERT_OK(ralt_->Flush());
    ralt_->Settle();
    const RaltStats stats = ralt_->Stats();
    EXPECT_LE(stats.hot_bytes, stats.hot_limit + 300) << fast;
    EXPECT_EQ(0u, stats.errors);
    Open();
    EXPECT_EQ(stats.hot_bytes, ralt_->Stats().hot_bytes);
  }
}

TEST_F(RaltTest, FailedWritesLoseAccessesAndNothingElse) {
  FaultInjectionTestEnv env(Env::Default());
  options_.env = &env;
  Open();
  Access(0, 100);
  ASSERT_OK(ralt_->Flush());
  env.SetFilesystemActive(false, Status::IOError("no disk"));
  Access(100, 150);
  EXPECT_TRUE(ralt_->Flush().IsIOError());
  EXPECT_EQ(100u, HotOf(0, 150));
  EXPECT_EQ(50u, ralt_->Stats().dropped);
  EXPECT_GT(ralt_->Stats().errors, 0u);
  env.SetFilesystemActive(true);
  Access(150, 200);
  EXPECT_OK(ralt_->Flush());
  EXPECT_EQ(50u, HotOf(150, 200));
  Open();
  EXPECT_EQ(150u, HotOf(0, 200));
  ralt_.reset();
}

// Then nobody knows which catalog the next opening finds.
TEST_F(RaltTest, WhatEitherCatalogNamesStays) {
  NoSyncEnv env;
  options_.env = &env;
  for (const bool recovers : {false, true}) {
    SCOPED_TRACE(recovers);
    Anew();
    Open();
    Access(0, 100);
    ASSERT_OK(ralt_->Flush());
    env.broken = true;
    Access(100, 150);
    EXPECT_TRUE(ralt_->Flush().IsIOError());
    if (recovers) {
      env.broken = false;
      Access(200, 250);
      EXPECT_OK(ralt_->Flush());
    }
    ralt_.reset();
    env.broken = false;
    Open();
    EXPECT_EQ(0u, ralt_->Stats().damaged);
    EXPECT_EQ(100u, HotOf(0, 100));
    EXPECT_EQ(recovers ? 0u : 50u, HotOf(100, 150));
    EXPECT_EQ(recovers ? 50u : 0u, HotOf(200, 250));
    EXPECT_EQ(ralt_->Stats().files, RunFiles().size());
  }
  ralt_.reset();
}

// It may be the one before that the next opening finds.
TEST_F(RaltTest, UnknownFilesStayUntilTheCatalogIsDurable) {
  NoSyncEnv env;
  options_.env = &env;
  Anew();
  Open();
  Access(0, 100);
  ASSERT_OK(ralt_->Flush());
  ralt_.reset();
  ASSERT_OK(WriteStringToFile(&env, "named before", RunFileName(options_.path, 99)));
  for (const bool broken : {true, false}) {
    SCOPED_TRACE(broken);
    env.broken = broken;
    Open();
    EXPECT_EQ(ralt_->Stats().files + (broken ? 1 : 0), RunFiles().size());
    EXPECT_EQ(100u, HotOf(0, 100));
    ralt_.reset();
  }
}

TEST_F(RaltTest, ManyThreads) {
  UseMemory();
  options_.fast_bytes = 200000;
  options_.buffer_bytes = 32 << 10;
  options_.max_bytes = 64 << 10;
  Open();
  constexpr int kThreads = 8;
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  const uint32_t seed = Seed();
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(seed + static_cast<uint32_t>(t));
      for (int i = 0; i < 20000; ++i) {
        const uint64_t number = random.Skewed(13);
        ralt_->Access(kSpace, Name(number), 90);
        if (i % 10 == 0) {
          ralt_->IsHot(kSpace, Name(number));
        }
        if (i % 1000 == 0) {
          EXPECT_OK(ralt_->Flush());
        }
      }
      --running;
    });
  }
  while (running > 0) {
    const RaltStats stats = ralt_->Stats();
    EXPECT_LE(stats.hot_bytes, 1000000u);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_OK(ralt_->Flush());
  ralt_->Settle();
  const RaltStats stats = ralt_->Stats();
  EXPECT_EQ(uint64_t{kThreads} * 20000, stats.accesses + stats.dropped);
  EXPECT_GT(stats.evictions, 0u);
  EXPECT_LE(stats.hot_bytes, stats.hot_limit + 2000);
  EXPECT_GT(HotOf(0, 10), 5u) << "the most often accessed";
  Open();
  EXPECT_EQ(stats.hot_bytes, ralt_->Stats().hot_bytes);
}

}  // namespace ralt
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
