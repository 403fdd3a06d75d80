// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.

#include "plugin/hot_promotion/store/store.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "file/file_util.h"
#include "test/hot_promotion/store/on_disk.h"
#include "test/support/direct.h"
#include "test/support/no_threads.h"
#include "test/support/open_db.h"
#include "test_util/sync_point.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

constexpr uint64_t kBudget = 4 << 20;

class StoreTest : public testing::Test {
 protected:
  StoreTest() : path_(test::PerThreadDBPath("store_test")) {
    EXPECT_OK(DestroyDir(Env::Default(), path_));
    RaltStats stats;
    stats.evictions = 1;
    policy_.Learn(stats);  // what is not hot is cold
    Open();
  }
  ~StoreTest() override {
    store_.reset();
    EXPECT_OK(DestroyDir(Env::Default(), path_));
  }

  Status TryToOpen() {
    store_.reset();
    Store::Options options;
    options.path = path_;
    options.budget = kBudget;
    options.direct_io = direct_io_;
    options.policy = &policy_;
    options.callbacks.alive = [this](const FileId& file, FileEntry*) {
      return dead_.count(file) == 0;
    };
    options.callbacks.found = [this](const FileId& file, const FileEntry&) { found_(file); };
    return Store::Open(options, &store_);
  }
  void Open() { ASSERT_OK(TryToOpen()); }

  static FileId File(uint64_t i) { return {i * 0x9e3779b97f4a7c15 + 1, i}; }
  static std::string UserKey(int i) { return "k" + std::to_string(100000 + i); }

  // Records [from, to) of an SST, after what is known of it.
  Status Add(const FileId& file, int from, int to, size_t value_size = 100,
             Way way = Way::kPromoted) {
    std::vector<std::string> kept;
    kept.reserve(2 * (to - from) + 2);
    std::vector<Store::Record> records;
    FileEntry entry;
    entry.places = {{"", "/slow/" + std::to_string(file[1])}};
    kept.push_back(EncodeFileKey(way, file));
    kept.push_back(EncodeFileEntry(entry));
    records.push_back({kept[0], kept[1]});
    for (int i = from; i < to; i++) {
      kept.push_back(EncodeRecordKey(way, file, UserKey(i)));
      const std::string& key = kept.back();
      kept.push_back(UserKey(i) + std::string(value_size, static_cast<char>('a' + file[1] % 26)));
      records.push_back({key, kept.back()});
    }
    return store_->Add(records);
  }

  // The same, when there is room: compactions may have to make some.
  Status AddInTime(const FileId& file, int from, int to, size_t value_size = 100,
                   Way way = Way::kPromoted) {
    Status s;
    for (int i = 0; i < 60000; i++) {
      s = Add(file, from, to, value_size, way);
      if (!s.IsBusy()) {
        break;
      }
      Env::Default()->SleepForMicroseconds(1000);
    }
    return s;
  }

  bool Has(const FileId& file, int i) {
    PinnableSlice value;
    const Status s = store_->Get(EncodeRecordKey(Way::kPromoted, file, UserKey(i)), &value);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    EXPECT_TRUE(!s.ok() || value.starts_with(UserKey(i)));
    return s.ok();
  }
  int Count(const FileId& file, int from, int to) {
    int count = 0;
    for (int i = from; i < to; i++) {
      count += Has(file, i) ? 1 : 0;
    }
    return count;
  }

  // Compacts all of it, whatever the size of a piece is.
  void EvictAll(bool forced) {
    for (int i = 0; i < 40; i++) {
      for (const std::string& key : used_) {
        policy_.MarkUsed(HashOfKey(key));
      }
      ASSERT_OK(store_->Evict(forced));
    }
  }

  // A copy that answers a read before each eviction.
  void Use(const FileId& file, int i) {
    used_.insert(EncodeRecordKey(Way::kRetained, file, UserKey(i)));
  }

  // The store's files that have retained records. It is closed meanwhile: its compactions delete
  // files.
  std::vector<LiveFileMetaData> RetainedFiles() {
    store_.reset();
    std::unique_ptr<DB> db;
    EXPECT_OK(OpenDbForReadOnly(Options(), path_, &db));
    std::vector<LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    files.erase(std::remove_if(files.begin(), files.end(),
                               [](const LiveFileMetaData& file) {
                                 return file.largestkey[0] != static_cast<char>(Way::kRetained);
                               }),
                files.end());
    db.reset();
    Open();
    return files;
  }

