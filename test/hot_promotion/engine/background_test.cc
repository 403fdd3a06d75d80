// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// What the parts of an engine do in the background, without a database.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "plugin/hot_promotion/engine/copy_writer.h"
#include "plugin/hot_promotion/engine/directory.h"
#include "plugin/hot_promotion/engine/engine.h"
#include "plugin/hot_promotion/engine/presence_filler.h"
#include "plugin/hot_promotion/engine/promoter.h"
#include "plugin/hot_promotion/engine/state.h"
#include "plugin/hot_promotion/ralt/buffer.h"
#include "test/hot_promotion/support.h"
#include "test/support/wait.h"
#include "test/support/wall_clock.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

using BackgroundTest = HotDb;

// The parts of an engine but for the Promoter, with a store that is open. All records are hot.
struct Parts {
  explicit Parts(
      const HotPromotionOptions& options, std::function<void()> wake = [] {})
      : state(options, [](Space, const Slice&) { return true; }),
        directory(&state, [] {}),
        writer(&state, &directory, std::move(wake)) {
    directory.KeepOpen(0);
    EXPECT_OK(directory.GetStatus());
  }
  Store* store() const { return directory.store().get(); }
  bool Has(const std::string& key) const {
    PinnableSlice value;
    return store()->Get(key, &value).ok();
  }

  EngineState state;
  HotDirectory directory;
  CopyWriter writer;
};

// Puts a record into the promotion cache, and returns its key.
std::string Put(EngineState* state, const FileId& file, const std::string& user_key) {
  const std::string key = EncodeRecordKey(Way::kPromoted, file, user_key);
  EXPECT_EQ(PromotionCache::Result::kAdded, state->cache.Put(key, HashOfKey(key), 0, user_key));
  return key;
}

// The last round may have found no room for what was frozen.
TEST_F(BackgroundTest, BothHalvesOfThePromotionCacheAreWrittenAtTheEnd) {
  Parts parts(hot_);
  const auto lease = parts.state.catalog.Lease(FileSystem::Default());
  parts.state.catalog.Add({1, 1}, 0, root_ + "/1.sst", *lease);
  parts.state.catalog.Add({2, 2}, 0, root_ + "/2.sst", *lease);
  const std::string frozen = Put(&parts.state, {1, 1}, "frozen");
  parts.state.cache.Freeze();
  const std::string active = Put(&parts.state, {2, 2}, "active");
  { const Promoter promoter(&parts.state, &parts.directory, &parts.writer); }
  EXPECT_TRUE(parts.Has(frozen));
  EXPECT_TRUE(parts.Has(active));
  EXPECT_EQ(0u, parts.state.cache.Bytes());
  EXPECT_EQ(2u, parts.state.counters.Sum(Counter::promoted));
  EXPECT_EQ(0u, parts.state.counters.Sum(Counter::lost));
}

TEST_F(BackgroundTest, RecordsOfSstsThatAreGoneDoNotCountAsPromoted) {
  Parts parts(hot_);
  const auto lease = parts.state.catalog.Lease(FileSystem::Default());
  parts.state.catalog.Add({1, 1}, 0, root_ + "/1.sst", *lease);
  const std::string written = Put(&parts.state, {1, 1}, "written");
  const std::string gone = Put(&parts.state, {2, 2}, "gone");
  { const Promoter promoter(&parts.state, &parts.directory, &parts.writer); }
  EXPECT_TRUE(parts.Has(written));
  EXPECT_FALSE(parts.Has(gone));
  EXPECT_EQ(1u, parts.state.counters.Sum(Counter::promoted));
  EXPECT_EQ(written.size() + std::string("written").size(),
            parts.state.counters.Sum(Counter::promoted_bytes));
}

// The wall clock is set back by an hour while something waits.
class SetBackTest : public HotDb {
 protected:
  SetBackTest() { rocktier::wall_clock_ahead = 3600; }
  ~SetBackTest() override { SetBack(); }

  static void SetBack() { rocktier::wall_clock_ahead = 0; }
};

