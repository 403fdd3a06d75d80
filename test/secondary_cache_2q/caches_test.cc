// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Caches that come and go while others are visited.

#include "plugin/secondary_cache_2q/caches.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "test/secondary_cache_2q/support.h"
#include "test/support/scratch.h"
#include "test/support/wait.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"

namespace ROCKSDB_NAMESPACE {
namespace secondary_cache_2q {
namespace {

class CachesTest : public testing::Test {
 protected:
  CachesTest() : folder_(rocktier::NewFolder()) {}
  ~CachesTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    std::filesystem::remove_all(folder_);
  }

  std::shared_ptr<SecondaryCache> NewFileCache(const std::string& name) const {
    return NewCache("capacity=4M;storage=file;metrics_interval=0;path=" + folder_ + "/" + name);
  }

  const std::string folder_;
};

TEST_F(CachesTest, AFileThatHangsHoldsUpNobodyElse) {
  std::shared_ptr<SecondaryCache> hung = NewFileCache("hung");
  std::shared_ptr<SecondaryCache> other = NewFileCache("other");
  Offer(hung.get(), Key(1), "value", /*force=*/true);
  AsOurs(hung)->TEST_Drain();
  std::atomic<bool> is_hanging{false};
  std::atomic<bool> held_up{true};
  SyncPoint::GetInstance()->SetCallBack("TwoQIndexMap::Store", [&](void* path) {
    if (static_cast<std::string*>(path)->find("/hung") != std::string::npos) {
      is_hanging = true;
      rocktier::WaitFor([&] { return !held_up; });
    }
  });
  SyncPoint::GetInstance()->EnableProcessing();
  auto erased = std::async(std::launch::async, [] {
    ForEachCache([](TwoQSecondaryCache* cache) { cache->EraseFiles({1}); });
  });
  EXPECT_TRUE(rocktier::WaitFor([&] { return is_hanging.load(); }));
  auto others = std::async(std::launch::async, [&] {
    const std::shared_ptr<SecondaryCache> third = NewFileCache("third");
    int visited = 0;
    ForEachCache([&](TwoQSecondaryCache* /*cache*/) { visited++; });
    EXPECT_EQ(3, visited);
    other.reset();
  });
  EXPECT_EQ(std::future_status::ready, others.wait_for(std::chrono::seconds(30)));
  // It goes when nobody visits it any more.
  auto closed = std::async(std::launch::async, [&] { hung.reset(); });
  EXPECT_EQ(std::future_status::timeout, closed.wait_for(std::chrono::milliseconds(200)));
  held_up = false;
  closed.get();
  erased.get();
  others.get();
  int left = 0;
  ForEachCache([&](TwoQSecondaryCache* /*cache*/) { left++; });
  EXPECT_EQ(0, left);
}

}  // namespace
}  // namespace secondary_cache_2q
}  // namespace ROCKSDB_NAMESPACE