  // How many of the store's SSTs that are open, of this process, have direct I/O, and how many do
  // not.
  std::pair<int, int> DirectAndOthers() {
    std::pair<int, int> count;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::filesystem::path name = std::filesystem::read_symlink(entry.path(), gone);
      if (!gone && name.parent_path() == path_ && name.extension() == ".sst") {
        const int flags = fcntl(std::stoi(entry.path().filename()), F_GETFL);
        (flags & O_DIRECT ? count.first : count.second)++;
      }
    }
    return count;
  }

  const std::string path_;
  bool direct_io_ = false;
  std::function<void(const FileId&)> found_ = [](const FileId&) {};
  std::set<FileId> dead_;
  std::set<std::string> cold_;
  std::set<std::string> used_;  // keys of the store
  CopyPolicy policy_{64 * kBudget,
                     [this](Space, const Slice& key) { return cold_.count(key.ToString()) == 0; }};
  std::unique_ptr<Store> store_;
};

// A process that was killed may have made it, and not made it durable.
TEST_F(StoreTest, EachOpeningMakesItsMarkerDurable) {
  for (int i = 0; i < 2; i++) {
    int syncs = 0;
    SyncPoint::GetInstance()->SetCallBack("Folder::Mark:Sync", [&](void*) { syncs++; });
    SyncPoint::GetInstance()->EnableProcessing();
    Open();
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
    EXPECT_EQ(1, syncs);
  }
}

TEST_F(StoreTest, RecordsBelongToTheirFile) {
  ASSERT_OK(AddInTime(File(1), 0, 10));
  ASSERT_OK(AddInTime(File(2), 5, 15));
  EXPECT_EQ(10, Count(File(1), 0, 20));
  EXPECT_EQ(10, Count(File(2), 0, 20));
  EXPECT_EQ(0, Count(File(3), 0, 20));
}

TEST_F(StoreTest, AddingAgainIsHarmless) {
  for (int round = 0; round < 5; round++) {
    ASSERT_OK(AddInTime(File(1), 0, 10 + round));
  }
  EXPECT_EQ(14, Count(File(1), 0, 20));
}

TEST_F(StoreTest, ReopenHasEverythingAndKnowsItsFiles) {
  for (uint64_t i = 1; i <= 20; i++) {
    ASSERT_OK(AddInTime(File(i), 0, 10));
  }
  Open();
  std::map<FileId, std::string> files;
  ASSERT_OK(store_->ForEachFile(
      [&](const FileId& file, const FileEntry& entry) { files[file] = entry.places[0].path; }));
  EXPECT_EQ(20u, files.size());
  EXPECT_EQ("/slow/7", files[File(7)]);
  for (uint64_t i = 1; i <= 20; i++) {
    EXPECT_EQ(10, Count(File(i), 0, 20));
  }
}

TEST_F(StoreTest, WithoutThreadsItIsKeptAndNotOpened) {
  ASSERT_OK(AddInTime(File(1), 0, 10));
  for (int i = 0; i < 3; i++) {
    const rocktier::NoThreads none;
    const Status s = TryToOpen();
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("no thread can be had")) << s.ToString();
  }
  Open();
  EXPECT_EQ(10, Count(File(1), 0, 20));
}

TEST_F(StoreTest, DirectIoIsPastThePageCache) {
  ASSERT_OK(AddInTime(File(1), 0, 1000));
  EXPECT_EQ(0, DirectAndOthers().first);
  EXPECT_LT(0, DirectAndOthers().second);
  if (!CanDirectIo(path_)) {
    ROCKSDB_GTEST_SKIP("no direct I/O in the folder of tests");
    return;
  }
  direct_io_ = true;
  Open();
  for (uint64_t i = 2; i <= 8; i++) {
    ASSERT_OK(AddInTime(File(i), 0, 1000));
  }
  EXPECT_LT(0, DirectAndOthers().first);
  EXPECT_EQ(0, DirectAndOthers().second);
  for (uint64_t i = 1; i <= 8; i++) {
    EXPECT_EQ(1000, Count(File(i), 0, 2000));
  }
}

