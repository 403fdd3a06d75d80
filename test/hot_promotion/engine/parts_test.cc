// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// The small parts: the promotion cache, samplers, the presence filter, the catalog, the registry.

#include <future>
#include <thread>

#include "plugin/hot_promotion/engine/cache.h"
#include "plugin/hot_promotion/engine/presence_filter.h"
#include "plugin/hot_promotion/engine/registry.h"
#include "plugin/hot_promotion/engine/sampler.h"
#include "plugin/hot_promotion/engine/sst_catalog.h"
#include "plugin/hot_promotion/store/format.h"
#include "test_util/testharness.h"
#include "util/random.h"

namespace ROCKSDB_NAMESPACE {
namespace hot_promotion {
namespace {

class CacheTest : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 64 << 10;

  using Result = PromotionCache::Result;

  Result TryPut(const std::string& key, const std::string& value) {
    return cache_.Put(key, HashOfKey(key), 1, value);
  }
  bool Put(const std::string& key, const std::string& value) {
    return TryPut(key, value) == Result::kAdded;
  }
  std::string Get(const std::string& key) {
    std::string result = "none";
    cache_.Get(key, HashOfKey(key), [&](const Slice& value) { result = value.ToString(); });
    return result;
  }

  PromotionCache cache_{kBytes};
};

TEST_F(CacheTest, ServesActiveAndFrozenRecords) {
  EXPECT_TRUE(Put("b", "2"));
  EXPECT_TRUE(Put("a", "1"));
  cache_.Freeze();
  EXPECT_EQ(0u, cache_.ActiveBytes());
  EXPECT_TRUE(Put("c", "3"));
  EXPECT_EQ("1", Get("a"));
  EXPECT_EQ("3", Get("c"));
  const auto frozen = cache_.Frozen();
  ASSERT_EQ(2u, frozen.size());
  EXPECT_EQ("a", frozen[0]->key);
  EXPECT_EQ(1u, frozen[0]->hits.load());
  EXPECT_EQ("b", frozen[1]->key);
  EXPECT_EQ(0u, frozen[1]->hits.load());
  cache_.Thaw();
  EXPECT_EQ("none", Get("a"));
  EXPECT_EQ("3", Get("c"));
}

TEST_F(CacheTest, IsBounded) {
  int taken = 0;
  for (int i = 0; i < 1000; i++) {
    taken += Put("key" + std::to_string(i), std::string(1000, 'v')) ? 1 : 0;
  }
  EXPECT_LE(cache_.Bytes(), kBytes / 2);
  EXPECT_GT(taken, 20);
  cache_.Freeze();
  for (int i = 1000; i < 2000; i++) {
    Put("key" + std::to_string(i), std::string(1000, 'v'));
  }
  EXPECT_LE(cache_.Bytes(), kBytes);
  EXPECT_EQ(Result::kRefused, TryPut("large", std::string(kBytes / 8, 'v')));
  cache_.Thaw();
  cache_.Freeze();
  cache_.Thaw();
  EXPECT_EQ(0u, cache_.Bytes());
}

TEST_F(CacheTest, ARecordIsKeptOnce) {
  EXPECT_TRUE(Put("a", "1"));
  const uint64_t bytes = cache_.Bytes();
  EXPECT_EQ(Result::kKnown, TryPut("a", "1"));
  EXPECT_EQ(bytes, cache_.Bytes());
  cache_.Freeze();
  EXPECT_EQ(Result::kKnown, TryPut("a", "1"));
  EXPECT_EQ(bytes, cache_.Bytes());
}

TEST(SamplerTest, TakesAllOrAPart) {
  Sampler sampler;
  const auto taken = [&] {
    int count = 0;
    for (int i = 0; i < 100000; i++) {
      count += sampler.Take() ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(100000, taken());
  sampler.SetRate(1400, 1000);
  EXPECT_EQ(100000, taken());
  sampler.SetRate(20000, 1000);
  EXPECT_EQ(20, sampler.one_in());
  EXPECT_NEAR(5000, taken(), 1000);
  sampler.SetRate(0, 1000);
  EXPECT_EQ(1, sampler.one_in());
}

class PresenceFilterTest : public testing::Test {
 protected:
  PresenceFilterTest() { presence_.SetComplete(true); }

  static std::vector<uint64_t> Hashes(uint64_t count, uint64_t seed) {
    Random64 random(seed);
    std::vector<uint64_t> hashes;
    for (uint64_t i = 0; i < count; i++) {
      hashes.push_back(random.Next());
    }
    return hashes;
  }
  uint64_t Found(const std::vector<uint64_t>& hashes) const {
    uint64_t found = 0;
    for (const uint64_t hash : hashes) {
      found += presence_.MayHave(hash) ? 1 : 0;
    }
    return found;
  }

  PresenceFilter presence_{64 << 10};
};

TEST_F(PresenceFilterTest, CopiesAreFoundAndFewOthers) {
  const auto copies = Hashes(presence_.Capacity(), 1);
  const auto others = Hashes(10000, 2);
  EXPECT_EQ(0u, Found(others));
  for (const uint64_t hash : copies) {
    presence_.Add(hash);
  }
  EXPECT_EQ(copies.size(), Found(copies));
  EXPECT_LT(Found(others), others.size() / 4);
  EXPECT_FALSE(presence_.Crowded());
}

TEST_F(PresenceFilterTest, SaysYesToAllUntilItIsComplete) {
  const auto hashes = Hashes(1000, 6);
  presence_.SetComplete(false);
  EXPECT_EQ(hashes.size(), Found(hashes));
  presence_.SetComplete(true);
  EXPECT_EQ(0u, Found(hashes));
}

TEST_F(PresenceFilterTest, CopiesThatAreDroppedLeaveNothing) {
  const auto copies = Hashes(presence_.Capacity() / 2, 3);
  const auto kept = Hashes(presence_.Capacity() / 8, 4);
  for (const auto& hashes : {copies, kept}) {
    for (const uint64_t hash : hashes) {
      presence_.Add(hash);
    }
  }
  // What was told of twice is dropped twice.
  presence_.Add(kept[0]);
  presence_.Remove(kept[0]);
  for (const uint64_t hash : copies) {
    presence_.Remove(hash);
  }
  EXPECT_EQ(kept.size(), Found(kept));
  EXPECT_LT(Found(copies), copies.size() / 10);
  for (const uint64_t hash : kept) {
    presence_.Remove(hash);
  }
  EXPECT_EQ(0u, Found(copies));
  EXPECT_EQ(0u, Found(kept));
}

TEST_F(PresenceFilterTest, NothingIsMissedWhenThereAreTooMany) {
  const auto copies = Hashes(presence_.Capacity() * 3, 5);
  for (const uint64_t hash : copies) {
    presence_.Add(hash);
  }
  EXPECT_TRUE(presence_.Crowded());
  EXPECT_EQ(copies.size(), Found(copies));
  for (size_t i = copies.size() / 2; i < copies.size(); i++) {
    presence_.Remove(copies[i]);
  }
  EXPECT_EQ(copies.size(), Found(copies));
  presence_.Clear();
  EXPECT_FALSE(presence_.Crowded());
  EXPECT_EQ(0u, Found(copies));
}

TEST_F(PresenceFilterTest, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (uint64_t seed = 10; seed < 14; seed++) {
    threads.emplace_back([this, seed] {
      const auto kept = Hashes(presence_.Capacity() / 16, seed);
      const auto dropped = Hashes(presence_.Capacity() / 16, seed + 100);
      for (int round = 0; round < 10; round++) {
        for (size_t i = 0; i < kept.size(); i++) {
          presence_.Add(kept[i]);
          presence_.Add(dropped[i]);
        }
        EXPECT_EQ(kept.size(), Found(kept));
        for (size_t i = 0; i < kept.size(); i++) {
          presence_.Remove(dropped[i]);
          presence_.Remove(kept[i]);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(0u, Found(Hashes(10000, 20)));
}

class SstCatalogTest : public testing::Test {
 protected:
  SstCatalogTest() : directory_(test::PerThreadDBPath("catalog")) {
    EXPECT_OK(Env::Default()->CreateDirIfMissing(directory_));
  }

  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }
  FileEntry Entry(const std::string& name) const {
    FileEntry entry;
    entry.places = {{file_system_->Name(), PathOf(name)}};
    return entry;
  }
  void Add(const FileId& file, const std::string& name) {
    catalog_.Add(file, 0, PathOf(name), *lease_);
  }
  void Create(const std::string& name) {
    ASSERT_OK(WriteStringToFile(Env::Default(), "x", directory_ + "/" + name));
  }
  void Delete(const std::string& name) {
    ASSERT_OK(Env::Default()->DeleteFile(directory_ + "/" + name));
  }

  const std::string directory_;
  std::shared_ptr<FileSystem> file_system_ = FileSystem::Default();
  SstCatalog catalog_;
  std::shared_ptr<FileSystemLease> lease_ = catalog_.Lease(file_system_);
  DeadSstFinder finder_{&catalog_};
};

TEST_F(SstCatalogTest, FilesThatAreGoneAreDead) {
  Create("a");
  Create("b");
  Add({1, 1}, "a");
  Add({2, 2}, "b");
  EXPECT_TRUE(finder_.Take(/*all=*/true).empty());
  Delete("a");
  EXPECT_EQ(std::vector<FileId>({{1, 1}}), finder_.Take(/*all=*/true));
  EXPECT_TRUE(finder_.Take(/*all=*/true).empty());
  FileEntry entry;
  EXPECT_FALSE(catalog_.Find({1, 1}, &entry));
  EXPECT_TRUE(catalog_.Find({2, 2}, &entry));
  EXPECT_EQ(Entry("b").places, entry.places);
  Delete("b");
}

TEST_F(SstCatalogTest, OnlyObsoleteFilesAreLookedFor) {
  for (const char* name : {"a", "b", "c"}) {
    Create(name);
    Add({static_cast<uint64_t>(name[0]), 0}, name);
  }
  Delete("a");
  Delete("b");
  EXPECT_TRUE(finder_.Take(/*all=*/false).empty());
  catalog_.NoteObsolete({'b', 0});
  catalog_.NoteObsolete({'c', 0});
  catalog_.NoteObsolete({'d', 0});  // is not known
  EXPECT_EQ(std::vector<FileId>({{'b', 0}}), finder_.Take(/*all=*/false));
  Delete("c");
  EXPECT_EQ(std::vector<FileId>({{'c', 0}}), finder_.Take(/*all=*/false));
  EXPECT_EQ(std::vector<FileId>({{'a', 0}}), finder_.Take(/*all=*/true));
}

TEST_F(SstCatalogTest, FilesOfAnUnknownFileSystemStay) {
  lease_.reset();
  FileEntry entry = Entry("gone");
  catalog_.AddStored({1, 1}, entry);
  EXPECT_TRUE(finder_.Take(/*all=*/true).empty());
  entry.places[0].file_system = "another";
  catalog_.AddStored({2, 2}, entry);
  Create("c");
  lease_ = catalog_.Lease(file_system_);  // now the FileSystem is known
  Add({3, 3}, "c");
  EXPECT_EQ(std::vector<FileId>({{1, 1}}), finder_.Take(/*all=*/true));
  EXPECT_EQ(2u, catalog_.Count());
  Delete("c");
}

TEST_F(SstCatalogTest, AFileThatIsOpenedElsewhereIsThere) {
  Create("d");
  catalog_.AddStored({1, 1}, Entry("moved"));
  Add({1, 1}, "d");
  EXPECT_TRUE(finder_.Take(/*all=*/true).empty());
  Delete("d");
}

// A FileSystem whose FileExists() waits, and counts.
class WaitingFileSystem : public FileSystemWrapper {
 public:
  WaitingFileSystem() : FileSystemWrapper(FileSystem::Default()) {}
  const char* Name() const override { return "WaitingFileSystem"; }
  IOStatus FileExists(const std::string& path, const IOOptions& options,
                      IODebugContext* dbg) override {
    asked++;
    while (waits) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const IOStatus s = FileSystemWrapper::FileExists(path, options, dbg);
    answered++;
    return s;
  }
  std::atomic<bool> waits{false};
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
};

// The application may destroy what is below the FileSystem once the database is closed.
TEST_F(SstCatalogTest, AFileSystemIsNotAskedWithoutTables) {
  const auto waiting = std::make_shared<WaitingFileSystem>();
  auto lease = catalog_.Lease(waiting);
  EXPECT_EQ(lease, catalog_.Lease(waiting));
  catalog_.Add({1, 1}, 0, PathOf("e"), *lease);
  lease.reset();
  EXPECT_TRUE(finder_.Take(/*all=*/true).empty());
  EXPECT_EQ(0, waiting->asked);
  EXPECT_EQ(1, waiting.use_count());
  FileEntry entry;
  EXPECT_TRUE(catalog_.Find({1, 1}, &entry));

  lease = catalog_.Lease(waiting);  // the database is opened anew, without this SST
  EXPECT_EQ(std::vector<FileId>({{1, 1}}), finder_.Take(/*all=*/true));
  EXPECT_EQ(1, waiting->asked);
}

TEST_F(SstCatalogTest, TheLastTableWaitsForACall) {
  const auto waiting = std::make_shared<WaitingFileSystem>();
  auto lease = catalog_.Lease(waiting);
  catalog_.Add({1, 1}, 0, PathOf("e"), *lease);
  waiting->waits = true;
  std::thread background([&] { finder_.Take(/*all=*/true); });
  while (waiting->asked == 0) {
    std::this_thread::yield();
  }
  std::thread application([&] {
    lease.reset();
    EXPECT_EQ(1, waiting->answered);
    EXPECT_EQ(1, waiting.use_count());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  waiting->waits = false;
  application.join();
  background.join();
}

TEST(RegistryTest, OneObjectAtATime) {
  struct Object {
    explicit Object(std::atomic<int>* c) : count(c) { EXPECT_EQ(1, ++*count); }
    ~Object() { --*count; }
    std::atomic<int>* const count;
  };
  Registry<Object> registry;
  std::atomic<int> count{0};
  EXPECT_EQ(nullptr, registry.Find("a"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; i++) {
        const std::shared_ptr<Object> object =
            registry.Get("a", [&] { return std::make_unique<Object>(&count); });
        EXPECT_EQ(1, count.load());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(0, count.load());
}

// As a directory on a disk that does not answer.
TEST(RegistryTest, OneThatIsBeingMadeHoldsUpNobodyElse) {
  Registry<int> registry;
  const std::shared_ptr<int> b = registry.Get("b", [] { return std::make_unique<int>(2); });
  std::promise<void> begun;
  std::promise<void> answer;
  const auto make = [&] {
    begun.set_value();
    answer.get_future().wait();
    return std::make_unique<int>(1);
  };
  std::shared_ptr<int> first;
  std::thread maker([&] { first = registry.Get("a", make); });
  begun.get_future().wait();
  std::shared_ptr<int> second;  // make() would throw the second time
  std::thread waiter([&] { second = registry.Get("a", make); });
  const std::future<void> others = std::async(std::launch::async, [&] {
    EXPECT_EQ(b, registry.Find("b"));
    EXPECT_EQ(nullptr, registry.Find("a"));
    EXPECT_EQ(1u, registry.All().size());
    EXPECT_EQ(3, *registry.Get("c", [] { return std::make_unique<int>(3); }));
  });
  EXPECT_EQ(std::future_status::ready, others.wait_for(std::chrono::seconds(60)));
  answer.set_value();
  maker.join();
  waiter.join();
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, registry.Find("a"));
}

}  // namespace
}  // namespace hot_promotion
}  // namespace ROCKSDB_NAMESPACE
