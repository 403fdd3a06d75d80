// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// A device that is full, with on_full=fail: NoSpace, nothing lost, and RocksDB goes on when it
// resumes.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "plugin/raw_wal_fs/fs.h"
#include "rocksdb/listener.h"
#include "test/raw_wal_fs/support.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;  // NOLINT(google-build-using-namespace)

namespace {

constexpr uint64_t kSegments = 12;

class RawWalFullTest : public RawWalTest {
 protected:
  void SetUp() override {
    device_size_ = (1 << 20) + kSegments * (64 << 10);
    Renew();
  }

  void Renew() {
    NewFs("on_full=fail;tail_size=64K");
    env_ = NewCompositeEnv(std::make_shared<UnknownFreeSpace>(fs_));
  }

  // Writes until one write fails, which must be for want of room.
  void Fill(bool sync, size_t value_size) {
    WriteOptions options;
    options.sync = sync;
    Status s;
    for (int i = 0; i < 100000 && s.ok(); i++) {
      const std::string key = "key" + std::to_string(number_++ % 3000);
      const std::string value(value_size, static_cast<char>('a' + number_ % 26));
      s = db_->Put(options, key, value);
      if (s.ok()) {
        acknowledged_[key] = value;
        unknown_.erase(key);
      } else {
        unknown_[key] = value;
      }
    }
    ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
  }

  void Check() {
    for (const auto& [key, value] : acknowledged_) {
      const std::string got = Get(key);
      // What failed may be there or not.
      const auto failed = unknown_.find(key);
      ASSERT_TRUE(got == value || (failed != unknown_.end() && got == failed->second)) << key;
    }
  }

  raw_wal_fs::RawWalStats Stats() const {
    raw_wal_fs::RawWalStats stats;
    EXPECT_OK(raw_wal_fs::GetRawWalStats(fs_.get(), &stats));
    return stats;
  }

  // Waits until no log holds a segment. Resume() may return before a background thread of RocksDB
  // has deleted the logs that were flushed: until then a write can fail for want of room again.
  void AwaitRoom() const {
    for (int i = 0; i < 3000 && Stats().segments_used > 0; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_EQ(Stats().segments_used, 0u) << "the logs were flushed";
  }

  int number_ = 0;
  std::map<std::string, std::string> acknowledged_;
  std::map<std::string, std::string> unknown_;
};

TEST_F(RawWalFullTest, ResumeGoesOnWithANewLog) {
  Open();
  for (const bool sync : {true, false}) {
    for (const size_t value_size : {size_t{100}, size_t{5000}, size_t{200000}}) {
      SCOPED_TRACE(std::to_string(value_size) + (sync ? ", sync" : ", no sync"));
      Fill(sync, value_size);
      Check();
      EXPECT_FALSE(db_->Put(WriteOptions(), "more", "v").ok()) << "before it resumes";
      ASSERT_OK(db_->Resume());
      AwaitRoom();
      Put("after", std::to_string(value_size));
      EXPECT_EQ(Get("after"), std::to_string(value_size));
      Check();
    }
  }
  Renew();
  Open();
  Check();
  EXPECT_EQ(Get("after"), "200000");
}

TEST_F(RawWalFullTest, WhatWasAcknowledgedIsThereAfterAReopenInsteadOfAResume) {
  for (const bool sync : {true, false}) {
    for (const size_t value_size : {size_t{100}, size_t{50000}}) {
      Open();
      Fill(sync, value_size);
      Renew();
      Open();
      Check();
    }
  }
}

TEST_F(RawWalFullTest, SeveralColumnFamiliesResume) {
  Options options = DbOptions();
  options.track_and_verify_wals_in_manifest = true;
  options.max_total_wal_size = 1 << 30;
  Open(options);
  ColumnFamilyHandle* other = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options, "other", &other));
  ASSERT_OK(db_->Put(WriteOptions(), other, "in other", "1"));
  for (const bool sync : {true, false}) {
    Fill(sync, 3000);
    ASSERT_OK(db_->Resume());
    AwaitRoom();
    Put("after", "2");
    Check();
  }
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), other, "in other", &value));
  EXPECT_EQ(value, "1");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(other));
}

TEST_F(RawWalFullTest, WithoutRoomItFailsAgainAndGoesOnWhenThereIsSome) {
  Open();
  Options options = DbOptions();
  std::unique_ptr<DB> neighbour;
  ASSERT_OK(OpenDb(options, folder_ + "/neighbour", &neighbour));
  WriteOptions sync;
  sync.sync = true;
  Status s;
  while (s.ok()) {
    s = neighbour->Put(sync, "key", std::string(30000, 'n'));
  }
  ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
  for (int i = 0; i < 3; i++) {
    Fill(/*sync=*/true, 1000);
    ASSERT_OK(db_->Resume());
  }
  Check();
  ASSERT_OK(neighbour->Resume());
  AwaitRoom();
  Put("after", "1");
  Check();
  ASSERT_OK(neighbour->Put(sync, "key", "now"));
}

// Tells when RocksDB has resumed by itself.
class Recovered : public EventListener {
 public:
  void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& info) override {
    good_ += info.new_bg_error.ok();
  }
  bool Wait(int wanted) const {
    for (int i = 0; i < 6000 && good_ < wanted; i++) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return good_ >= wanted;
  }

 private:
  std::atomic<int> good_{0};
};

TEST_F(RawWalFullTest, RocksDbResumesByItself) {
  env_ = NewCompositeEnv(fs_);
  Options options = DbOptions();
  auto recovered = std::make_shared<Recovered>();
  options.listeners.push_back(recovered);
  Open(options);
  for (int i = 1; i <= 2; i++) {
    Fill(/*sync=*/i == 1, 5000);
    ASSERT_TRUE(recovered->Wait(i)) << i;
    AwaitRoom();
    Put("after", "1");
    Check();
  }
  db_.reset();
}

TEST_F(RawWalFullTest, ALogThatIsDeletedWhileItIsFoundIsForgotten) {
  Open();
  Put("a", "1");
  db_.reset();
  const std::string path = NewestLog();
  for (const std::string& name : {path, path + ".trash"}) {
    NewFs("on_full=fail");
    if (name != path) {
      Open();
      Put("a", "1");
      db_.reset();
      NewFs("on_full=fail");
      ASSERT_OK(fs_->RenameFile(NewestLog(), name, IOOptions(), nullptr));
    }
    FileLock* lock = nullptr;  // opens the device for writing
    ASSERT_OK(fs_->LockFile(folder_ + "/LOCK", IOOptions(), &lock, nullptr));
    std::weak_ptr<raw_wal_fs::Log> found;
    SyncPoint::GetInstance()->SetCallBack("RawWalFileSystem::FindLog:Found", [&](void* arg) {
      SyncPoint::GetInstance()->DisableProcessing();
      found = *static_cast<std::shared_ptr<raw_wal_fs::Log>*>(arg);
      EXPECT_OK(fs_->DeleteFile(name, IOOptions(), nullptr));
    });
    SyncPoint::GetInstance()->EnableProcessing();
    std::unique_ptr<FSRandomAccessFile> file;
    IOStatus s = fs_->NewRandomAccessFile(name, FileOptions(), &file, nullptr);
    SyncPoint::GetInstance()->ClearAllCallBacks();
    EXPECT_TRUE(s.IsPathNotFound()) << s.ToString();
    EXPECT_TRUE(found.expired());
    EXPECT_EQ(Stats().segments_used, 0u);
    ASSERT_OK(fs_->UnlockFile(lock, IOOptions(), nullptr));
  }
}

}  // namespace
}  // namespace rocktier