// Before, they all seem dead.
TEST_F(StoreTest, ItsFilesAreKnownBeforeItCompacts) {
  found_ = [this](const FileId& file) {
    Env::Default()->SleepForMicroseconds(20000);
    dead_.erase(file);
  };
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 10; i++) {
      ASSERT_OK(AddInTime(File(1), i, 100 - i));
    }
    store_.reset();
    dead_.insert(File(1));
    Open();
    ASSERT_EQ(100, Count(File(1), 0, 100)) << round;
  }
}

TEST_F(StoreTest, RecordsOfDeadFilesAreDropped) {
  for (uint64_t i = 1; i <= 10; i++) {
    ASSERT_OK(AddInTime(File(i), 0, 100));
  }
  for (uint64_t i = 1; i <= 5; i++) {
    dead_.insert(File(i));
    ASSERT_OK(store_->Drop({File(i)}));
  }
  EvictAll(false);
  for (uint64_t i = 1; i <= 10; i++) {
    EXPECT_EQ(i <= 5 ? 0 : 100, Count(File(i), 0, 100)) << i;
  }
  int files = 0;
  ASSERT_OK(store_->ForEachFile([&](const FileId&, const FileEntry&) { files++; }));
  EXPECT_EQ(5, files);
}

TEST_F(StoreTest, ColdRecordsAreDroppedAndHotOnesKept) {
  ASSERT_OK(AddInTime(File(1), 0, 1000));
  for (int i = 0; i < 1000; i += 2) {
    cold_.insert(UserKey(i));
  }
  EvictAll(false);
  EXPECT_EQ(500, Count(File(1), 0, 1000));
  EXPECT_TRUE(Has(File(1), 1));
  EXPECT_EQ(500u, store_->dropped().cold.load());
}

TEST_F(StoreTest, ForcedEvictionDropsSomeHotRecords) {
  ASSERT_OK(AddInTime(File(1), 0, 1000));
  ASSERT_OK(store_->Evict(true));
  const int left = Count(File(1), 0, 1000);
  EXPECT_GT(left, 500);
  EXPECT_LT(left, 950);
}

// They are not compacted with those of other SSTs, and go with their own at once.
TEST_F(StoreTest, RetainedRecordsHaveFilesOfTheirSst) {
  const auto check = [this](size_t count) {
    const std::vector<LiveFileMetaData> files = RetainedFiles();
    EXPECT_EQ(count, files.size());
    for (const LiveFileMetaData& file : files) {
      EXPECT_EQ(6, file.level);
      EXPECT_EQ(file.smallestkey.substr(0, 17), file.largestkey.substr(0, 17));
    }
  };
  for (uint64_t i = 1; i <= 20; i++) {
    for (int k = 40; k < 100; k++) {
      Use(File(i), k);
    }
    ASSERT_OK(AddInTime(File(i), 0, 50));
    ASSERT_OK(AddInTime(File(i), 40, 100, 100, Way::kRetained));
  }
  check(20);
  ASSERT_OK(store_->Drop({File(3)}));
  check(19);
  EXPECT_EQ(0, Count(File(3), 50, 100));
  EvictAll(false);
  check(19);
  for (uint64_t i = 1; i <= 20; i++) {
    EXPECT_EQ(i == 3 ? 0 : 50, Count(File(i), 50, 100)) << i;
    EXPECT_TRUE(i == 3 || Count(File(i), 0, 50) == 50) << i;
  }
}

TEST_F(StoreTest, RetainedRecordsThatAnswerNothingAreDroppedThoughHot) {
  ASSERT_OK(AddInTime(File(1), 0, 100));
  ASSERT_OK(AddInTime(File(2), 0, 100, 100, Way::kRetained));
  for (int i = 0; i < 30; i++) {
    Use(File(2), i);
  }
  EvictAll(false);
  EXPECT_EQ(100, Count(File(1), 0, 100));
  EXPECT_EQ(30, Count(File(2), 0, 100));
  EXPECT_EQ(70u, store_->dropped().cold.load());
}

TEST_F(StoreTest, EvictOfNothing) { EXPECT_OK(store_->Evict(true)); }

