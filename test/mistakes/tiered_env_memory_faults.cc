// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory, when something fails while the database is open.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "plugin/tiered_env/name.h"
#include "test/tiered_env/hooks.h"
#include "test/tiered_env/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

// Waits for a condition, far longer than it takes.
template <typename Condition>
bool WaitFor(const Condition& condition) {
  const auto end = Clock::now() + std::chrono::seconds(120);
  while (!condition() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

class MemoryFaults : public VolatileTest {
 protected:
  MemoryFaults() {
    hooks_ = std::make_shared<HookedFs>();
    target_ = hooks_;
  }
  Options Manual() const {
    Options options = DbOptions();
    options.disable_auto_compactions = true;
    return options;
  }
  void OpenManual(const std::string& more = "", const std::string& tier = "") {
    MountMemory(more, tier);
    Open(Manual());
  }
  void Put(const std::string& prefix, int count = 100, size_t size = 200) {
    for (int i = 0; i < count; i++) {
      const std::string key = prefix + std::to_string(i);
      model_[key] = std::string(size, 'v') + key + prefix;
      ASSERT_OK(db_->Put(WriteOptions(), key, model_[key]));
    }
  }
  // One more SST in memory, of the newest log.
  void PutAndFlush(const std::string& prefix, int count = 100, size_t size = 200) {
    Put(prefix, count, size);
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  int LinesOfLog(const std::string& text) const {
    std::ifstream in(db_name_ + "/LOG");
    int lines = 0;
    for (std::string line; std::getline(in, line);) {
      lines += line.find(text) != std::string::npos ? 1 : 0;
    }
    return lines;
  }

  std::shared_ptr<HookedFs> hooks_;
};

bool IsLog(const std::string& path) {
  uint64_t number;
  return ContentOf(path, &number) == Content::kWal;
}

// The SST that it was needed for is durable by itself then, and nothing stops.
TEST_F(MemoryFaults, ASyncOfAClosedLogThatFailsOnce) {
  std::atomic<int> failures{0};
  std::atomic<bool> fails{false};
  hooks_->before_sync = [&](const std::string& path) {
    if (!IsLog(path) || !fails.exchange(false)) {
      return IOStatus::OK();
    }
    failures++;
    return IOStatus::IOError(path, "injected");
  };
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  const uint64_t references = Stats().references;
  EXPECT_GE(references, 100u);
  Put("b");
  fails = true;
  ASSERT_OK(db_->Flush(FlushOptions()));
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(Stats().references, references);
  EXPECT_GT(BytesIn("slow"), 0u);
  ASSERT_OK(db_->Resume());
  PutAndFlush("c");
  EXPECT_EQ(Stats().references, references + 100);
  EXPECT_GT(LinesOfLog("cannot be synced"), 0);
  LoseAndVerify();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  Verify();
}

// Whoever begins a log does not wait for the renaming of another one.
TEST_F(MemoryFaults, ALogThatIsKeptHoldsUpNobody) {
  std::mutex mutex;
  std::condition_variable changed;
  bool renaming = false;
  bool begun = false;
  bool in_time = true;
  hooks_->before_rename = [&](const std::string&, const std::string& to) {
    if (IsKept(BaseOf(to)) && EndsWith(to, ".log")) {
      std::unique_lock<std::mutex> lock(mutex);
      renaming = true;
      changed.notify_all();
      in_time = changed.wait_for(lock, std::chrono::seconds(20), [&] { return begun; }) && in_time;
    }
    return IOStatus::OK();
  };
  OpenManual();
  ASSERT_FALSE(HasFailure());
  Put("a");
  std::thread flush([&] { EXPECT_OK(db_->Flush(FlushOptions())); });
  {
    std::unique_lock<std::mutex> lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(120), [&] { return renaming; }));
  }
  Put("b");
  FlushOptions begin;
  begin.wait = false;
  EXPECT_OK(db_->Flush(begin));
  {
    std::lock_guard<std::mutex> lock(mutex);
    begun = true;
    changed.notify_all();
  }
  flush.join();
  EXPECT_TRUE(in_time);
  ASSERT_OK(db_->Flush(FlushOptions()));
  LoseAndVerify();
}

// As a clean-up of /dev/shm does: of all that is there, or of single files.
TEST_F(MemoryFaults, WhatIsCleanedUpIsThereAgain) {
  for (const bool all : {true, false}) {
    SCOPED_TRACE(all);
    MountMemory();
    Options options = Manual();
    options.max_open_files = 20;  // so that tables are opened again and again
    Open(options);
    ASSERT_FALSE(HasFailure());
    for (int round = 0; round < 3; round++) {
      PutAndFlush("a" + std::to_string(round));
      PutAndFlush("b" + std::to_string(round));
      std::vector<fs::path> files;
      for (const auto& entry : fs::recursive_directory_iterator(TierPath("memory"))) {
        if (entry.is_regular_file() && !IsOfFolder(entry)) {
          files.push_back(entry.path());
        }
      }
      ASSERT_GE(files.size(), 2u);
      if (all) {
        LoseMemory();
      } else {
        fs::remove(files.front());
      }
      PutAndFlush("c" + std::to_string(round));
      EXPECT_GT(FilesIn("memory"), 0u);
    }
    const uint64_t rebuilt = Stats().rebuilt_files;
    ASSERT_OK(db_->VerifyChecksum());
    EXPECT_GT(Stats().rebuilt_files, rebuilt);
    Verify();
    LoseMemory();
    ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    Verify();
    LoseAndVerify();
    Close();
    ASSERT_OK(DestroyDB(db_name_, DbOptions()));
    model_.clear();
  }
}

// The next tier takes what is new, until it can be made again.
TEST_F(MemoryFaults, ATierThatCannotBeMadeAgain) {
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  LoseMemory();
  std::ofstream(TierPath("memory")) << "no directory";
  for (int i = 0; i < 3; i++) {
    PutAndFlush("b" + std::to_string(i));
  }
  EXPECT_GT(BytesIn("slow"), 0u);
  fs::remove(TierPath("memory"));
  ASSERT_OK(db_->VerifyChecksum());
  Verify();
  LoseAndVerify();
}

// It is cleaned up while an SST is written.
TEST_F(MemoryFaults, AnSstThatIsGoneBeforeItIsComplete) {
  std::atomic<bool> due{false};
  SyncPoint::GetInstance()->SetCallBack("TieredWriter::KeepTable:Start", [&](void*) {
    if (due.exchange(false)) {
      LoseMemory();
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  OpenManual();
  ASSERT_FALSE(HasFailure());
  PutAndFlush("a");
  Put("b");
  due = true;
  db_->Flush(FlushOptions()).PermitUncheckedError();  // RocksDB tries again by itself
  EXPECT_FALSE(due);
  EXPECT_TRUE(WaitFor([&] {
    std::this_thread::sleep_for(std::chrono::seconds(3));  // whoever tries often holds it up
    return db_->Flush(FlushOptions()).ok();
  }));
  PutAndFlush("c");
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  EXPECT_GT(Stats().bytes, 0u);
  ASSERT_OK(db_->VerifyChecksum());
  Verify();
  LoseAndVerify();
}

// What cannot be written now is tried again later and later.
TEST_F(MemoryFaults, ARecipeLogThatCannotBeWrittenAnew) {
  std::mutex mutex;
  std::vector<Clock::time_point> tries;
  std::atomic<bool> fails{false};
  hooks_->before_create = [&](const std::string& path) {
    if (!fails || path.find("TIERS-RECIPES") == std::string::npos) {
      return IOStatus::OK();
    }
    std::lock_guard<std::mutex> lock(mutex);
    tries.push_back(Clock::now());
    return IOStatus::NoSpace(path, "injected");
  };
  SyncPoint::GetInstance()->SetCallBack("Ledger::Compact:Slack",
                                        [](void* slack) { *static_cast<uint64_t*>(slack) = 0; });
  OpenManual();
  ASSERT_FALSE(HasFailure());
  for (int i = 0; i < 4; i++) {
    PutAndFlush("a");
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));  // most recipes are dead
  const std::vector<std::string> before = Kept("RECIPES");
  fails = true;
  SyncPoint::GetInstance()->EnableProcessing();
  EXPECT_TRUE(WaitFor([&] {
    std::lock_guard<std::mutex> lock(mutex);
    return tries.size() >= 3;
  }));
  {
    std::lock_guard<std::mutex> lock(mutex);
    ASSERT_GE(tries.size(), 3u);
    EXPECT_GE(tries[2] - tries[0], std::chrono::milliseconds(2900));
  }
  EXPECT_GT(LinesOfLog("cannot write the recipe log anew"), 0);
  fails = false;
  EXPECT_TRUE(WaitFor([&] { return Kept("RECIPES") != before; }));
  SyncPoint::GetInstance()->DisableProcessing();
  SyncPoint::GetInstance()->ClearAllCallBacks();
  LoseAndVerify();
}

}  // namespace

}  // namespace rocktier
