// Copyright (c) the rocktier authors. Licensed under the Apache License, Version 2.0.
//
// Whatever a power failure leaves of the names at home, what they lead to is there.

#include <filesystem>
#include <functional>
#include <mutex>
#include <set>

#include "test/support/power_fs.h"
#include "test/tiered_env/support/tiered_test.h"
#include "test_util/sync_point.h"

namespace rocktier {

using namespace ROCKSDB_NAMESPACE;              // NOLINT(google-build-using-namespace)
using namespace ROCKSDB_NAMESPACE::tiered_env;  // NOLINT(google-build-using-namespace)

namespace {

class DurableNamesTest : public TieredTest {
 protected:
  DurableNamesTest() {
    power_ = std::make_shared<PowerFs>(folder_ + "/attic");
    target_ = power_;
  }
  ~DurableNamesTest() override {
    SyncPoint::GetInstance()->DisableProcessing();
    SyncPoint::GetInstance()->ClearAllCallBacks();
  }

  static void At(const char* point, const std::function<void(void*)>& callback) {
    SyncPoint::GetInstance()->SetCallBack(point, callback);
    SyncPoint::GetInstance()->EnableProcessing();
  }
  void CloseFs() {
    db_.reset();
    env_.reset();
    fs_.reset();
  }
  // Files in the tiers' folders whose names are not durable.
  std::set<std::string> Pending() const {
    std::set<std::string> result;
    for (const char* tier : {"fast", "slow"}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(TierPath(tier))) {
        if (entry.is_regular_file() && !power_->IsDurable(entry.path())) {
          result.insert(entry.path());
        }
      }
    }
    return result;
  }

  std::shared_ptr<PowerFs> power_;
};

// RocksDB gives a log another name, and then needs it, whatever was synced.
TEST_F(DurableNamesTest, ARecycledLogIsThereBeforeItsStub) {
  NewFs(Tiers(), "wal=fast;0..=slow");
  Options options = DbOptions();
  options.recycle_log_file_num = 2;
  options.write_buffer_size = 64 << 10;
  std::mutex mutex;
  int recycled = 0;
  std::set<std::string> pending;
  At("TieredFileSystem::LinkPlace:AfterStub", [&](void* path) {
    const std::string& name = *static_cast<std::string*>(path);
    std::lock_guard<std::mutex> lock(mutex);
    recycled += name.find(".log.") != std::string::npos ? 1 : 0;
    if (!power_->IsDurable(name)) {
      pending.insert(name);
    }
  });
  Open(options);
  Fill(5000);
  Settle();
  Close();
  EXPECT_GT(recycled, 3);
  EXPECT_EQ(std::set<std::string>(), pending);
}

// A process is killed anywhere while it opens the database, and the machine has not noticed. The
// next one makes names at home durable: those in the tiers must be before.
TEST_F(DurableNamesTest, WhatAKilledProcessHasLeftIsThereBeforeTiers) {
  std::set<std::string> before;
  std::set<std::string> pending;
  int owners = 0;
  bool open = false;
  for (uint64_t changes = 1; !open; changes++) {
    SCOPED_TRACE(changes);
    ASSERT_LT(changes, 500u);
    NewFs(Tiers(), "wal=fast;0..=slow");
    Open();
    ASSERT_FALSE(HasFailure());
    Fill(10);
    CloseFs();
    NewFs(Tiers(), "wal=fast;0..=slow");
    power_->FailAfter(changes);
    open = OpenDb(DbOptions(), db_name_, &db_).ok();
    CloseFs();
    power_->Restart();
    before = Pending();
    for (const std::string& path : before) {
      owners += std::filesystem::path(path).filename() == "OWNER" ? 1 : 0;
    }
    NewFs(Tiers(), "wal=fast;0..=slow");
    At("Folders::Renew:BeforeOwners", [&](void*) { pending = Pending(); });
    Open();
    ASSERT_FALSE(HasFailure());
    SyncPoint::GetInstance()->DisableProcessing();
    EXPECT_EQ(std::set<std::string>(), pending);
    Verify();
    CloseFs();
  }
  EXPECT_GE(owners, 2);  // one in each tier
}

}  // namespace
}  // namespace rocktier