// Everything is hot and alive, and more comes than there is room for.
TEST_F(StoreTest, TheBudgetIsHard) {
  uint64_t most = 0;
  int busy = 0;
  int added = 0;
  for (uint64_t i = 1; i <= 400; i++) {
    const Status s = Add(File(i), 0, 25, 1000);
    ASSERT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
    most = std::max(most, OnDisk(path_).bytes());
    added += s.ok() ? 1 : 0;
    if (s.IsBusy()) {
      busy++;
      ASSERT_OK(store_->Evict(store_->Bytes() > store_->high()));
      most = std::max(most, OnDisk(path_).bytes());
    }
  }
  EXPECT_LE(most, kBudget / 100 * 105);
  EXPECT_GT(most, kBudget / 2);
  EXPECT_GT(busy, 0);
  EXPECT_GT(added, 150);
}

// RocksDB does not delete them when the reader ends. With the next compaction, and what is added
// meanwhile, there would be too much.
TEST_F(StoreTest, FilesThatAReaderHeldAreDeletedOrCounted) {
  for (uint64_t i = 1; i <= 40; i++) {
    ASSERT_OK(AddInTime(File(i), 0, 25, 1000));
  }
  std::promise<void> reads;
  std::promise<void> compacted;
  std::atomic<bool> holds{false};
  SyncPoint* const points = SyncPoint::GetInstance();
  points->SetCallBack("DBImpl::GetImpl:PostMemTableGet:0", [&](void*) {
    if (!holds.exchange(true)) {
      reads.set_value();
      compacted.get_future().wait();
    }
  });
  points->EnableProcessing();
  std::thread reader([&] { EXPECT_TRUE(Has(File(1), 0)); });
  reads.get_future().wait();
  for (int i = 0; i < 4; i++) {
    ASSERT_OK(store_->Evict(false));
  }
  compacted.set_value();
  reader.join();
  points->DisableProcessing();
  points->ClearAllCallBacks();
  const uint64_t held = OnDisk(path_).ssts();
  const uint64_t bytes = store_->Bytes();
  EXPECT_LT(bytes, held);
  EXPECT_EQ(bytes, OnDisk(path_).ssts()) << OnDisk(path_).list();
}

// RocksDB counts a file no more when it begins to delete it, and the end of a reader deletes what
// nobody else held. On a busy machine that takes long.
TEST_F(StoreTest, FilesThatAReaderDeletesAreCountedUntilTheyAreGone) {
  for (uint64_t i = 1; i <= 40; i++) {
    ASSERT_OK(AddInTime(File(i), 0, 25, 1000));
  }
  std::promise<void> reads;
  std::promise<void> compacted;
  std::thread reader([&] {
    bool holds = false;
    std::string next;
    const auto hold = [&](const Slice&) {
      if (!holds) {
        reads.set_value();
        compacted.get_future().wait();
      }
      holds = true;
    };
    EXPECT_OK(store_->ForEachRecord(kBudget, hold, &next));
  });
  reads.get_future().wait();
  for (int i = 0; i < 4; i++) {
    ASSERT_OK(store_->Evict(false));
  }
  std::promise<void> deletes;
  std::promise<void> go_on;
  std::atomic<bool> first{true};
  SyncPoint* const points = SyncPoint::GetInstance();
  points->SetCallBack("DBImpl::PurgeObsoleteFiles:Begin", [&](void*) {
    if (first.exchange(false)) {
      deletes.set_value();
      go_on.get_future().wait();
    }
  });
  points->EnableProcessing();
  compacted.set_value();
  deletes.get_future().wait();
  const uint64_t held = OnDisk(path_).ssts();
  std::future<uint64_t> bytes = std::async(std::launch::async, [&] { return store_->Bytes(); });
  bytes.wait_for(std::chrono::milliseconds(300));
  const bool early = bytes.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  EXPECT_EQ(held, OnDisk(path_).ssts());
  go_on.set_value();
  reader.join();
  points->DisableProcessing();
  points->ClearAllCallBacks();
  const uint64_t counted = bytes.get();
  EXPECT_TRUE(!early || counted >= held) << counted << " of " << held;
  EXPECT_LT(OnDisk(path_).ssts(), held);
  EXPECT_EQ(store_->Bytes(), OnDisk(path_).ssts());
}

