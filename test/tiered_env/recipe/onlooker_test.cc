// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Tiers in memory as those see them who have not locked the database: what was lost is told from
// what was deleted.

#include <atomic>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "plugin/tiered_env/files/stub.h"
#include "test/tiered_env/support/volatile.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

namespace fs = std::filesystem;

class OnlookerTest : public VolatileTest {
 protected:
  void Prepare() {
    OpenMemory();
    ASSERT_FALSE(HasFailure());
    Fill(5000);
    Settle();
    Fill(200);
    Close();
  }
  std::vector<std::string> InMemory() const {
    std::vector<std::string> result;
    for (const std::string& base : FilesOf(".sst")) {
      if (TierOf(base) == "memory") {
        result.push_back(base);
      }
    }
    return result;
  }
  static void ExpectTold(const Status& s, const std::string& base) {
    EXPECT_TRUE(s.IsIOError() || s.IsCorruption()) << s.ToString();
    for (const std::string& text : {base, std::string("rocktier tier recover")}) {
      EXPECT_NE(s.ToString().find(text), std::string::npos) << s.ToString();
    }
  }
  // RocksDB 11 opens no more files than max_open_files allows: then whoever reads is told.
  static void ExpectReaderIsTold(const Options& options, Status s, DB* reader,
                                 const std::string& base) {
    const bool looks = ROCKSDB_MAJOR < 11 || options.max_open_files == -1;
    EXPECT_FALSE(looks && s.ok());
    if (s.ok()) {
      std::unique_ptr<Iterator> it(reader->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
      }
      s = it->status();
    } else {
      EXPECT_EQ(reader, nullptr);
    }
    ExpectTold(s, base);
  }
  // Opens it in both ways, with other instances of the FileSystem.
  void ExpectReadersAreTold(const std::string& base) {
    MountMemory();
    for (const int open_files : {-1, 20}) {
      Options options = DbOptions();
      options.max_open_files = open_files;
      std::unique_ptr<DB> reader;
      Status s = OpenDbForReadOnly(options, db_name_, &reader);
      ExpectReaderIsTold(options, s, reader.get(), base);
      reader.reset();
      s = OpenDbAsSecondary(options, db_name_, folder_ + "/secondary", &reader);
      ExpectReaderIsTold(options, s, reader.get(), base);
    }
  }
};

// Power takes stubs, too, or leaves a part of them: they are not synced.
TEST_F(OnlookerTest, WhatHasNoStubIsLostAndNotDeleted) {
  Prepare();
  ASSERT_FALSE(InMemory().empty());
  const std::string base = InMemory().front();
  const std::string path = db_name_ + "/" + base;
  const std::vector<std::pair<std::string, std::function<void()>>> damages = {
      {"gone", [&] { fs::remove(path); }},
      {"empty", [&] { fs::resize_file(path, 0); }},
      {"cut off", [&] { fs::resize_file(path, 60); }},
      {"zeros",
       [&] {
         fs::resize_file(path, 0);
         fs::resize_file(path, Stub::kSize);
       }},
      {"damaged",
       [&] {
         std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
         file.seekp(40);
         file << "damage";
       }},
  };
  fs::copy_file(path, folder_ + "/stub");
  for (const auto& entry : fs::recursive_directory_iterator(TierPath("memory"))) {
    if (entry.path().filename().string().compare(0, base.size(), base) == 0) {
      fs::remove(entry.path());
      break;
    }
  }
  for (const auto& [what, damage] : damages) {
    SCOPED_TRACE(what);
    damage();
    ExpectReadersAreTold(base);
    TieredCheck check;
    ASSERT_OK(CheckTiers(fs_.get(), db_name_, /*repair=*/false, &check));
    EXPECT_TRUE(std::any_of(check.problems.begin(), check.problems.end(), [&](const auto& one) {
      return one.path == path && one.what.find("rocktier tier recover") != std::string::npos;
    }));
    fs::remove(path);
    fs::copy_file(folder_ + "/stub", path);
  }
  fs::remove(path);
  ASSERT_OK(RecoverTiers(fs_.get(), db_name_));
  ASSERT_OK(OpenDbForReadOnly(DbOptions(), db_name_, &db_));
  Verify();
  ASSERT_OK(OpenDbAsSecondary(DbOptions(), db_name_, folder_ + "/secondary", &db_));
  Verify();
}

// Between the end of a stub and anything else.
TEST_F(OnlookerTest, WhatIsBeingDeletedIsDeleted) {
  MountMemory();
  const std::shared_ptr<FileSystem> other = fs_;
  OpenMemory();
  std::atomic<int> deleted{0};
  SyncPoint::GetInstance()->SetCallBack("TieredFileSystem::DeleteFile:StubIsGone", [&](void* arg) {
    const std::string& path = *static_cast<std::string*>(arg);
    if (!EndsWith(path, ".sst")) {
      return;
    }
    deleted++;
    uint64_t size;
    const IOStatus s = other->GetFileSize(path, IOOptions(), &size, nullptr);
    EXPECT_TRUE(s.IsPathNotFound() || s.IsNotFound()) << s.ToString();
  });
  SyncPoint::GetInstance()->EnableProcessing();
  for (int i = 0; i < 5; i++) {
    Fill(3000);
    Settle();
  }
  Close();
  EXPECT_GT(deleted, 10);
}

// Beside a database that is open for writing, whose SSTs come and go and whose recipe log is
// replaced.
TEST_F(OnlookerTest, WhatAWriterDeletesIsNotLost) {
  random_.seed(Seed());
  MountMemory();
  const std::shared_ptr<FileSystem> other = fs_;
  const std::unique_ptr<Env> other_env = NewCompositeEnv(other);
  OpenMemory();
  ASSERT_FALSE(HasFailure());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> missing{0};
  std::thread looker([&] {
    uint64_t last = 1;
    std::mt19937_64 random(1);
    while (!stop) {
      std::vector<std::string> names;
      EXPECT_OK(other->GetChildren(db_name_, IOOptions(), &names, nullptr));
      uint64_t number;
      for (const std::string& name : names) {
        if (ContentOf(name, &number) == Content::kTable) {
          last = std::max(last, number);
        }
      }
      for (uint64_t i = last > 60 ? last - 60 : 1; i <= last; i++) {
        uint64_t size;
        const std::string path = MakeTableFileName(db_name_, i);
        const IOStatus s = other->GetFileSize(path, IOOptions(), &size, nullptr);
        EXPECT_TRUE(s.ok() || s.IsPathNotFound() || s.IsNotFound()) << s.ToString();
        missing += s.ok() ? 0 : 1;
      }
    }
  });
  Options options = DbOptions();
  options.env = other_env.get();
  options.max_open_files = -1;
  std::unique_ptr<DB> secondary;
  for (int i = 0; i < 10 && !HasFailure(); i++) {
    Fill(2000);
    Settle();
    if (secondary == nullptr) {
      EXPECT_OK(OpenDbAsSecondary(options, db_name_, folder_ + "/secondary", &secondary));
    } else {
      EXPECT_OK(secondary->TryCatchUpWithPrimary());
    }
    if (secondary == nullptr) {
      break;
    }
    std::swap(db_, secondary);
    Verify();
    std::swap(db_, secondary);
  }
  stop = true;
  looker.join();
  EXPECT_GT(missing, 0u);
  secondary.reset();
  Close();
}

}  // namespace

}  // namespace rocktier
