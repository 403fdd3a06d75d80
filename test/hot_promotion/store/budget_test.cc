// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The store never has more than its budget and 5%.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "file/file_util.h"
#include "plugin/hot_promotion/store/store.h"
#include "test/hot_promotion/store/on_disk.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

// Records of a hot spot in each of many SSTs, which moves; what was hot before is cold then. The
// store is filled as fast as it takes records, and is looked at all the time, with readers that
// hold what is compacted.
class BudgetTest : public testing::Test {
 protected:
  BudgetTest() : path_(test::PerThreadDBPath("budget_test")) {
    RaltStats stats;
    stats.evictions = 1;
    policy_.Learn(stats);  // what is not hot is cold
  }
  ~BudgetTest() override {
    store_.reset();
    EXPECT_OK(DestroyDir(Env::Default(), path_));
  }

  static constexpr int kSeed = 301;
  static constexpr int kHeld = 30000;  // microseconds, by a reader
  static constexpr int kFiles = 20;
  static constexpr int kSpots = 3;
  static constexpr int kPatience = 40;  // additions that find no room, in a row

  // Looks at the store while hot spots come and go.
  void Fill(uint64_t budget, size_t value_size) {
    EXPECT_OK(DestroyDir(Env::Default(), path_));
    Open(budget);
    spot_size_ = static_cast<int>(budget / 10 * 7 / kFiles / (value_size + 40));
    std::atomic<bool> stop{false};
    OnDisk most(path_);
    std::thread watcher([&] {
      while (!stop) {
        const OnDisk now(path_);
        most = now.bytes() > most.bytes() ? now : most;
      }
    });
    std::thread reader([&] {
      while (!stop) {
        std::string next;
        bool holds = false;
        const auto hold = [&](const Slice&) {
          if (!holds) {
            Env::Default()->SleepForMicroseconds(kHeld);
          }
          holds = true;
        };
        EXPECT_OK(store_->ForEachRecord(budget, hold, &next));
      }
    });
    for (int spot = 0; spot < kSpots; spot++) {
      Heat(spot, value_size);
    }
    stop = true;
    watcher.join();
    reader.join();
    store_.reset();
    SCOPED_TRACE(most.list());
    EXPECT_LE(most.bytes(), budget / 100 * 105);
    EXPECT_GT(most.bytes(), budget / 10 * 6);
  }

  void Open(uint64_t budget) {
    store_.reset();
    Store::Options options;
    options.path = path_;
    options.budget = budget;
    options.policy = &policy_;
    options.callbacks.alive = [](const FileId&, FileEntry*) { return true; };
    options.callbacks.found = [](const FileId&, const FileEntry&) {};
    ASSERT_OK(Store::Open(options, &store_));
  }

  static FileId File(uint64_t i) { return {i * 0x9e3779b97f4a7c15 + 1, i}; }
  static std::string UserKey(int i) { return "k" + std::to_string(100000 + i); }

  // Adds retained records of an SST, when there is room.
  void Retain(const FileId& file, int count, size_t value_size) {
    std::vector<std::pair<FileId, int>> some;
    for (int i = 0; i < count; i++) {
      some.emplace_back(file, i);
    }
    Status s = Status::Busy();
    for (int i = 0; i < 60000 && s.IsBusy(); i++) {
      s = AddSome(some, value_size, Way::kRetained);
      Env::Default()->SleepForMicroseconds(s.IsBusy() ? 1000 : 0);
    }
    ASSERT_OK(s);
  }

  const std::string path_;
  std::unique_ptr<Store> store_;