// Else an eviction of any of its keys would compact all of the store at once.
TEST_F(StoreTest, ARunThatGoesBelowLevel0IsCut) {
  std::map<std::string, std::string> run;  // a record of each SST
  for (uint64_t i = 1; i <= 80; i++) {
    ASSERT_OK(AddInTime(File(i), 0, 28, 1000));
    run[EncodeRecordKey(Way::kPromoted, File(i), UserKey(50))] = UserKey(50);
  }
  EvictAll(false);  // nothing is above the last level now
  std::vector<Store::Record> records;
  for (const auto& [key, value] : run) records.push_back({key, value});
  ASSERT_OK(store_->Add(records));
  ASSERT_EQ(29, Count(File(1), 0, 100));
  store_.reset();
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDbForReadOnly(Options(), path_, &db));
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  int upper = 0;
  for (const LiveFileMetaData& file : files) {
    uint64_t overlap = 0;
    for (const LiveFileMetaData& last : files) {
      const bool meets = last.largestkey >= file.smallestkey && last.smallestkey <= file.largestkey;
      overlap += last.level == 6 && meets ? last.size : 0;
    }
    upper += file.level < 6 ? 1 : 0;
    EXPECT_LE(overlap, (kLargestCompaction + 2) * Store::BatchOf(kBudget));
  }
  EXPECT_GT(upper, 5);
}

TEST_F(StoreTest, WhatCannotEverFitIsRefused) {
  EXPECT_TRUE(Add(File(1), 0, 1, 2 * kBudget).IsBusy());
  ASSERT_OK(AddInTime(File(1), 0, 1));
}

TEST_F(StoreTest, RunsOfACrashAreRemoved) {
  ASSERT_OK(AddInTime(File(1), 0, 10));
  store_.reset();
  ASSERT_OK(WriteStringToFile(Env::Default(), "half a run", path_ + "/run-17"));
  Open();
  EXPECT_TRUE(Env::Default()->FileExists(path_ + "/run-17").IsNotFound());
  EXPECT_EQ(10, Count(File(1), 0, 20));
}

TEST_F(StoreTest, AnotherFormatIsAnEmptyStore) {
  ASSERT_OK(AddInTime(File(1), 0, 10));
  store_.reset();
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(Options(), path_, &db));
  ASSERT_OK(db->Put(WriteOptions(), kFormatKey, "hot_promotion 1"));
  db.reset();
  Open();
  EXPECT_EQ(0, Count(File(1), 0, 20));
  ASSERT_OK(AddInTime(File(1), 0, 10));
  EXPECT_EQ(10, Count(File(1), 0, 20));
}

// Each file of the store in turn is cut, overwritten or removed. The store opens; what it has is
// right.
TEST_F(StoreTest, DamageIsAMissOrAnEmptyStore) {
  const int seed = 301;
  Random random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 60; round++) {
    bool broken = false;
    for (uint64_t i = 1; i <= 5; i++) {
      const Status s = Add(File(i), 0, 50);
      EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
      broken = broken || !s.ok();
    }
    if (broken) {  // it begins empty now
      Open();
      EXPECT_EQ(0, Count(File(1), 0, 50));
      ASSERT_OK(AddInTime(File(1), 0, 50));
    }
    store_.reset();
    std::vector<std::string> names;
    ASSERT_OK(Env::Default()->GetChildren(path_, &names));
    names.erase(std::remove(names.begin(), names.end(), "LOCK"), names.end());
    const std::string name = path_ + "/" + names[random.Uniform(static_cast<int>(names.size()))];
    std::string contents;
    ASSERT_OK(ReadFileToString(Env::Default(), name, &contents));
    const int kind = random.Uniform(3);
    if (kind == 0) {
      ASSERT_OK(Env::Default()->DeleteFile(name));
    } else {
      const int position = contents.empty() ? 0 : random.Uniform(static_cast<int>(contents.size()));
      if (kind == 1) {
        contents.resize(position);
      } else if (!contents.empty()) {
        contents[position] = static_cast<char>(contents[position] ^ 0x40);
      }
      ASSERT_OK(WriteStringToFile(Env::Default(), contents, name));
    }
    Open();
    for (uint64_t i = 1; i <= 5; i++) {
      for (int k = 0; k < 50; k++) {
        PinnableSlice value;
        const Status s = store_->Get(EncodeRecordKey(Way::kPromoted, File(i), UserKey(k)), &value);
        if (s.ok()) {
          EXPECT_EQ(UserKey(k) + std::string(100, static_cast<char>('a' + i % 26)),
                    value.ToString())
              << name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