TEST_F(SetBackTest, ADirectoryIsTriedAgainInTime) {
  std::unique_ptr<Folder> another;
  ASSERT_OK(Folder::Open(Folder::Kind::kTop, hot_.path, &another));
  const std::shared_ptr<Engine> engine = Engine::Get(hot_);
  EXPECT_TRUE(engine->GetStatus().IsBusy()) << engine->GetStatus().ToString();
  SetBack();
  another.reset();
  EXPECT_TRUE(rocktier::WaitFor([&] { return engine->GetStatus().ok(); }));
}

TEST_F(SetBackTest, RetentionGivesUpInTime) {
  Parts parts(hot_, SetBack);
  const auto lease = parts.state.catalog.Lease(FileSystem::Default());
  parts.state.catalog.Add({1, 1}, 0, root_ + "/1.sst", *lease);
  const std::string large(2 * hot_.budget, 'v');
  bool more = true;
  parts.writer.Retain({1, 1}, [&](Slice* user_key, Slice* value) {
    *user_key = "k";
    *value = large;
    return std::exchange(more, false);
  });
  EXPECT_EQ(0, rocktier::wall_clock_ahead.load());
  EXPECT_EQ(1u, parts.state.counters.Sum(Counter::lost));
}

TEST_F(SetBackTest, ABufferOfAccessesIsWrittenInTime) {
  ralt::Buffer buffer(4096, UINT64_MAX);
  std::atomic<bool> waited{false};
  std::thread writer([&] {
    buffer.Wait(1000);
    waited = true;
  });
  EXPECT_TRUE(rocktier::WaitFor([&] { return waited.load(); }));
  buffer.Wake();
  writer.join();
}

// Has the files whose names end in an even digit.
class HalfOfTheFiles : public FileSystemWrapper {
 public:
  HalfOfTheFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "HalfOfTheFiles"; }
  IOStatus FileExists(const std::string& name, const IOOptions& /*options*/,
                      IODebugContext* /*debug*/) override {
    return name.back() % 2 == 0 ? IOStatus::OK() : IOStatus::NotFound(name);
  }
};

// What the store knows of an SST has no mark in the PresenceFilter that could be another copy's.
TEST_F(BackgroundTest, SstsThatGoTakeNoMarksOfCopies) {
  constexpr uint64_t kSsts = 2000;
  constexpr int kRecords = 10;
  const auto file_system = std::make_shared<HalfOfTheFiles>();
  std::map<std::string, std::string> gone;
  std::map<std::string, std::string> live;
  {
    Parts parts(hot_);
    const auto lease = parts.state.catalog.Lease(file_system);
    std::map<std::string, std::string> all;
    for (uint64_t i = 1; i <= kSsts; i++) {
      parts.state.catalog.Add({i, i}, 0, root_ + "/sst" + std::to_string(i), *lease);
      for (int k = 0; k < kRecords; k++) {
        const std::string key = EncodeRecordKey(Way::kPromoted, {i, i}, KeyOf(k));
        (i % 2 == 0 ? live : gone)[key] = all[key] = KeyOf(k);
      }
    }
    std::vector<Store::Record> batch;
    uint64_t bytes = 0;
    for (auto it = all.begin(); it != all.end();) {
      batch.push_back({it->first, it->second});
      bytes += it->first.size() + it->second.size();
      if (++it == all.end() || bytes >= parts.store()->batch() / 2) {
        Status s;
        rocktier::WaitFor([&] {
          s = parts.writer.Promote(parts.store(), batch);
          return !s.IsBusy();
        });
        ASSERT_OK(s);
        batch.clear();
        bytes = 0;
      }
    }
  }
  Parts parts(hot_);
  PresenceFiller filler(&parts.state);
  while (!parts.state.presence.IsComplete()) {
    ASSERT_OK(filler.Continue(parts.store()));
  }
  const auto lease = parts.state.catalog.Lease(file_system);
  DeadSstFinder finder(&parts.state.catalog);
  EXPECT_EQ(kSsts / 2, finder.Take(/*all=*/true).size());
  for (int i = 0; i < 40; i++) {
    ASSERT_OK(parts.store()->Evict(false));
  }
  EXPECT_GE(parts.store()->dropped().dead.load(), gone.size());
  int missed = 0;
  for (const auto& [key, value] : live) {
    ASSERT_TRUE(parts.Has(key));
    missed += parts.state.presence.MayHave(HashOfKey(key)) ? 0 : 1;
  }
  EXPECT_EQ(0, missed);
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