 private:
  // Adds the records of a hot spot in random order, batch by batch, as promotion does.
  void Heat(int spot, size_t value_size) {
    for (int i = 0; spot > 0 && i < spot_size_; i++) {
      cold_.insert(UserKey((spot - 1) * spot_size_ + i));
    }
    std::vector<std::pair<FileId, int>> all;
    for (int i = 0; i < kFiles * spot_size_; i++) {
      all.emplace_back(File(static_cast<uint64_t>(1 + i % kFiles)), spot * spot_size_ + i / kFiles);
    }
    std::shuffle(all.begin(), all.end(), random_);
    const size_t count = std::max<size_t>(1, store_->batch() / (value_size + 40));
    const uint64_t deadline = Env::Default()->NowMicros() + 60 * 1000 * 1000;
    int busy = 0;
    for (size_t i = 0; i < all.size();) {
      const size_t end = std::min(all.size(), i + count);
      const Status s = AddSome({all.begin() + static_cast<std::ptrdiff_t>(i),
                                all.begin() + static_cast<std::ptrdiff_t>(end)},
                               value_size);
      ASSERT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
      ASSERT_LT(Env::Default()->NowMicros(), deadline) << "nothing makes room";
      i = s.ok() ? end : i;
      busy = s.ok() ? 0 : busy + 1;
      if (store_->Bytes() > store_->high() || busy > kPatience) {
        ASSERT_OK(store_->Evict(busy > kPatience));
      } else if (s.IsBusy()) {
        Env::Default()->SleepForMicroseconds(1000);
      }
    }
  }

  Status AddSome(const std::vector<std::pair<FileId, int>>& some, size_t value_size,
                 Way way = Way::kPromoted) {
    std::map<std::string, std::string> sorted;
    for (const auto& [file, i] : some) {
      sorted[EncodeRecordKey(way, file, UserKey(i))] = std::string(value_size, 'v');
    }
    std::vector<Store::Record> records;
    records.reserve(sorted.size());
    for (const auto& [key, value] : sorted) {
      records.push_back({key, value});
    }
    return store_->Add(records);
  }

  std::set<std::string> cold_;
  CopyPolicy policy_{64 << 20,
                     [this](Space, const Slice& key) { return cold_.count(key.ToString()) == 0; }};
  int spot_size_ = 0;
  std::mt19937 random_{kSeed};
};

TEST_F(BudgetTest, TheBudgetIsKeptAtAllTimes) {
  for (const uint64_t budget : {1 << 20, 2 << 20, 7365055}) {
    for (const uint64_t value_size : {uint64_t{1000}, budget / 65}) {
      SCOPED_TRACE("budget " + std::to_string(budget) + ", values of " +
                   std::to_string(value_size) + ", seed " + std::to_string(kSeed));
      Fill(budget, value_size);
    }
  }
}

#ifndef NDEBUG
// A compaction that begins holds what has left the store since it was picked. It must not wait for
// that to go.
TEST_F(BudgetTest, ACompactionDoesNotWaitForItself) {
  constexpr uint64_t kSsts = 100;
  EXPECT_OK(DestroyDir(Env::Default(), path_));
  Open(8 << 20);
  std::map<std::string, FileId> ssts;  // in the order of their keys
  for (uint64_t i = 1; i <= kSsts; i++) {
    Retain(File(i), 40, 1000);
    ssts[FirstKeyOf(Way::kRetained, File(i))] = File(i);
  }
  Open(2 << 20);
  ASSERT_GT(store_->Bytes(), store_->capacity());
  std::atomic<bool> dropped{false};
  SyncPoint* const points = SyncPoint::GetInstance();
  points->SetCallBack("DBImpl::NotifyOnCompactionBegin::UnlockMutex", [&](void*) {
    if (!dropped.exchange(true)) {
      EXPECT_OK(store_->Drop({ssts.rbegin()->second}));  // evictions begin with the first one
    }
  });
  points->EnableProcessing();
  std::future<Status> evicted =
      std::async(std::launch::async, [&] { return store_->Evict(false); });
  if (evicted.wait_for(std::chrono::seconds(30)) != std::future_status::ready) {
    ADD_FAILURE() << "the compaction waits for itself";
    std::_Exit(1);  // nothing ends it, nor the store
  }
  EXPECT_OK(evicted.get());
  EXPECT_TRUE(dropped);
  points->DisableProcessing();
  points->ClearAllCallBacks();
}
#endif

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
